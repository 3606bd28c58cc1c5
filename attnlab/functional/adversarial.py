"""The attention that differs most from a model's own while the prediction stays within ε (Jain & Wallace 2019).

Two solvers. :func:`exact_adversary` is exact for a linear readout with two classes. :func:`search_adversary` is the
published gradient search, for any readout.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnlab.functional.definition import Definition
from attnlab.functional.divergence import jensen_shannon_divergence, total_variation_distance
from attnlab.functional.masking import masked_softmax

PAIR_BUDGET = 2**23
"""Pairs of tokens looked at together; longer documents are done in smaller groups to bound memory."""


@dataclass
class ExactAdversary:
    """Solution of :func:`exact_adversary`; B instances.

    Attributes:
        jsd: Largest reachable Jensen–Shannon divergence, (B,), float64.
        first: Position of one token of the solution, (B,).
        second: Position of the other, equal to ``first`` where one token carries all the mass, (B,).
        weight: Mass on ``first``, (B,), float64.
    """

    jsd: Tensor
    first: Tensor
    second: Tensor
    weight: Tensor

    def attention(self, length: int) -> Tensor:
        """The adversarial attention itself, (B, length), float64."""
        dense = self.weight.new_zeros(len(self.weight), length)
        dense.scatter_add_(1, self.first.unsqueeze(1), self.weight.unsqueeze(1))
        return dense.scatter_add_(1, self.second.unsqueeze(1), 1 - self.weight.unsqueeze(1))


def exact_adversary(margins: Tensor, bias: Tensor, attention: Tensor, mask: Tensor, epsilon: float) -> ExactAdversary:
    """Maximise JSD(α, α̂) over all attentions α whose prediction stays within ε.

    With a linear readout the log-odds are Σ α_t m_t + b, so the admissible set is the simplex cut by the slab
    ``low <= Σ α_t m_t + b <= high``, a polytope. JSD is convex in α, so a maximum lies at a vertex, and every vertex
    has its mass on one token inside the slab, or on two tokens on either side of one of its faces. All of them are
    tried, O(T²) per instance. α̂ itself is admissible, so a vertex always exists.

    Args:
        margins: Log-odds contribution of each token, (B, T): the folded values.
        bias: Log-odds of the readout without any token, scalar or (B,).
        attention: The model's attention α̂, (B, T).
        mask: Content positions, (B, T), at least one per row.
        epsilon: Largest total variation distance allowed, in (0, 1).

    Returns:
        The solution of each instance, computed in float64.
    """
    rows = max(1, PAIR_BUDGET // max(1, margins.shape[1] ** 2))
    bias = torch.as_tensor(bias, dtype=torch.float64, device=margins.device).expand(len(margins))
    parts = [
        _exact_adversary(margins[s].double(), bias[s], attention[s].double(), mask[s], epsilon)
        for s in (slice(i, i + rows) for i in range(0, len(margins), rows))
    ]
    return ExactAdversary(*(torch.cat(column) for column in zip(*parts, strict=True)))


def _exact_adversary(
    margins: Tensor, bias: Tensor, attention: Tensor, mask: Tensor, epsilon: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    attention = attention / attention.sum(-1, keepdim=True)
    faces = _slab((margins * attention).sum(-1), bias, epsilon)  # two of (B,)
    candidates = [_single_tokens(margins, attention, mask, *faces)]
    candidates += [_token_pairs(margins, attention, mask, face) for face in faces]
    jsd, choice = torch.stack([c[0] for c in candidates]).max(0)
    first, second, weight = (
        torch.stack([c[i] for c in candidates]).gather(0, choice.unsqueeze(0)).squeeze(0) for i in (1, 2, 3)
    )
    return jsd, first, second, weight


def _slab(context: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Bounds on Σ α_t m_t that keep the probability within ε; infinite where ε reaches 0 or 1.

    Written in log-odds and with sigmoid(-x) for 1 - p, so that it holds where float64 probabilities saturate.
    """
    p, q = torch.sigmoid(context + bias), torch.sigmoid(-context - bias)
    low = torch.where(p > epsilon, (p - epsilon).clamp_min(1e-300).log() - (q + epsilon).log(), -math.inf)
    high = torch.where(q > epsilon, (p + epsilon).log() - (q - epsilon).clamp_min(1e-300).log(), math.inf)
    return low - bias, high - bias


def _single_tokens(
    margins: Tensor, attention: Tensor, mask: Tensor, low: Tensor, high: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    inside = mask & (margins >= low.unsqueeze(1)) & (margins <= high.unsqueeze(1))
    # JSD of a point mass grows as the weight under it falls.
    weight = attention.masked_fill(~inside, math.inf)
    lightest, token = weight.min(-1)
    jsd = _sparse_jsd([torch.ones_like(lightest)], [torch.where(lightest.isinf(), 1, lightest)])
    return jsd.masked_fill(lightest.isinf(), -math.inf), token, token, torch.ones_like(lightest)


def _token_pairs(
    margins: Tensor, attention: Tensor, mask: Tensor, face: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The best mixture of a token below the face with one above it that lies on the face."""
    gap = margins - face.unsqueeze(1)
    below, above = mask & (gap < 0), mask & (gap > 0)
    pair = below.unsqueeze(2) & above.unsqueeze(1) & face.isfinite()[:, None, None]
    distance = (gap.unsqueeze(1) - gap.unsqueeze(2)).masked_fill(~pair, 1)
    weight = (gap.unsqueeze(1) / distance).masked_fill(~pair, 1)  # mass on the token below
    jsd = _sparse_jsd([weight, 1 - weight], [attention.unsqueeze(2), attention.unsqueeze(1)])
    best, flat = jsd.masked_fill(~pair, -math.inf).flatten(1).max(-1)
    rows = torch.arange(len(margins), device=margins.device)
    first, second = flat // margins.shape[1], flat % margins.shape[1]
    return best, first, second, weight[rows, first, second]


def _sparse_jsd(mass: list[Tensor], reference: list[Tensor]) -> Tensor:
    """JSD between a distribution of one or two atoms and a dense one, from the dense one's weights there.

    Off the atoms the dense distribution meets zero, so each of its weights q adds q ln 2.
    """
    total = torch.full_like(mass[0], math.log(2))
    for a, q in zip(mass, reference, strict=True):
        total = total - math.log(2) * q + torch.xlogy(a, a) + torch.xlogy(q, q) - torch.xlogy(a + q, (a + q) / 2)
    return total / 2


def search_adversary(
    predict: Callable[[Tensor], Tensor],
    attention: Tensor,
    mask: Tensor,
    start: Tensor,
    *,
    epsilon: float,
    steps: int = 500,
    learning_rate: float = 0.01,
    penalty: float = 500.0,
    objective: Definition = "paper",
) -> Tensor:
    """Search K distant attentions per instance at once by gradient descent (Jain & Wallace 2019, section 4.2.2).

    Maximises Σ_k JSD(α⁽ᵏ⁾, α̂) + their mutual divergence, with a penalty λ Σ_k max(0, TVD_k − ε). Instances do not
    influence each other.

    Args:
        predict: Maps attention (B, K, T) to class distributions (B, K, C), differentiably.
        attention: The model's attention α̂, (B, T).
        mask: Content positions, (B, T).
        start: Starting scores, (B, K, T).
        epsilon: Total variation distance beyond which the penalty sets in.
        steps: Number of Adam (amsgrad) steps.
        learning_rate: Adam's step size.
        penalty: λ.
        objective: ``paper`` divides the penalty by K and weighs each pair by 1/(K(K−1)); ``published_code`` does not
            divide the penalty and takes the mean over all K² ordered pairs, the zero diagonal included.

    Returns:
        Attention (B, K, T) after the last step, detached. Not all of it need be within ε.
    """
    K = start.shape[1]
    scores = start.detach().clone().requires_grad_(True)
    optimizer = torch.optim.Adam([scores], lr=learning_rate, amsgrad=True)
    reference = attention.detach().unsqueeze(1)
    prediction = predict(reference).detach()
    pair_weight = 1 / max(1, K * (K - 1)) if objective == "paper" else 2 / K**2
    scale = penalty / K if objective == "paper" else penalty
    for _ in range(steps):
        with torch.enable_grad():
            adversary = masked_softmax(scores, mask.unsqueeze(1))
            excess = torch.relu(total_variation_distance(predict(adversary), prediction) - epsilon)
            gain = smoothed_jsd(adversary, reference).sum() + pair_weight * _mutual_divergence(adversary)
            (scores.grad,) = torch.autograd.grad(scale * excess.sum() - gain, scores)
        optimizer.step()
    return masked_softmax(scores.detach(), mask.unsqueeze(1))


def smoothed_jsd(p: Tensor, q: Tensor) -> Tensor:
    """JSD with 1e-10 inside the logarithms, as the published search has it: its gradient is finite at zeros."""
    log_mixture = ((p + q) / 2 + 1e-10).log()
    left = p * ((p + 1e-10).log() - log_mixture)
    right = q * ((q + 1e-10).log() - log_mixture)
    return (left + right).sum(-1) / 2


def _mutual_divergence(adversary: Tensor) -> Tensor:
    """Sum over instances and unordered pairs of JSD between an instance's K adversaries."""
    i, j = torch.triu_indices(adversary.shape[1], adversary.shape[1], 1, device=adversary.device)
    return smoothed_jsd(adversary[:, i], adversary[:, j]).sum()


def best_admissible(
    candidates: Tensor, prediction_change: Tensor, attention: Tensor, epsilon: float
) -> tuple[Tensor, Tensor]:
    """The ε-max JSD: the most distant candidate whose prediction stays within ε.

    The original attention is always a candidate, so an instance without any admissible adversary scores 0.

    Args:
        candidates: (B, K, T).
        prediction_change: Total variation distance of each candidate's prediction, (B, K).
        attention: The model's attention, (B, T).
        epsilon: Largest change allowed.

    Returns:
        JSD (B,), and the attention that reaches it (B, T).
    """
    jsd = jensen_shannon_divergence(candidates, attention.unsqueeze(1))
    jsd = jsd.masked_fill(prediction_change > epsilon, -1)
    best, k = jsd.max(1)
    chosen = candidates.gather(1, k[:, None, None].expand(-1, 1, candidates.shape[-1])).squeeze(1)
    admissible = best >= 0
    return best.clamp_min(0), torch.where(admissible.unsqueeze(1), chosen, attention)
