"""The orders of set erasure applied to the tokens of the text, which the whole model reads anew."""

from itertools import combinations
from typing import ClassVar

import lightning as L
import torch
from torch import Tensor

from attnlab.functional.erasure import NEVER
from attnlab.functional.perturbation import BINS, Area, area_over_curve, bin_counts
from attnlab.protocols.erasure.editing import Edit
from attnlab.protocols.erasure.orders import RANKINGS, TIED, removal_orders, sharing_highest
from attnlab.protocols.erasure.prefixes import PrefixReader
from attnlab.protocols.erasure.removals import Flips, paired, removal_boxes, removal_columns, removal_statistics
from attnlab.protocols.erasure.weights import erase_weights
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Figure, Statistic

ORDERS = ("random", *RANKINGS)


def _faithfulness(name: str) -> tuple[Statistic, ...]:
    comprehensiveness, sufficiency = f"comprehensiveness_{name}", f"sufficiency_{name}"
    return (
        Statistic(comprehensiveness, comprehensiveness, description="loss without the first", higher_is_better=True),
        Statistic(sufficiency, sufficiency, description="loss with the first alone", higher_is_better=False),
    )


def _agreement(a: str, b: str) -> Statistic:
    column, where = f"agree_{a}_{b}", f"decided_{a}_{b}"
    return Statistic(column, column, where=where, description="share where both levels prefer the same")


class InputErasure(Protocol):
    """Removes tokens in the order of their attention, and measures what the model makes of the rest.

    Orders, random draws and ties are those of :class:`~attnlab.protocols.erasure.set_erasure.SetErasure` with the same
    seed: attention, the gradient of the predicted class's probability with respect to each weight, their product,
    random. Here the tokens go, and the text is encoded and attended anew. Three things are measured:

    - How many tokens must go until the decision flips (columns as in set erasure; ``emptied`` in place of
      ``bias_only``: flips only when no token is left, so that the readout's bias decides, or a text of unknown tokens).
      Every prefix is read until the first flip.
    - Comprehensiveness m(x)_j − m(x∖r)_j and sufficiency m(x)_j − m(r)_j of the predicted class j (DeYoung et al. 2020,
      ERASER, section 4), with r the first ⌈qn⌉ tokens for q = .01, .05, .1, .2 and .5, averaged over the five
      (``comprehensiveness``, ``sufficiency``); each of the five is in ``…_bins``. Random: the mean over the draws.
    - The same instances with weights erased instead, renormalised: ``weights`` is the number of weights until the
      decision flips, and ``agree`` is whether both levels find that the same of two orders needs fewer, where each
      level prefers one (``decided``).

    Args:
        model: A trained model with a linear readout, whose attention follows from the tokens.
        replacement: ``delete`` takes tokens out of the text; ``mask`` puts the unknown token in their place, whose
            embedding is trained only where the training texts hold unknown words.
        draws: Random orders per instance.
        area: ``code`` averages over the five bins, as ERASER's code does; ``paper`` adds the empty bin of its equation
            3, which makes it 5/6 of that.
        token_budget: Tokens encoded at once; bounds memory, changes no result.
        seed: Seeds random orders and ties, instance by instance.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"single", "content_attention", "linear_readout"})
    statistics: ClassVar[tuple[Statistic, ...]] = (
        TIED,
        *removal_statistics(ORDERS, ("emptied", "share that only an empty text flips")),
        *(statistic for name in ORDERS for statistic in _faithfulness(name)),
        *(
            paired(f"tokens<weights_{n}", f"removed_{n}", f"weights_{n}", "fewer", "share where fewer tokens flip")
            for n in ORDERS
        ),
        *(_agreement(a, b) for a, b in combinations(RANKINGS, 2)),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        removal_boxes(ORDERS, ylabel="share of tokens removed until the decision flips"),
    )

    def __init__(
        self,
        model: L.LightningModule,
        replacement: Edit = "delete",
        draws: int = 5,
        area: Area = "code",
        token_budget: int = 2**13,
        seed: int = 0,
    ) -> None:
        super().__init__(model)
        if replacement not in ("delete", "mask"):
            raise ValueError(f"replacement must be 'delete' or 'mask', not {replacement!r}")
        if area not in ("code", "paper"):
            raise ValueError(f"area must be 'code' or 'paper', not {area!r}")
        if draws < 1:
            raise ValueError(f"draws must be positive, not {draws}")
        if token_budget < 1:
            raise ValueError(f"token_budget must be positive, not {token_budget}")
        self.replacement, self.draws, self.area = replacement, draws, area
        self.token_budget, self.seed = token_budget, seed

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Removals until the decision flips, comprehensiveness and sufficiency, and removals of weights, by order."""
        orders = removal_orders(observation, self.seed, self.draws)
        reader = PrefixReader(observation, orders, self.replacement, self.token_budget)
        counts = bin_counts(observation.length, BINS)
        wanted = torch.zeros(len(counts), orders.shape[-1] + 1, dtype=torch.bool, device=counts.device)
        wanted.scatter_(1, counts, True)
        flips, without = reader.without(wanted)
        at_bins = counts.unsqueeze(1).expand(-1, orders.shape[1], -1)
        whole = observation.probabilities.gather(1, observation.prediction.unsqueeze(1)).unsqueeze(-1)
        comprehensiveness = whole - without.gather(2, at_bins)
        sufficiency = whole - reader.alone(wanted).gather(2, at_bins)
        weights = erase_weights(observation, orders).removed
        columns: dict[str, Column] = {
            "tied": sharing_highest(observation.attention, observation.mask).sum(1) > 1,
            "excluded": single_token_reasons(observation.length),
        }
        for name, which in self._draws_of().items():
            columns.update(removal_columns(name, flips.of(which), observation, bare="emptied"))
            columns.update(self._losses(f"comprehensiveness_{name}", comprehensiveness[:, which]))
            columns.update(self._losses(f"sufficiency_{name}", sufficiency[:, which]))
            columns[f"weights_{name}"] = weights[:, which[0]]
        return {**columns, **_agreements(flips, weights)}

    def _draws_of(self) -> dict[str, list[int]]:
        each = {name: [i] for i, name in enumerate(RANKINGS)}
        return {**each, "random": list(range(len(RANKINGS), len(RANKINGS) + self.draws))}

    def _losses(self, name: str, losses: Tensor) -> dict[str, Column]:
        """Means over draws of (B, R, Q), over bins and for each."""
        bins = losses.double().mean(1)
        return {name: area_over_curve(bins, self.area), f"{name}_bins": bins.tolist()}


def _agreements(tokens: Flips, weights: Tensor) -> dict[str, Column]:
    """Whether the two levels find that the same of two orders flips the decision with fewer removals."""
    levels = [removed.double().masked_fill(removed == NEVER, torch.inf) for removed in (tokens.removed, weights)]
    columns: dict[str, Column] = {}
    for (i, a), (j, b) in combinations(enumerate(RANKINGS), 2):
        first, second = ((level[:, i] < level[:, j]).int() - (level[:, i] > level[:, j]).int() for level in levels)
        columns[f"agree_{a}_{b}"] = first == second
        columns[f"decided_{a}_{b}"] = (first != 0) & (second != 0)
    return columns
