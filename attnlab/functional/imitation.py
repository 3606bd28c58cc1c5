"""A model that predicts as another while it attends differently (Wiegreffe & Pinter 2019, section 4)."""

import torch
from torch import Tensor

from attnlab.functional.definition import Definition
from attnlab.functional.divergence import kl_divergence, total_variation_distance


def imitation_loss(
    probabilities: Tensor,
    attention: Tensor,
    base_probabilities: Tensor,
    base_attention: Tensor,
    strength: float,
    total_variation: Definition = "paper",
) -> Tensor:
    """TVD(ŷ_a, ŷ_b) − λ·KL(α_a‖α_b) of each instance (section 4.1, L(M_a, M_b)).

    The base model's weights that underflowed to zero count as the smallest positive number, so that loss and gradient
    are finite (the published code gives NaN there).

    Args:
        probabilities: ŷ_a (B, C).
        attention: α_a (B, T).
        base_probabilities: ŷ_b (B, C).
        base_attention: α_b (B, T).
        strength: λ.
        total_variation: ``paper`` is half the L1 distance of the distributions; the code of two classes has half of
            that, so that a published λ is twice as strong as it would be here.

    Returns:
        (B,).
    """
    distance = total_variation_distance(probabilities, base_probabilities)
    if total_variation == "published_code":
        distance = distance / 2
    floor = torch.finfo(base_attention.dtype).tiny
    return distance - strength * kl_divergence(attention, base_attention.clamp_min(floor))
