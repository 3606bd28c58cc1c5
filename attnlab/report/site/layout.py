"""Results in the order of the site: a group per trained setting, in it the protocols, in each the seeds."""

from collections.abc import Iterator
from dataclasses import dataclass

from attnlab.inspect.text import file_name
from attnlab.report.cells import ResultCell
from attnlab.report.grid import Grid


@dataclass(frozen=True)
class Measurement:
    """A protocol with one set of options on one split, on each seed of a group.

    Attributes:
        protocol: Its name, with the options that tell it from others of that name.
        split: Split that was measured.
        cells: Results by seed.
    """

    protocol: str
    split: str
    cells: dict[int, ResultCell]

    @property
    def anchor(self) -> str:
        """Its place on the page of the group."""
        return file_name(f"{self.protocol}-{self.split}")


@dataclass(frozen=True)
class Group:
    """All that was measured on models that differ in the seed alone.

    Attributes:
        data: Name of the data set.
        setting: What was trained, as tables call it.
        measurements: By protocol and split.
    """

    data: str
    setting: str
    measurements: tuple[Measurement, ...]

    @property
    def first(self) -> ResultCell:
        """A result that tells model, attention and vectors."""
        return next(iter(self.measurements[0].cells.values()))

    @property
    def seeds(self) -> list[int]:
        """Seeds of which there is a result."""
        return sorted({seed for measurement in self.measurements for seed in measurement.cells})

    @property
    def page(self) -> str:
        """Path of its page in the site."""
        return f"groups/{file_name(self.first.group)}.html"

    def models(self) -> Iterator["Measured"]:
        """What can be joined instance by instance, by split and seed."""
        found: dict[tuple[str, int, str], dict[str, ResultCell]] = {}
        for measurement in self.measurements:
            for seed, cell in measurement.cells.items():
                found.setdefault((measurement.split, seed, cell.model_key), {})[measurement.protocol] = cell
        for (split, seed, key), cells in sorted(found.items()):
            yield Measured(key, seed, split, cells)


@dataclass(frozen=True)
class Measured:
    """One trained model on one split.

    Attributes:
        key: Of the model.
        seed: Of the model.
        split: Split that was measured.
        cells: Results by the name of the protocol.
    """

    key: str
    seed: int
    split: str
    cells: dict[str, ResultCell]

    @property
    def name(self) -> str:
        """Its name among the site's files."""
        return f"{self.key}-{self.split}"

    @property
    def page(self) -> str:
        """Path of its instance browser in the site."""
        return f"instances/{self.name}.html"


def arrange(grid: Grid) -> list[Group]:
    """Groups by data set and setting."""
    found: dict[tuple[str, str], dict[tuple[str, str], dict[int, ResultCell]]] = {}
    for place, cell in sorted(grid.cells.items()):
        group = found.setdefault((place.data, place.setting), {})
        group.setdefault((place.protocol, place.split), {})[place.seed] = cell
    return [
        Group(data, setting, tuple(Measurement(*name, cells) for name, cells in group.items()))
        for (data, setting), group in found.items()
    ]
