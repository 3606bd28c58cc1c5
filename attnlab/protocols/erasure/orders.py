"""The orders in which positions are erased, the same whatever erasing means (Serrano & Smith 2019, section 5.1)."""

import numpy as np
import torch
from torch import Tensor

from attnlab.functional.erasure import descending_order
from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.protocol import Observation

RANKINGS = ("attention", "gradient", "product")
"""Orders by a score, of which there is one per instance; random orders have several draws."""


def removal_orders(observation: Observation, seed: int, draws: int) -> Tensor:
    """By falling attention, gradient and their product, then random; equal scores in an order that the seed draws.

    Args:
        observation: B instances of T positions.
        seed: Seeds random orders and ties, instance by instance.
        draws: Random orders per instance.

    Returns:
        (B, 3 + draws, T) positions, content before all else.
    """
    mask, attention = observation.batch.mask, observation.attention
    noise = _noise(observation, seed, draws)
    gradient = attention_gradient(observation)
    ranked = [descending_order(score, mask, noise[:, 0]) for score in (attention, gradient, attention * gradient)]
    ranked += [descending_order(noise[:, 1 + draw], mask, noise[:, 0]) for draw in range(draws)]
    return torch.stack(ranked, 1)


def attention_gradient(observation: Observation) -> Tensor:
    """∂p/∂α_t of the predicted class's probability, the weights taken as free inputs, (B, T)."""
    with torch.enable_grad():
        weights = observation.attention.detach().clone().requires_grad_(True)
        p = class_probabilities(observation.model.decode(observation.encoded, weights))
        chosen = p.gather(-1, observation.prediction.unsqueeze(-1)).sum()
        (gradient,) = torch.autograd.grad(chosen, weights)
    return gradient


def _noise(observation: Observation, seed: int, draws: int) -> Tensor:
    """(B, 1 + draws, T) random numbers: the first breaks ties, the others are orders."""
    mask = observation.batch.mask.cpu().numpy()
    noise = np.zeros((len(mask), 1 + draws, mask.shape[1]))
    for row, content, identity in zip(noise, mask, observation.batch.index.tolist(), strict=True):
        places = np.flatnonzero(content)
        row[:, places] = np.random.default_rng((seed, identity)).random((1 + draws, len(places)))
    return torch.from_numpy(noise).to(observation.attention.device)
