"""Distances between distributions: total variation, Kullback–Leibler, Jensen–Shannon."""

import torch
from torch import Tensor


def total_variation_distance(p: Tensor, q: Tensor) -> Tensor:
    """Half the L1 distance of two distributions over the last axis.

    Args:
        p: Distributions, (..., C), each summing to 1.
        q: Distributions, broadcastable with ``p``.

    Returns:
        Distances in [0, 1], (...).

    Note:
        For two classes this is the absolute difference of the probability of either class, which is what
        Jain & Wallace (2019, section 3) report; Wiegreffe & Pinter's code reports half of it.

    Example:
        >>> total_variation_distance(torch.tensor([.9, .1]), torch.tensor([.6, .4]))
        tensor(0.3000)
    """
    return (p - q).abs().sum(-1) / 2


def kl_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Kullback–Leibler divergence of ``p`` from ``q`` in nats, over the last axis.

    Positions where ``p`` is zero contribute nothing, in value and in gradient, whatever ``q`` is.

    Args:
        p: Distributions, (..., T).
        q: Distributions, broadcastable with ``p``, positive wherever ``p`` is.

    Returns:
        Divergences in [0, inf], (...).
    """
    positive = p > 0
    safe_p = torch.where(positive, p, 1)
    safe_q = torch.where(positive, q, 1)
    return torch.where(positive, p * (safe_p.log() - safe_q.log()), 0).sum(-1)


def jensen_shannon_divergence(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence in nats, over the last axis.

    Args:
        p: Distributions, (..., T).
        q: Distributions, broadcastable with ``p``.

    Returns:
        Divergences in [0, ln 2], (...). Symmetric; exact at zeros (no smoothing constant).

    References:
        Lin (1991); Jain & Wallace (2019), section 3, equation for JSD.

    Example:
        >>> jensen_shannon_divergence(torch.tensor([1., 0.]), torch.tensor([0., 1.]))
        tensor(0.6931)
    """
    mixture = (p + q) / 2
    return ((kl_divergence(p, mixture) + kl_divergence(q, mixture)) / 2).clamp_min(0)
