"""Columns, statistics and figure of the removals until a decision flips, whatever is removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from torch import Tensor

from attnlab.functional.erasure import NEVER
from attnlab.protocols.erasure.orders import RANKINGS
from attnlab.protocols.protocol import Column, Observation
from attnlab.report.spec import Boxes, Statistic

LABELS = {
    "random": "random",
    "attention": "attention",
    "gradient": "gradient",
    "product": "attn × grad",
    "optimal": "optimal",
}


@dataclass
class Flips:
    """The first flip of the decision by R orders of B instances.

    Attributes:
        removed: Positions removed until then, from 1 to the length, or :data:`attnlab.functional.erasure.NEVER`,
            (B, R).
        probabilities: Distribution over the classes then, (B, R, C); of no meaning where there is no flip.
    """

    removed: Tensor
    probabilities: Tensor

    def of(self, orders: Sequence[int]) -> "Flips":
        """Some of the orders."""
        return Flips(self.removed[:, orders], self.probabilities[:, orders])


def removal_columns(name: str, flips: Flips, observation: Observation, bare: str = "bias_only") -> dict[str, Column]:
    """Columns of one order, of which there may be several draws.

    - ``removed``: of the first draw.
    - ``fraction``: mean share over draws that flip with something left; missing where none does.
    - ``change``: mean over the same draws of p(flip) − p(whole), for each class; NaN where none flips.
    - ``flips``: whether one of them does.
    - ``never``: share of draws that flip at no length.
    - ``bias_only``: share of draws that flip when nothing is left.

    Args:
        name: The order.
        flips: Of its draws.
        observation: The instances.
        bare: Name of the last column.
    """
    length, removed = observation.length.unsqueeze(1), flips.removed
    genuine = (removed != NEVER) & (removed < length)
    change = (flips.probabilities - observation.probabilities.unsqueeze(1)).double()
    change = change.masked_fill(~genuine.unsqueeze(-1), 0).sum(1) / genuine.sum(1, keepdim=True)
    return {
        f"removed_{name}": removed[:, 0],
        f"fraction_{name}": (removed.double() / length).masked_fill(~genuine, 0).sum(1) / genuine.sum(1),
        f"change_{name}": change.tolist(),
        f"flips_{name}": genuine.any(1),
        f"never_{name}": (removed == NEVER).double().mean(1),
        f"{bare}_{name}": (removed == length).double().mean(1),
    }


def removal_statistics(
    names: Sequence[str], bare: tuple[str, str] = ("bias_only", "share that only the bare bias flips")
) -> tuple[Statistic, ...]:
    """Of each order, then of each pair of rankings.

    Args:
        names: The orders.
        bare: Name and description of flips that leave nothing.
    """
    each: list[Statistic] = []
    for name in names:
        where = f"flips_{name}"
        each += [
            Statistic(
                f"fraction_{name}", f"fraction_{name}", where=where, description="share to flip", higher_is_better=False
            ),
            Statistic(f"never_{name}", f"never_{name}", description="share that never flips", higher_is_better=False),
            Statistic(f"{bare[0]}_{name}", f"{bare[0]}_{name}", description=bare[1]),
            Statistic(f"effect_{name}", f"change_{name}", "magnitude", "change of a class", by_class=True, where=where),
        ]
    for a, b in permutations(RANKINGS, 2):
        each.append(paired(f"{a}<{b}", f"removed_{a}", f"removed_{b}", "fewer", "share where the first needs fewer"))
    for a, b in combinations(RANKINGS, 2):
        each.append(paired(f"p({a},{b})", f"removed_{a}", f"removed_{b}", "sign_test", "sign test of the two"))
    return tuple(each)


def paired(name: str, first: str, second: str, how: str, description: str) -> Statistic:
    """A comparison of two columns of removals."""
    return Statistic(name, first, how, description, by_prediction=False, other=second)


def removal_boxes(names: Sequence[str], ylabel: str) -> Boxes:
    """The share removed until the decision flips, an order beside the other."""
    return Boxes(
        "fraction",
        columns=tuple(f"fraction_{name}" for name in names),
        labels=tuple(LABELS[name] for name in names),
        ylabel=ylabel,
        range=(0.0, 1.02),
    )
