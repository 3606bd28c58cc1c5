"""How far attention can move a linear readout at all.

With a linear readout the logits under any attention are a convex combination of the per-token logits: the reachable
set is their convex hull, and its extremes are known without a search.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.functional.prediction import class_probabilities


@dataclass
class Leverage:
    """What attention can do to one prediction; B instances.

    Attributes:
        lowest: Smallest probability of the target class over all attentions, (B,).
        highest: Largest probability of the target class over all attentions, (B,).
        flippable: Whether some attention makes another class the most probable, (B,) bool.
        gap: Upper bound on how far ``highest`` may lie below the truth, (B,); zero for two classes.
    """

    lowest: Tensor
    highest: Tensor
    flippable: Tensor
    gap: Tensor


def attention_leverage(token_logits: Tensor, mask: Tensor, target: Tensor, predicted: Tensor) -> Leverage:
    """Range of a class probability over all attentions on the content positions.

    1/p_k = Σ_j exp(l_j − l_k) is convex in the attention, so p_k has its minimum at a single token. Its maximum is at a
    single token too when there are two classes, and otherwise the solution of a convex problem, which is solved to
    a reported gap. Whether class j can beat class k is linear, so one token decides it.

    Args:
        token_logits: Logits with all attention on one token, bias included, (B, T, C).
        mask: Content positions, (B, T), at least one per row.
        target: Class whose probability is followed, (B,).
        predicted: Class that the model predicts, (B,).

    Returns:
        Extremes per instance, float64.
    """
    logits = token_logits.double()
    if logits.shape[-1] == 1:
        # Two logits with the same odds, so that what follows has a single case.
        logits = torch.cat([torch.zeros_like(logits), logits], -1)
    at_tokens = class_probabilities(logits).gather(-1, target[:, None, None].expand(-1, logits.shape[1], 1)).squeeze(-1)
    lowest = at_tokens.masked_fill(~mask, 2).amin(-1)
    highest = at_tokens.masked_fill(~mask, -1).amax(-1)
    gap = torch.zeros_like(highest)
    if logits.shape[-1] > 2:
        highest, gap = _highest_probability(logits, mask, target, highest)
    own = logits.gather(-1, predicted[:, None, None].expand(-1, logits.shape[1], 1))
    beaten = ((logits > own).any(-1) & mask).any(-1)
    return Leverage(lowest, highest, beaten, gap)


def _highest_probability(
    logits: Tensor, mask: Tensor, target: Tensor, at_tokens: Tensor, steps: int = 1000
) -> tuple[Tensor, Tensor]:
    """Largest p_k over the simplex by exponentiated gradient, with the duality gap of the best point.

    Minimises the convex f(α) = ln Σ_j exp(Σ_t α_t (l_tj − l_tk)) = −ln p_k. The step doubles while the value falls and
    is halved when it rises, instance by instance.
    """
    margins = logits - logits.gather(-1, target[:, None, None].expand(-1, logits.shape[1], 1))
    log_weights = torch.zeros_like(mask, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    rate = torch.ones_like(at_tokens)
    value, slope, bound = _descent(log_weights, margins, mask)
    for _ in range(steps):
        trial = torch.log_softmax(log_weights - rate.unsqueeze(1) * slope, -1)
        trial_value, trial_slope, trial_bound = _descent(trial, margins, mask)
        better = trial_value <= value
        log_weights = torch.where(better.unsqueeze(1), trial, log_weights)
        slope = torch.where(better.unsqueeze(1), trial_slope, slope)
        value = torch.where(better, trial_value, value)
        bound = torch.maximum(bound, trial_bound)
        rate = torch.where(better, rate * 1.5, rate / 2)
    highest = torch.maximum((-value).exp(), at_tokens)
    return highest, ((-bound).exp().clamp_max(1) - highest).clamp_min(0)


def _descent(log_weights: Tensor, margins: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Value and gradient of f, and the lower bound on its minimum that its linearisation gives."""
    weights = torch.softmax(log_weights, -1)
    context = torch.einsum("bt,btc->bc", weights, margins)
    value = context.logsumexp(-1)
    slope = torch.einsum("bc,btc->bt", torch.softmax(context, -1), margins)
    steepest = slope.masked_fill(~mask, torch.inf).amin(-1)
    return value, slope, value - (weights * slope).sum(-1) + steepest
