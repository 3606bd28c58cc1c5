"""What a measurement says at a glance, and how far it lets attention be believed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.errors import StoreError
from attnlab.report.cells import ResultCell
from attnlab.report.spec import Statistic, from_dict

STEPS = 10
"""Steps of colour between no belief and full belief."""


@dataclass(frozen=True)
class Headline:
    """A protocol's headline statistic over the seeds of a group.

    Attributes:
        name: Of the statistic.
        description: What it says.
        value: Mean over the seeds; None where no seed has one.
        ends: Values at which attention can be believed not at all, and fully; None where the protocol declares none.
    """

    name: str
    description: str
    value: float | None
    ends: tuple[float, float] | None

    @property
    def belief(self) -> float | None:
        """0 where attention cannot be believed by this statistic, 1 where it can."""
        if self.value is None or self.ends is None:
            return None
        doubted, believed = self.ends
        return min(max((self.value - doubted) / (believed - doubted), 0.0), 1.0)

    @property
    def step(self) -> int | None:
        """The belief in steps of colour."""
        return None if self.belief is None else round(STEPS * self.belief)


def headline(cells: Sequence[ResultCell]) -> Headline | None:
    """The statistic whose direction is declared, else the first; None for a protocol without statistics.

    Raises:
        StoreError: the first result's specification is damaged.
    """
    statistics = _statistics(cells[0])
    if not statistics:
        return None
    chosen = next((s for s in statistics if s.belief is not None), statistics[0])
    values = [cell.summary["statistics"].get(chosen.name, {}).get("all") for cell in cells]
    known = [value for value in values if value is not None and math.isfinite(value)]
    mean = sum(known) / len(known) if known else None
    return Headline(chosen.name, chosen.description, mean, chosen.belief)


def _statistics(cell: ResultCell) -> list[Statistic]:
    try:
        found = [from_dict(content) for content in cell.specification["statistics"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"{cell.folder / 'specification.json'} is damaged ({error!r})") from error
    return [s for s in found if isinstance(s, Statistic)]
