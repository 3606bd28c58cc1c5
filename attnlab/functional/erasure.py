"""Erasing attention weights: every prefix of every order in one pass, and the smallest set that flips a decision.

Serrano & Smith (2019), sections 3 and 4. All of it works on folded values, whose weighted sum is what the readout
finishes, so that the encoder never runs again.
"""

from typing import Literal

import torch
from torch import Tensor

Replacement = Literal["renormalise", "zero", "mean"]
"""What an erased weight leaves: the rest sum to 1 again, nothing, or the mean representation in its place."""

NEVER = -1
"""Count of an order that flips the decision at no length."""


def descending_order(scores: Tensor, mask: Tensor, ties: Tensor) -> Tensor:
    """Positions by falling score, content before all else.

    Args:
        scores: Any number of scores, (B, *K, T).
        mask: Content positions, (B, T).
        ties: All positions in some order, (B, T), in which equal scores come.

    Returns:
        (B, *K, T) positions.
    """
    among = (len(scores), *[1] * (scores.dim() - 2), scores.shape[-1])
    shuffled = ties.view(among).expand_as(scores)
    ranked = scores.masked_fill(~mask.view(among), -torch.inf).gather(-1, shuffled)
    return shuffled.gather(-1, ranked.argsort(dim=-1, descending=True, stable=True))


def erased_contexts(
    values: Tensor, attention: Tensor, mask: Tensor, order: Tensor, replacement: Replacement = "renormalise"
) -> Tensor:
    """Weighted sums of values after erasing the first k positions of each order, for every k at once.

    Sums run over what is kept, from the end, so that no two large numbers are subtracted.

    Args:
        values: (B, T, D).
        attention: (B, T), zero outside the mask.
        mask: Content positions, (B, T).
        order: (B, R, T) positions; R orders.
        replacement: What an erased weight leaves.

    Returns:
        (B, R, T + 1, D) float64; entry k has k positions erased. With all weight erased the sum is zero, and the
        readout's bias alone decides.
    """
    B, R, T = order.shape
    weights = attention.double().unsqueeze(1).expand(B, R, T).gather(-1, order)
    ordered = values.double().unsqueeze(1).expand(B, R, T, -1)
    ordered = ordered.gather(2, order.unsqueeze(-1).expand(-1, -1, -1, values.shape[-1]))
    kept = _suffix_sums(ordered.mul_(weights.unsqueeze(-1)))
    mass = _suffix_sums(weights.unsqueeze(-1))
    if replacement == "renormalise":
        # Where no mass is left, nothing is kept: zero over the smallest number.
        return kept.div_(mass.clamp_min_(1e-300))
    if replacement == "zero":
        return kept
    content = mask.unsqueeze(-1)
    mean = (values.double() * content).sum(1) / content.sum(1)
    return kept + (mass[:, :, :1] - mass) * mean[:, None, None]


def _suffix_sums(x: Tensor) -> Tensor:
    """Sums over axis 2 of what remains after k entries, for k from 0 to T: (B, R, T + 1, D)."""
    sums = x.new_zeros(*x.shape[:2], x.shape[2] + 1, x.shape[3])
    sums[:, :, :-1] = x.flip(2).cumsum_(2).flip(2)
    return sums


def removals_to_flip(classes: Tensor, original: Tensor, length: Tensor) -> Tensor:
    """How many positions an order erases until the decision first changes.

    Args:
        classes: Predicted class after k erasures, (B, R, T + 1).
        original: Predicted class, (B,).
        length: Content positions, (B,).

    Returns:
        (B, R) int64: from 1 to the length (all erased: the bias alone decides), or :data:`NEVER`.
    """
    k = torch.arange(classes.shape[-1], device=classes.device)
    flipped = (classes != original[:, None, None]) & (k <= length[:, None, None]) & (k > 0)
    return torch.where(flipped.any(-1), flipped.int().argmax(-1), NEVER)


def optimal_order(token_logits: Tensor, attention: Tensor, mask: Tensor, original: Tensor) -> Tensor:
    """The order whose prefix flips the decision with the fewest positions, exactly, for a linear readout.

    After renormalisation class j beats the predicted class k on the kept set S where Σ_{i∈S} α_i (l_ik − l_ij) < 0,
    with l the logits of a token that has all attention. Each j is reached fastest by erasing the largest terms first;
    the smallest set is that of the j that needs the fewest.

    Args:
        token_logits: Logits with all attention on each token, bias included, (B, T, C).
        attention: (B, T).
        mask: Content positions, (B, T).
        original: Predicted class, (B,).

    Returns:
        (B, T) positions; the smallest flipping set is a prefix of them, unless only erasing all of them flips.
    """
    logits = token_logits.double()
    if logits.shape[-1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], -1)
    B, T, C = logits.shape
    others = (torch.arange(C, device=logits.device) != original.unsqueeze(1)).nonzero()[:, 1].view(B, 1, C - 1)
    margins = logits.gather(-1, original[:, None, None].expand(B, T, 1)) - logits.gather(-1, others.expand(B, T, C - 1))
    terms = attention.double().unsqueeze(-1) * margins
    terms = terms.masked_fill(~mask.unsqueeze(-1), -torch.inf).transpose(1, 2)  # (B, C - 1, T)
    ordered, order = terms.sort(-1, descending=True)
    kept = ordered.masked_fill(ordered == -torch.inf, 0).flip(-1).cumsum(-1).flip(-1)
    k = torch.arange(T, device=logits.device)
    beaten = (kept < 0) & (k < mask.sum(-1)[:, None, None])
    needed = torch.where(beaten.any(-1), beaten.int().argmax(-1), T + 1)
    best = needed.argmin(-1)
    return order.gather(1, best[:, None, None].expand(B, 1, T)).squeeze(1)
