"""The orders in which positions are erased, the same whatever erasing means (Serrano & Smith 2019, section 5.1)."""

import numpy as np
import torch
from torch import Tensor

from attnlab.functional.erasure import descending_order
from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.protocol import Observation
from attnlab.report.spec import Statistic

RANKINGS = ("attention", "gradient", "product")
"""Orders by a score, of which there is one per instance; random orders have several draws."""

TIED = Statistic("tied", "tied", description="share whose highest weight is a tie, broken by the seed")


def removal_orders(observation: Observation, seed: int, draws: int) -> Tensor:
    """By falling attention, gradient and their product, then random; equal scores in an order that the seed draws.

    Args:
        observation: B instances of T positions.
        seed: Seeds random orders and ties, instance by instance.
        draws: Random orders per instance.

    Returns:
        (B, 3 + draws, T) positions, content before all else.
    """
    mask, attention = observation.mask, observation.attention
    random = _random_orders(observation, seed, 1 + draws)
    gradient = attention_gradient(observation)
    scores = torch.stack([attention, gradient, attention * gradient], 1)
    return torch.cat([descending_order(scores, mask, random[:, 0]), random[:, 1:]], 1)


def attention_gradient(observation: Observation) -> Tensor:
    """∂p/∂α_t of the predicted class's probability, the weights taken as free inputs, (B, T)."""
    with torch.enable_grad():
        weights = observation.attention.detach().clone().requires_grad_(True)
        p = class_probabilities(observation.model.decode(observation.encoded, weights))
        chosen = p.gather(-1, observation.prediction.unsqueeze(-1)).sum()
        (gradient,) = torch.autograd.grad(chosen, weights)
    return gradient


def sharing_highest(attention: Tensor, mask: Tensor) -> Tensor:
    """Content positions whose weight is the highest, (B, T) bool: several where it is a tie."""
    return mask & (attention == attention.masked_fill(~mask, -1).amax(-1, keepdim=True))


def _random_orders(observation: Observation, seed: int, draws: int) -> Tensor:
    """(B, draws, T) positions, content before all else."""
    mask = observation.mask.cpu().numpy()
    noise = np.full((len(mask), draws, mask.shape[1]), 2.0)
    for row, content, identity in zip(noise, mask, observation.batch.index.tolist(), strict=True):
        row[:, content] = np.random.default_rng((seed, identity)).random((draws, int(content.sum())))
    return torch.from_numpy(noise.argsort(-1)).to(observation.attention.device)
