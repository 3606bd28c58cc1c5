"""All values of all cells as one long table, and their means over seeds with t intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from attnlab.report.cells import ResultCell
from attnlab.report.grid import Grid, Place
from attnlab.report.summary import of_each_class

GROUP = ("data", "setting", "protocol", "split", "statistic", "class")
"""Columns that all seeds of one number share."""

SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("data", "setting", "model", "attention", "vectors", "protocol", "split"), pl.String),
    **{"seed": pl.Int64, "key": pl.String, "statistic": pl.String, "class": pl.String, "value": pl.Float64},
    **{"n": pl.Int64, "measured": pl.Int64, "higher_is_better": pl.Boolean},
}


def long_frame(grid: Grid) -> pl.DataFrame:
    """One row per cell, statistic and class; ``class`` is null for the value over all instances.

    Classes are those of :func:`attnlab.report.summary.of_each_class`.

    Columns: ``data``, ``setting``, ``model``, ``attention``, ``vectors``, ``protocol``, ``split``, ``seed``, ``key``,
    ``statistic``, ``class``, ``value`` (null where it is not defined), ``n`` instances, ``measured`` ones,
    ``higher_is_better``.
    """
    rows = [row for place, cell in grid.cells.items() for row in _rows(place, cell)]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _rows(place: Place, cell: ResultCell) -> Iterator[tuple[Any, ...]]:
    setting = (place.data, place.setting, cell.model, cell.attention, cell.vectors, place.protocol, place.split)
    n, measured = cell.summary["n"], cell.summary["measured"]
    for name, about in cell.summary["statistics"].items():
        for group, value in ((None, about["all"]), *of_each_class(about).items()):
            yield *setting, place.seed, cell.key, name, group, value, n, measured, about["higher_is_better"]


def over_seeds(frame: pl.DataFrame, level: float = 0.95) -> pl.DataFrame:
    """Means over seeds with t intervals.

    Args:
        frame: As :func:`long_frame` gives it.
        level: Of the interval.

    Returns:
        One row per (data, setting, protocol, split, statistic, class): ``mean``, ``sd`` (with S - 1), ``seeds``
        (those where the value is defined), ``t_low`` and ``t_high`` (null for fewer than two), ``instances``,
        ``measured`` (mean over seeds), ``higher_is_better``.
    """
    # Student's t as scipy.stats has it, without the half second that loading scipy.stats takes.
    from scipy.special import stdtrit

    value = pl.col("value").fill_nan(None)
    found = frame.group_by(GROUP, maintain_order=True).agg(
        value.mean().alias("mean"),
        value.std().alias("sd"),
        value.count().cast(pl.Int64).alias("seeds"),
        pl.col("n").max().alias("instances"),
        pl.col("measured").mean(),
        pl.col("higher_is_better").first(),
    )
    seeds = found["seeds"].to_numpy().astype(float)
    reach = np.full(len(seeds), np.nan)
    several = seeds > 1
    reach[several] = stdtrit(seeds[several] - 1, (1 + level) / 2) / np.sqrt(seeds[several])
    half = pl.Series("half", reach, nan_to_null=True) * found["sd"]
    return found.with_columns((found["mean"] - half).alias("t_low"), (found["mean"] + half).alias("t_high"))
