"""What a measurement says at a glance, and how far it lets attention be believed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attnlab.errors import StoreError
from attnlab.report.cells import ResultCell

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


def headline(cells: Sequence[ResultCell], problems: list[str]) -> Headline | None:
    """The statistic whose direction is declared, else the first; None for a protocol without statistics.

    Args:
        cells: One protocol's results, of which the first tells its statistics.
        problems: Gets a line where its specification is damaged; then there is no headline.
    """
    try:
        statistics = cells[0].statistics
    except StoreError as error:
        problems.append(str(error))
        return None
    if not statistics:
        return None
    chosen = next((s for s in statistics if s.belief is not None), statistics[0])
    values = [cell.summary["statistics"].get(chosen.name, {}).get("all") for cell in cells]
    known = [value for value in values if value is not None and math.isfinite(value)]
    mean = sum(known) / len(known) if known else None
    return Headline(chosen.name, chosen.description, mean, chosen.belief)
