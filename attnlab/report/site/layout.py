"""Results in the order of the site: groups of seeds, in each the protocols, in each the seeds."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from attnlab.report.cells import ResultCell
from attnlab.report.site.differences import differences, without_seeds

OWN = frozenset({"seed", "paths", "logger", "launcher", "dry_run", "protocols", "split"})
"""What a configuration says beside what the group is."""


@dataclass(frozen=True)
class Measurement:
    """A protocol with one set of options, on each seed of a group.

    Attributes:
        protocol: Its name.
        variant: What sets it apart from others of that name in the group; empty where it is the only one.
        cells: One per seed.
    """

    protocol: str
    variant: str
    cells: tuple[ResultCell, ...]

    @property
    def title(self) -> str:
        """Name and variant."""
        return f"{self.protocol} ({self.variant})" if self.variant else self.protocol

    @property
    def anchor(self) -> str:
        """Its place on the page of the group."""
        return slug(self.title)


@dataclass(frozen=True)
class Group:
    """All that was measured on the models that differ in the seed alone.

    Attributes:
        name: As :attr:`attnlab.job.Job.group` has it.
        variant: What sets it apart from groups with the same data, model, attention and vectors.
        measurements: By protocol.
    """

    name: str
    variant: str
    measurements: tuple[Measurement, ...]

    @property
    def first(self) -> ResultCell:
        """A result that tells data, model, attention and vectors."""
        return self.measurements[0].cells[0]

    @cached_property
    def seeds(self) -> list[int]:
        """Seeds of which there is a result."""
        return sorted({cell.seed for measurement in self.measurements for cell in measurement.cells})

    @property
    def page(self) -> str:
        """Path of its page in the site."""
        return f"groups/{slug(self.name)}.html"

    @property
    def models(self) -> dict[tuple[str, str], list[tuple[str, ResultCell]]]:
        """Results by what they can be joined on, model and split, each with the title of its measurement."""
        found: dict[tuple[str, str], list[tuple[str, ResultCell]]] = {}
        for measurement in self.measurements:
            for cell in measurement.cells:
                found.setdefault((cell.model_key, cell.split), []).append((measurement.title, cell))
        return found


def arrange(cells: Iterable[ResultCell]) -> list[Group]:
    """Groups in order of data, model, attention and vectors."""
    ordered = sorted(cells, key=lambda c: (_names(c), c.group))
    parts = [list(part) for _, part in groupby(ordered, key=lambda c: (_names(c), c.group))]
    groups = []
    for _, alike in groupby(parts, key=lambda part: _names(part[0])):
        together = list(alike)
        apart = [without_seeds({k: v for k, v in part[0].config.items() if k not in OWN}) for part in together]
        for part, variant in zip(together, differences(apart), strict=True):
            groups.append(Group(part[0].group, variant, _measurements(part)))
    return groups


def _names(cell: ResultCell) -> tuple[str, str, str, str]:
    return (cell.data, cell.model, cell.attention, cell.vectors)


def _measurements(cells: Sequence[ResultCell]) -> tuple[Measurement, ...]:
    found: dict[str, dict[str, list[ResultCell]]] = {}
    for cell in sorted(cells, key=lambda c: (c.protocol, c.seed, c.key)):
        found.setdefault(cell.protocol, {}).setdefault(json.dumps(options(cell), sort_keys=True), []).append(cell)
    return tuple(
        Measurement(protocol, variant, tuple(alike))
        for protocol, by_options in found.items()
        for alike, variant in zip(by_options.values(), differences([*map(json.loads, by_options)]), strict=True)
    )


def options(cell: ResultCell) -> Mapping[str, Any]:
    """Split and options of a result's protocol, without the seed."""
    own: dict[str, Any] = without_seeds(cell.config.get("protocols", {}).get(cell.protocol, {}))
    return {"split": cell.split, **own}


def slug(text: str) -> str:
    """A name as a file or an anchor."""
    return re.sub(r"[^\w.=-]+", "_", text).strip("_")
