"""What the records of a setting's seeds say about one statistic, ready for intervals and tests."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from attnlab.errors import StoreError
from attnlab.report.cells import ResultCell
from attnlab.report.grid import Grid
from attnlab.report.replicates import Counted, Sums, instance_values, prepare, replicate
from attnlab.report.resampling import Floats, Resampling
from attnlab.report.spec import Statistic
from attnlab.results import read_records


class Name(NamedTuple):
    """Which number of a data set and split it is."""

    setting: str
    protocol: str
    statistic: str


@dataclass(frozen=True)
class Sample:
    """One statistic of one protocol on one setting.

    Attributes:
        statistic: What it is.
        values: Its value by seed; NaN where it is not defined.
        replicates: Mean over drawn seeds in each replicate, (replicates,); None where there are none.
        instances: Mean over seeds of what it averages, (n,), NaN where no seed counts the instance; None where it is
            no average, or where the seeds were not measured on the same instances.
        ids: Names of the instances.
    """

    statistic: Statistic
    values: dict[int, float]
    replicates: Floats | None
    instances: Floats | None
    ids: pa.ChunkedArray


Block = dict[Name, Sample]

MOST_THREADS = 8


def blocks(
    grid: Grid, resampling: Resampling, problems: list[str], by_instance: bool = True
) -> Iterator[tuple[str, str, Block]]:
    """Data set, split and samples, one data set at a time, so that memory does not grow with the store.

    Args:
        grid: Results in their places.
        resampling: Draws.
        problems: Gets a line about each result whose records cannot be read, and which is therefore left out.
        by_instance: Whether statistics without a direction are given by instance too, for tests.
    """
    groups: dict[tuple[str, str], dict[tuple[str, str], dict[int, ResultCell]]] = defaultdict(dict)
    for place, cell in grid.cells.items():
        of_block = groups[place.data, place.split]
        of_block.setdefault((place.setting, place.protocol), {})[place.seed] = cell

    def measure(cells: dict[int, ResultCell]) -> list[Sample]:
        return _samples(cells, resampling, by_instance, problems)

    # The products are too small to be shared among cores: settings are. Threads of both kinds would fight for them.
    with threadpool_limits(1), ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as pool:
        for (data, split), settings in groups.items():
            samples = pool.map(measure, settings.values())
            named = zip(settings, samples, strict=True)
            yield data, split, {Name(*names, own.statistic.name): own for names, found in named for own in found}


def _samples(
    cells: dict[int, ResultCell], resampling: Resampling, by_instance: bool, problems: list[str]
) -> list[Sample]:
    statistics = _first_statistics(cells.values(), problems)
    read: dict[int, _Read] = {}
    for seed, cell in cells.items():
        try:
            read[seed] = _read(cell, statistics, by_instance)
        except (StoreError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            problems.append(_line(cell, error))
    if not read:
        return []
    ids = next(iter(read.values())).ids
    together = all(own.ids.equals(ids) for own in read.values())
    drawn = _drawn(list(read.values()), together, resampling)
    return [
        Sample(
            s,
            {seed: _value(cells[seed], s) for seed in read},
            _over_seeds([own.get(s.name) for own in drawn], resampling),
            _mean_instance([own.instances.get(s.name) for own in read.values()]) if together else None,
            ids,
        )
        for s in statistics
    ]


class _Read(NamedTuple):
    ids: pa.ChunkedArray
    prepared: dict[str, Sums]
    instances: dict[str, Floats | None]


def _read(cell: ResultCell, statistics: Sequence[Statistic], by_instance: bool) -> _Read:
    records = read_records(cell.folder, _columns(statistics))
    counts = Counted(records)
    # Which model is best is asked of all statistics that have a direction.
    wanted = [s for s in statistics if by_instance or s.higher_is_better is not None]
    instances = {s.name: instance_values(counts, s) for s in wanted}
    return _Read(records["id"], prepare(counts, statistics), instances)


def _drawn(read: Sequence[_Read], together: bool, resampling: Resampling) -> list[dict[str, Floats]]:
    """Replicates of each seed: the same draws for all where they were measured on the same instances."""
    prepared = [own.prepared for own in read]
    if together:
        return replicate(prepared, resampling.instances(len(read[0].ids)))
    each = zip(read, prepared, strict=True)
    return [replicate([p], resampling.instances(len(r.ids), 1 + i))[0] for i, (r, p) in enumerate(each)]


def _line(cell: ResultCell, error: Exception) -> str:
    text = " ".join(str(error).split()) or repr(error)
    return text if isinstance(error, StoreError) else f"{cell.folder} cannot be read ({text}); remove it and run again"


def _first_statistics(cells: Iterable[ResultCell], problems: list[str]) -> list[Statistic]:
    """Statistics as the first result that can be read describes them."""
    for cell in cells:
        try:
            return cell.statistics
        except StoreError as error:
            problems.append(str(error))
    return []


def _columns(statistics: Sequence[Statistic]) -> list[str]:
    names = {"id", "excluded", "label"}
    for s in statistics:
        names |= {name for name in (s.column, s.where, s.other) if name}
    return sorted(names)


def _value(cell: ResultCell, statistic: Statistic) -> float:
    value = cell.summary["statistics"].get(statistic.name, {}).get("all")
    return float("nan") if value is None else float(value)


def _over_seeds(drawn: Sequence[Floats | None], resampling: Resampling) -> Floats | None:
    """Mean over the drawn seeds, of those where the replicate has a value."""
    none = np.full(resampling.replicates, np.nan)
    each = np.stack([none if own is None else own for own in drawn], 1)
    has = np.isfinite(each)
    if not has.any():
        return None
    weights = resampling.seeds(each.shape[1]) * has
    with np.errstate(invalid="ignore"):
        return np.asarray((weights * np.where(has, each, 0)).sum(1) / weights.sum(1))


def _mean_instance(columns: Sequence[Floats | None]) -> Floats | None:
    known = [column for column in columns if column is not None]
    if len(known) < len(columns):
        return None
    each = np.stack(known)
    has = ~np.isnan(each)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(has, each, 0).sum(0) / has.sum(0))
