"""Erasing attention weights in order until the decision flips (Serrano & Smith 2019, section 5)."""

from typing import ClassVar

import lightning as L
import torch
from torch import Tensor

from attnlab.functional.erasure import NEVER, Replacement, optimal_order
from attnlab.protocols.erasure.orders import RANKINGS, TIED, removal_orders, sharing_highest
from attnlab.protocols.erasure.removals import removal_boxes, removal_columns, removal_statistics
from attnlab.protocols.erasure.weights import erase_weights
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Figure, Statistic

ORDERS = (*RANKINGS, "optimal")
"""Orders of which there is one per instance; the random order has several draws."""


def _against_optimum(name: str) -> tuple[Statistic, ...]:
    where = f"comparable_{name}"
    attained, regret = f"attained_{name}", f"regret_{name}"
    return (
        Statistic(
            attained,
            attained,
            where=where,
            description="share at the optimum",
            higher_is_better=True,
            belief=(0.0, 1.0) if name == "attention" else None,
        ),
        Statistic(regret, regret, where=where, description="positions above optimum", higher_is_better=False),
    )


class SetErasure(Protocol):
    """The smallest prefix of an order whose erasure flips the decision.

    Orders: attention, the gradient of the predicted class's probability with respect to each weight (signed, the
    weights taken as free inputs), their product, random draws, and ``optimal``, the exact optimum. The optimum needs a
    linear readout; a model without one is measured by the other orders, and its records have no columns of ``optimal``.
    Instances that only flip when everything is erased, so that the readout's bias alone decides, are counted apart.
    What the erasure does to every class, not the predicted one alone, is in ``change``: see
    :func:`~attnlab.protocols.erasure.removals.removal_columns`.

    Args:
        model: A trained model whose readout can be folded.
        draws: Random orders per instance.
        replacement: ``renormalise`` (as published), ``zero`` or ``mean``: what an erased weight leaves. The optimum
            is exact for ``renormalise``.
        seed: Seeds random orders and ties, instance by instance.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"folded_readout"})

    def __init__(
        self, model: L.LightningModule, draws: int = 5, replacement: Replacement = "renormalise", seed: int = 0
    ) -> None:
        super().__init__(model)
        if draws < 1:
            raise ValueError(f"draws must be positive, not {draws}")
        if replacement not in ("renormalise", "zero", "mean"):
            raise ValueError(f"replacement must be 'renormalise', 'zero' or 'mean', not {replacement!r}")
        self.draws, self.replacement, self.seed = draws, replacement, seed
        self.linear = "linear_readout" in getattr(model, "gives", ())
        self.names = ORDERS if self.linear else RANKINGS

    @property
    def statistics(self) -> tuple[Statistic, ...]:  # type: ignore[override]
        """Those of each order, and against the optimum where it is known."""
        optimum = [statistic for name in RANKINGS for statistic in _against_optimum(name)] if self.linear else []
        return (TIED, *removal_statistics(("random", *self.names)), *optimum)

    @property
    def figures(self) -> tuple[Figure, ...]:  # type: ignore[override]
        """Boxes of each order."""
        return (removal_boxes(("random", *self.names), ylabel="share erased until the decision flips"),)

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Removals until the decision flips, by order."""
        flips = erase_weights(observation, self.orders(observation), self.replacement)
        columns: dict[str, Column] = {
            "tied": sharing_highest(observation.attention, observation.mask).sum(1) > 1,
            "excluded": single_token_reasons(observation.length, observation.unit),
        }
        for i, name in enumerate(self.names):
            columns.update(removal_columns(name, flips.of([i]), observation))
        random = range(len(self.names), len(self.names) + self.draws)
        columns.update(removal_columns("random", flips.of(random), observation))
        return {**columns, **_regret(flips.removed[:, : len(self.names)])} if self.linear else columns

    def orders(self, observation: Observation) -> Tensor:
        """(B, R, T) positions: attention, gradient, product, optimal where it is known, then the random draws."""
        others = removal_orders(observation, self.seed, self.draws)
        if not self.linear:
            return others
        mask, attention = observation.mask, observation.attention
        best = optimal_order(observation.token_logits, attention, mask, observation.prediction).unsqueeze(1)
        return torch.cat([others[:, : len(RANKINGS)], best, others[:, len(RANKINGS) :]], 1)


def _regret(removed: Tensor) -> dict[str, Column]:
    """How many positions more than the optimum each order needs, where both ever flip."""
    best = removed[:, -1]
    columns: dict[str, Column] = {}
    for i, name in enumerate(RANKINGS):
        own = removed[:, i]
        columns[f"comparable_{name}"] = (best != NEVER) & (own != NEVER)
        columns[f"regret_{name}"] = own - best
        columns[f"attained_{name}"] = own == best
    return columns
