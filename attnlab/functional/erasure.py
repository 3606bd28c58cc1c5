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


def descending_order(scores: Tensor, mask: Tensor, tie_break: Tensor) -> Tensor:
    """Positions by falling score, content before all else.

    Args:
        scores: (B, T).
        mask: Content positions, (B, T).
        tie_break: Random numbers, (B, T); equal scores come in their order.

    Returns:
        (B, T) positions.
    """
    shuffled = tie_break.argsort(-1)
    ranked = scores.masked_fill(~mask, -torch.inf).gather(-1, shuffled).argsort(dim=-1, descending=True, stable=True)
    return shuffled.gather(-1, ranked)


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
    kept = _suffix_sums(weights.unsqueeze(-1) * ordered)
    mass = _suffix_sums(weights.unsqueeze(-1))
    if replacement == "renormalise":
        return torch.where(mass > 0, kept / mass.clamp_min(1e-300), 0)
    if replacement == "zero":
        return kept
    content = mask.unsqueeze(-1)
    mean = (values.double() * content).sum(1) / content.sum(1)
    return kept + (mass[:, :, :1] - mass) * mean[:, None, None]


def _suffix_sums(x: Tensor) -> Tensor:
    """Sums over axis 2 of what remains after k entries, for k from 0 to T: (B, R, T + 1, D)."""
    sums = x.flip(2).cumsum(2).flip(2)
    return torch.cat([sums, torch.zeros_like(sums[:, :, :1])], 2)


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
    B, T, _ = logits.shape
    own = logits.gather(-1, original[:, None, None].expand(B, T, 1))
    terms = attention.double().unsqueeze(-1) * (own - logits)
    terms = terms.masked_fill(~mask.unsqueeze(-1), -torch.inf).transpose(1, 2)  # (B, C, T)
    ordered, order = terms.sort(-1, descending=True)
    kept = ordered.masked_fill(ordered == -torch.inf, 0).flip(-1).cumsum(-1).flip(-1)
    k = torch.arange(T, device=logits.device)
    beaten = (kept < 0) & (k < mask.sum(-1)[:, None, None])
    needed = torch.where(beaten.any(-1), beaten.int().argmax(-1), T + 1)
    needed = needed.scatter(-1, original.unsqueeze(-1), T + 2)
    best = needed.argmin(-1)
    return order.gather(1, best[:, None, None].expand(B, 1, T)).squeeze(1)
