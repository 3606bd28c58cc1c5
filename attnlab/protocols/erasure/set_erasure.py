"""Erasing attention weights in order until the decision flips (Serrano & Smith 2019, section 5)."""

from dataclasses import replace
from itertools import combinations, permutations
from typing import ClassVar

import lightning as L
import numpy as np
import torch
from torch import Tensor

from attnlab.functional.erasure import (
    NEVER,
    Replacement,
    descending_order,
    erased_contexts,
    optimal_order,
    removals_to_flip,
)
from attnlab.functional.prediction import class_probabilities, predicted_class
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Boxes, Figure, Statistic

ORDERS = ("attention", "gradient", "product", "optimal")
"""Orders of which there is one per instance; the random order has several draws."""

LABELS = ("random", "attention", "gradient", "attn × grad", "optimal")


def _statistics() -> tuple[Statistic, ...]:
    each: list[Statistic] = []
    for name in ("random", *ORDERS):
        each += [
            _each("fraction", name, f"flips_{name}", "share to flip", higher_is_better=False),
            _each("never", name, None, "share that never flips", higher_is_better=False),
            _each("bias_only", name, None, "share that only the bare bias flips"),
        ]
    for name in ORDERS[:-1]:
        where = f"comparable_{name}"
        attained = _each("attained", name, where, "share at the optimum", higher_is_better=True)
        each.append(replace(attained, belief=(0.0, 1.0)) if name == "attention" else attained)
        each.append(_each("regret", name, where, "positions above optimum", higher_is_better=False))
    for a, b in permutations(ORDERS[:-1], 2):
        each.append(_paired(f"{a}<{b}", a, b, "fewer", "share where the first needs fewer"))
    for a, b in combinations(ORDERS[:-1], 2):
        each.append(_paired(f"p({a},{b})", a, b, "sign_test", "sign test of the two"))
    return tuple(each)


def _each(
    what: str, order: str, where: str | None, description: str, higher_is_better: bool | None = None
) -> Statistic:
    name = f"{what}_{order}"
    return Statistic(name, name, description=description, higher_is_better=higher_is_better, where=where)


def _paired(name: str, first: str, second: str, how: str, description: str) -> Statistic:
    columns = (f"removed_{first}", f"removed_{second}")
    return Statistic(name, columns[0], how, description, by_prediction=False, other=columns[1])


class SetErasure(Protocol):
    """The smallest prefix of an order whose erasure flips the decision.

    Orders: attention, the gradient of the predicted class's probability with respect to each weight (signed, the
    weights taken as free inputs), their product, random draws, and ``optimal``, the exact optimum for a linear readout.
    Instances that only flip when everything is erased, so that the readout's bias alone decides, are counted apart.

    Args:
        model: A trained model with a linear readout.
        draws: Random orders per instance.
        replacement: ``renormalise`` (as published), ``zero`` or ``mean``: what an erased weight leaves. The optimum
            is exact for ``renormalise``.
        seed: Seeds random orders and ties, instance by instance.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"linear_readout"})
    statistics: ClassVar[tuple[Statistic, ...]] = _statistics()
    figures: ClassVar[tuple[Figure, ...]] = (
        Boxes(
            "fraction",
            columns=tuple(f"fraction_{name}" for name in ("random", *ORDERS)),
            labels=LABELS,
            ylabel="share erased until the decision flips",
            range=(0.0, 1.02),
        ),
    )

    def __init__(
        self, model: L.LightningModule, draws: int = 5, replacement: Replacement = "renormalise", seed: int = 0
    ) -> None:
        super().__init__(model)
        if draws < 1:
            raise ValueError(f"draws must be positive, not {draws}")
        if replacement not in ("renormalise", "zero", "mean"):
            raise ValueError(f"replacement must be 'renormalise', 'zero' or 'mean', not {replacement!r}")
        self.draws, self.replacement, self.seed = draws, replacement, seed

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Removals until the decision flips, by order."""
        orders = self.orders(observation)
        contexts = erased_contexts(
            observation.model.values(observation.encoded),
            observation.attention,
            observation.batch.mask,
            orders,
            self.replacement,
        )
        classes = predicted_class(observation.model.finish(contexts, observation.encoded))
        removed = removals_to_flip(classes, observation.prediction, observation.length)
        names = [*ORDERS, *["random"] * self.draws]
        columns: dict[str, Column] = {"excluded": single_token_reasons(observation.length)}
        for name in dict.fromkeys(names):
            chosen = removed[:, [i for i, n in enumerate(names) if n == name]]
            columns.update(removal_columns(name, chosen, observation.length))
        columns.update(_regret(removed[:, : len(ORDERS)]))
        return columns

    def orders(self, observation: Observation) -> Tensor:
        """(B, R, T) positions: attention, gradient, product, optimal, then the random draws."""
        mask, attention = observation.batch.mask, observation.attention
        noise = self._noise(observation)
        gradient = attention_gradient(observation)
        scores = (attention, gradient, attention * gradient)
        ranked = [descending_order(score, mask, noise[:, 0]) for score in scores]
        ranked.append(optimal_order(observation.token_logits, attention, mask, observation.prediction))
        ranked += [descending_order(noise[:, 1 + draw], mask, noise[:, 0]) for draw in range(self.draws)]
        return torch.stack(ranked, 1)

    def _noise(self, observation: Observation) -> Tensor:
        mask = observation.batch.mask.cpu().numpy()
        noise = np.zeros((len(mask), 1 + self.draws, mask.shape[1]))
        for row, content, identity in zip(noise, mask, observation.batch.index.tolist(), strict=True):
            places = np.flatnonzero(content)
            row[:, places] = np.random.default_rng((self.seed, identity)).random((1 + self.draws, len(places)))
        return torch.from_numpy(noise).to(observation.attention.device)


def attention_gradient(observation: Observation) -> Tensor:
    """∂p/∂α_t of the predicted class's probability, the weights taken as free inputs, (B, T)."""
    with torch.enable_grad():
        weights = observation.attention.detach().clone().requires_grad_(True)
        p = class_probabilities(observation.model.decode(observation.encoded, weights))
        chosen = p.gather(-1, observation.prediction.unsqueeze(-1)).sum()
        (gradient,) = torch.autograd.grad(chosen, weights)
    return gradient


def removal_columns(name: str, removed: Tensor, length: Tensor) -> dict[str, Column]:
    """Columns of one order, from the removals of each of its draws (B, R).

    ``fraction`` is the mean share over draws that flip with something left, NaN where none does.
    """
    genuine = (removed != NEVER) & (removed < length.unsqueeze(1))
    fraction = (removed.double() / length.unsqueeze(1)).masked_fill(~genuine, 0).sum(1) / genuine.sum(1)
    return {
        f"removed_{name}": removed[:, 0],
        f"fraction_{name}": [None if np.isnan(f) else f for f in fraction.tolist()],
        f"flips_{name}": genuine.any(1),
        f"never_{name}": (removed == NEVER).double().mean(1),
        f"bias_only_{name}": (removed == length.unsqueeze(1)).double().mean(1),
    }


def _regret(removed: Tensor) -> dict[str, Column]:
    """How many positions more than the optimum each order needs, where both ever flip."""
    best = removed[:, -1]
    columns: dict[str, Column] = {}
    for i, name in enumerate(ORDERS[:-1]):
        own = removed[:, i]
        columns[f"comparable_{name}"] = (best != NEVER) & (own != NEVER)
        columns[f"regret_{name}"] = own - best
        columns[f"attained_{name}"] = own == best
    return columns
