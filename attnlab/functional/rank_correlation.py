"""Kendall's tau-b with p-values, for whole batches of padded rows at once."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

EXACT_UP_TO = 33
"""Rows up to this length without ties get the exact null distribution, as ``scipy.stats.kendalltau`` does."""

ROUNDING = 8
"""Scores of a row that lie within so many units in the last place count as equal.

Where the encoder is local, a word that occurs twice has one importance; its two floats depend on where the word stands
in the tensor, and would break the tie by the size of the batch or the make of the processor.
"""

PAIR_BUDGET = 2**24
"""Pairs of positions compared at once; long rows are done in smaller groups to bound memory."""


def kendall_tau(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Kendall's tau-b of each row and its two-sided p-value.

    Args:
        x: Scores, (B, T).
        y: Scores, (B, T).
        mask: Positions that count, (B, T).

    Returns:
        tau in [-1, 1] and p in [0, 1], both (B,) float64. NaN where tau is undefined: fewer than two positions,
        or all scores of a row equal. Floats that differ by rounding only (:data:`ROUNDING`) are equal.

    References:
        Kendall (1945), tau-b; p-values as in ``scipy.stats.kendalltau``: exact without ties up to 33 positions,
        otherwise normal with the tie-corrected variance. With n content tokens the smallest possible p is 2/n!,
        so that rows of fewer than five tokens are never significant at .05.
    """
    rows = max(1, PAIR_BUDGET // max(1, x.shape[1] ** 2))
    parts = [_kendall_tau(x[i : i + rows], y[i : i + rows], mask[i : i + rows]) for i in range(0, len(x), rows)]
    if not parts:
        empty = torch.empty(0, dtype=torch.float64, device=x.device)
        return empty, empty
    return torch.cat([tau for tau, _ in parts]), torch.cat([p for _, p in parts])


def _kendall_tau(x: Tensor, y: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    x, y = _ranks(x, mask), _ranks(y, mask)
    pairs = torch.triu(mask.unsqueeze(2) & mask.unsqueeze(1), diagonal=1)
    sign_x = _pair_signs(x) * pairs
    sign_y = _pair_signs(y) * pairs
    n = mask.sum(-1).double()
    total = n * (n - 1) / 2
    untied_x = sign_x.abs().sum((1, 2)).double()
    untied_y = sign_y.abs().sum((1, 2)).double()
    agreement = (sign_x * sign_y).sum((1, 2)).double()
    tau = agreement / (untied_x * untied_y).sqrt()
    p = _normal_p(agreement, n, _tie_moments(x, mask), _tie_moments(y, mask))
    exact = (untied_x == total) & (untied_y == total) & (n >= 2) & (n <= EXACT_UP_TO)
    p = torch.where(exact, _exact_p(agreement, n), p)
    return tau.clamp(-1, 1), torch.where(tau.isnan(), tau, p)


def _ranks(scores: Tensor, mask: Tensor) -> Tensor:
    """Dense ranks of each row, (B, T); positions that do not count share the highest."""
    if not scores.is_floating_point():
        scores = scores.double()
    highest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    ordered, order = torch.where(mask, scores, highest).sort(-1)
    size = torch.maximum(ordered[:, 1:].abs(), ordered[:, :-1].abs())
    steps = ordered.diff(dim=-1) > ROUNDING * torch.finfo(scores.dtype).eps * size
    # int32: int8 sums would be exact too, but products of int8 are summed in int64 more slowly on CPU.
    ranks = torch.nn.functional.pad(steps.cumsum(-1, dtype=torch.int32), (1, 0))
    return torch.empty_like(ranks).scatter_(-1, order, ranks)


def _pair_signs(ranks: Tensor) -> Tensor:
    return torch.sign(ranks.unsqueeze(2) - ranks.unsqueeze(1))


def _tie_moments(ranks: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sums over the groups of equal ranks of t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5), each (B,).

    Each member of a group of t sees the same t, so a sum over groups of f(t) is a sum over members of f(t)/t.
    """
    same = (ranks.unsqueeze(2) == ranks.unsqueeze(1)) & mask.unsqueeze(2) & mask.unsqueeze(1)
    t = same.sum(-1).double()
    first = (t - 1).clamp_min(0) * mask
    return (first / 2).sum(-1), (first * (t - 2)).sum(-1), (first * (2 * t + 5)).sum(-1)


def _normal_p(
    agreement: Tensor, n: Tensor, x: tuple[Tensor, Tensor, Tensor], y: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    pairs = n * (n - 1)
    variance = (pairs * (2 * n + 5) - x[2] - y[2]) / 18 + 2 * x[0] * y[0] / pairs + x[1] * y[1] / (9 * pairs * (n - 2))
    # Two positions make the last term 0/0; scipy meets the same case with its exact method only.
    variance = torch.where(n > 2, variance, (pairs * (2 * n + 5) - x[2] - y[2]) / 18)
    p: Tensor = torch.special.erfc((agreement.abs() / variance.sqrt()) / 2**0.5)
    return p


def _exact_p(agreement: Tensor, n: Tensor) -> Tensor:
    tails = torch.from_numpy(_kendall_tails()).to(agreement.device)
    size = n.long().clamp(0, EXACT_UP_TO)
    pairs = size * (size - 1) // 2
    fewest = ((pairs - agreement.abs().long()) // 2).clamp(0, tails.shape[1] - 1)
    p: Tensor = (2 * tails[size, fewest]).clamp_max(1)
    return p


@lru_cache(maxsize=1)
def _kendall_tails() -> np.ndarray:
    """P(discordant pairs <= d) under independence, (n, d), from the Mahonian recurrence."""
    width = EXACT_UP_TO * (EXACT_UP_TO - 1) // 2 + 1
    tails = np.ones((EXACT_UP_TO + 1, width))
    density = np.zeros(width)
    density[0] = 1.0
    for n in range(2, EXACT_UP_TO + 1):
        cumulative = np.cumsum(density)
        density = cumulative.copy()
        density[n:] -= cumulative[:-n]
        density /= n
        tails[n] = np.cumsum(density)
    return tails
