"""From results to numbers with intervals, tests between them, and which of them are best."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from attnlab.errors import ConfigError
from attnlab.report.comparing import Comparison, compare, holm, interval, p_of_difference
from attnlab.report.frame import long_frame, over_seeds
from attnlab.report.grid import Grid
from attnlab.report.resampling import Resampling
from attnlab.report.samples import Block, Name, Sample, blocks

Pairs = Callable[[Block], Iterable[tuple[Name, Name]]]

TESTS = ("p_flip", "p_t", "p_instances")

COMPARISONS: dict[str, Any] = {
    **dict.fromkeys(("data", "split", "statistic", "first", "second"), pl.String),
    **dict.fromkeys(("difference", "low", "high", "p_flip", "p_t", "d", "p_instances", "r"), pl.Float64),
    **dict.fromkeys(("seeds", "instances"), pl.Int64),
    **dict.fromkeys((f"{test}_holm" for test in TESTS), pl.Float64),
}


class Estimates(NamedTuple):
    """What a report prints.

    Attributes:
        numbers: As :func:`attnlab.report.frame.over_seeds` gives them, with ``low`` and ``high`` of the bootstrap over
            seeds and instances, and ``best``: whether nothing with the same data, protocol and statistic is
            significantly better; null where better has no meaning or there is nothing to compare with.
        comparisons: A row per pair, with the fields of :class:`~attnlab.report.comparing.Comparison` and p adjusted by
            Holm's rule over all pairs of the same statistic.
    """

    numbers: pl.DataFrame
    comparisons: pl.DataFrame


def estimate(
    grid: Grid,
    resampling: Resampling,
    problems: list[str],
    pairs: Pairs | None = None,
    level: float = 0.95,
) -> Estimates:
    """Aggregate over seeds and instances.

    Args:
        grid: Results in their places.
        resampling: Draws for the bootstrap.
        problems: Gets a line about each result whose records cannot be read.
        pairs: What to compare.
        level: Of intervals; 1 - level is what significance means.
    """
    intervals, compared = [], []
    for data, split, block in blocks(grid, resampling, problems, by_instance=pairs is not None):
        best = _best(block, level)
        for name, sample in block.items():
            low, high = (None, None) if sample.replicates is None else interval(sample.replicates, level)
            intervals.append((data, name.setting, name.protocol, split, name.statistic, low, high, best.get(name)))
        for first, second in pairs(block) if pairs else ():
            found = compare(block[first], block[second], level)
            compared.append(_row(data, split, first, second, found))
    numbers = over_seeds(long_frame(grid), level)
    keys = ["data", "setting", "protocol", "split", "statistic"]
    schema = {**dict.fromkeys(keys, pl.String), "low": pl.Float64, "high": pl.Float64, "best": pl.Boolean}
    bootstrap = pl.DataFrame(intervals, schema=schema, orient="row").with_columns(
        pl.lit(None, dtype=pl.String).alias("class")
    )
    numbers = numbers.join(bootstrap, on=[*keys, "class"], how="left", nulls_equal=True, maintain_order="left")
    return Estimates(numbers, _with_holm(compared))


def _row(data: str, split: str, first: Name, second: Name, found: Comparison) -> dict[str, Any]:
    if first[1:] == second[1:]:
        statistic, names = f"{first.protocol}/{first.statistic}", (first.setting, second.setting)
    else:
        names = (f"{first.protocol}/{first.statistic}", f"{second.protocol}/{second.statistic}")
        statistic = first.setting
    pair = {"data": data, "split": split, "statistic": statistic, "first": names[0], "second": names[1]}
    return {**pair, **asdict(found)}


def _with_holm(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Adjust within each statistic: all data sets and pairs that answer the same question."""
    families: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        families[row["statistic"]].append(row)
    for family in families.values():
        for test in TESTS:
            for row, p in zip(family, holm([row[test] for row in family]), strict=True):
                row[f"{test}_holm"] = p
    return pl.DataFrame(rows, schema=COMPARISONS, orient="row")


def _best(block: Block, level: float) -> dict[Name, bool]:
    """Which settings are best by each statistic that has a direction, or not significantly worse than the best."""
    rivals: dict[tuple[str, str], dict[Name, Sample]] = defaultdict(dict)
    for name, sample in block.items():
        if sample.statistic.higher_is_better is not None and np.isfinite(list(sample.values.values())).any():
            rivals[name.protocol, name.statistic][name] = sample
    best = {}
    for samples in rivals.values():
        if len(samples) > 1:
            best.update(_contest(samples, level))
    return best


def _contest(samples: dict[Name, Sample], level: float) -> dict[Name, bool]:
    sign = 1 if next(iter(samples.values())).statistic.higher_is_better else -1
    winner = max(samples, key=lambda name: sign * float(np.nanmean(list(samples[name].values.values()))))
    others = [name for name in samples if name != winner]
    found = [p_of_difference(samples[winner], samples[name]) for name in others]
    worse = [p is not None and p < 1 - level for p in holm(found)]
    return {winner: True, **{name: not lost for name, lost in zip(others, worse, strict=True)}}


def setting_pairs(block: Block) -> Iterator[tuple[Name, Name]]:
    """Every two settings by every statistic that both have."""
    same: dict[tuple[str, str], list[Name]] = defaultdict(list)
    for name in block:
        same[name.protocol, name.statistic].append(name)
    for names in same.values():
        yield from combinations(names, 2)


def chosen_pairs(first: str, second: str, known: Iterable[Name]) -> Pairs:
    """Two settings by all statistics, or two statistics, ``protocol/statistic``, of every setting.

    Raises:
        ConfigError: there is no such setting or statistic.
    """
    known = list(known)
    settings = {name.setting for name in known}
    statistics = {f"{name.protocol}/{name.statistic}" for name in known}
    for chosen in (settings, statistics):
        if {first, second} <= chosen:
            return lambda block: _pairs_of(block, first, second)
    wrong = next((name for name in (first, second) if name not in settings | statistics), None)
    if wrong is None:
        raise ConfigError(f"--compare {first} {second}: one is a setting and one a statistic")
    raise ConfigError(
        f"--compare {wrong}: no such setting ({', '.join(sorted(settings))}) "
        f"or protocol/statistic ({', '.join(sorted(statistics))})"
    )


def _pairs_of(block: Block, first: str, second: str) -> Iterator[tuple[Name, Name]]:
    for name in block:
        other = None
        if name.setting == first:
            other = Name(second, name.protocol, name.statistic)
        elif f"{name.protocol}/{name.statistic}" == first:
            other = Name(name.setting, *second.rsplit("/", 1))
        if other in block:
            yield name, other
