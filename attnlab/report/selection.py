"""Some statistics of every model side by side, in one table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from attnlab.errors import ConfigError
from attnlab.report.grid import Grid
from attnlab.report.sheet import USUAL_SPLIT, Column, Entry, Sheet, text


class Which(NamedTuple):
    """A statistic, and the protocol that it is of, with the options that tell it from others."""

    protocol: str
    statistic: str


class Subject(NamedTuple):
    """What it is measured on."""

    data: str
    setting: str
    split: str


@dataclass(frozen=True)
class Selection:
    """Some statistics over seeds.

    Attributes:
        columns: Which.
        rows: By what it is measured on, and by statistic: a row of :attr:`attnlab.report.estimates.Estimates.numbers`.
        by_seed: The same, each seed's value where it is defined.
    """

    columns: Sequence[Which]
    rows: Mapping[Subject, Mapping[Which, Mapping[str, Any]]]
    by_seed: Mapping[Subject, Mapping[Which, Sequence[float]]]

    @property
    def labels(self) -> list[str]:
        """What each row is of, in no more words than it takes."""
        several = [len(set(names)) > 1 for names in zip(*self.rows, strict=True)]
        several[1] = True
        return [", ".join(name for name, tell in zip(row, several, strict=True) if tell) for row in self.rows]


def protocols_of(asked: Iterable[str]) -> list[str]:
    """Names in the configuration of the protocols that statistics are asked of.

    Raises:
        ConfigError: one is not PROTOCOL/STATISTIC.
    """
    for name in asked:
        if "/" not in name:
            raise ConfigError(f"--statistic {name}: write protocol/statistic, such as permutation/tvd")
    return list(dict.fromkeys(name.split("/")[0].split(" ")[0] for name in asked))


def select(numbers: pl.DataFrame, grid: Grid, asked: Sequence[str]) -> Selection:
    """Statistics by name.

    Args:
        numbers: As :func:`attnlab.report.estimates.estimate` gives them.
        grid: Results in their places.
        asked: ``protocol/statistic``, where the protocol may name its options; without them it stands for all.

    Raises:
        ConfigError: no result has one.
    """
    names = {place.protocol: cell.protocol for place, cell in grid.cells.items()}
    overall = numbers.filter(pl.col("class").is_null())
    known = [Which(*pair) for pair in overall.select("protocol", "statistic").unique(maintain_order=True).iter_rows()]
    columns: dict[Which, None] = {}
    for name in asked:
        protocol, statistic = name.rsplit("/", 1)
        found = [w for w in known if w.statistic == statistic and protocol in (w.protocol, names[w.protocol])]
        if not found:
            there = ", ".join(dict.fromkeys(f"{names[which.protocol]}/{which.statistic}" for which in known))
            raise ConfigError(f"--statistic {name}: no result has it; there are {there}")
        columns.update(dict.fromkeys(found))
    rows: dict[Subject, dict[Which, Mapping[str, Any]]] = {}
    for row in overall.iter_rows(named=True):
        which = Which(row["protocol"], row["statistic"])
        if which in columns:
            rows.setdefault(Subject(row["data"], row["setting"], row["split"]), {})[which] = row
    return Selection(list(columns), rows, _by_seed(grid, columns))


def _by_seed(grid: Grid, columns: Iterable[Which]) -> dict[Subject, dict[Which, list[float]]]:
    found: dict[Subject, dict[Which, list[float]]] = {}
    for place, cell in grid.cells.items():
        for which in columns:
            value = cell.summary["statistics"].get(which.statistic, {}).get("all")
            if which.protocol == place.protocol and value is not None:
                own = found.setdefault(Subject(place.data, place.setting, place.split), {})
                own.setdefault(which, []).append(value)
    return found


def wider(row: Mapping[str, Any]) -> tuple[float, float] | None:
    """The wider of a number's two intervals: with few seeds either may be too narrow."""
    pairs = [(row["t_low"], row["t_high"]), (row["low"], row["high"])]
    known = [(low, high) for low, high in pairs if low is not None and low == low]
    return max(known, key=lambda ends: ends[1] - ends[0], default=None)


def selection_sheet(selection: Selection, level: float, notes: Sequence[str] = ()) -> Sheet:
    """A row per data set and setting, a column per statistic."""
    fields = ("mean", "t_low", "t_high", "low", "high", "seeds")
    columns = [
        *(Column(name, (field,)) for name, field in (("data", "data"), ("model", "setting"), ("split", "split"))),
        *(Column(name, tuple(f"{name} {f}" for f in fields), right=True) for name in map("/".join, selection.columns)),
    ]
    rows = [
        [*map(text, subject), *(_entry(found.get(which), fields) for which in selection.columns)]
        for subject, found in selection.rows.items()
    ]
    title = f"mean over seeds, with {level:.0%} intervals: t over seeds or bootstrap, the wider of the two"
    return Sheet(title, columns, rows, notes=notes).unless_all("split", USUAL_SPLIT)


def _entry(row: Mapping[str, Any] | None, fields: Sequence[str]) -> Entry:
    if row is None or row["mean"] is None:
        return Entry(None, (None,) * len(fields))
    ends = wider(row)
    interval = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
    return Entry(f"{row['mean']:.3f}{interval}", tuple(row[field] for field in fields))
