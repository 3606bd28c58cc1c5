"""Comprehensiveness and sufficiency over several shares of a text (DeYoung et al. 2020, section 4 and its code)."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of a text that ERASER takes as rationales, the highest scores first."""

Area = Literal["code", "paper"]
"""The mean over the bins, as the public code has it, or with an empty bin beside them, as equation 3 has it."""


def bin_counts(length: Tensor, bins: Sequence[float] = BINS) -> Tensor:
    """Positions that each share of a text comes to, rounded up, so that none is empty.

    Args:
        length: Content positions, (B,).
        bins: Q shares in (0, 1].

    Returns:
        (B, Q) int64.
    """
    shares = torch.tensor(bins, dtype=torch.float64, device=length.device)
    # 0.07 · 100 is more than 7 in floating point.
    return (length.double().unsqueeze(1) * shares - 1e-9).ceil().long().clamp_min(1)


def area_over_curve(changes: Tensor, area: Area = "code") -> Tensor:
    """Area over the perturbation curve: changes of a class's probability, averaged over the bins.

    Args:
        changes: p(text) − p(edited text) for each bin, (..., Q).
        area: ``paper`` counts the empty bin, where nothing changes, so that it is Q / (Q + 1) of ``code``.

    Returns:
        (...).

    Example:
        >>> area_over_curve(torch.tensor([.1, .2, .3, .4, .5])), area_over_curve(torch.tensor([.3] * 5), "paper")
        (tensor(0.3000), tensor(0.2500))
    """
    total = changes.sum(-1)
    return total / (changes.shape[-1] + (area == "paper"))
