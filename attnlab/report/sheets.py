"""What a report shows: numbers with intervals, and comparisons."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from attnlab.report.comparing import smallest_p
from attnlab.report.grid import Place
from attnlab.report.sheet import USUAL_SPLIT, Column, Entry, Sheet, number, span, text
from attnlab.report.table import ARROWS

NUMBERS = (
    Column("data", ("data",)),
    Column("model", ("setting",)),
    Column("protocol", ("protocol",)),
    Column("split", ("split",)),
    Column("statistic", ("statistic",)),
    Column("mean", ("mean",), right=True),
    Column("t interval", ("t_low", "t_high"), right=True),
    Column("bootstrap", ("low", "high"), right=True),
    Column("seeds", ("seeds",), right=True),
    Column("instances", ("instances",), right=True),
    Column("measured", ("measured",), right=True),
)

COMPARED = (
    Column("data", ("data",)),
    Column("split", ("split",)),
    Column("of", ("statistic",)),
    Column("first", ("first",)),
    Column("second", ("second",)),
    Column("first − second", ("difference",), right=True),
    Column("bootstrap", ("low", "high"), right=True),
    Column("seeds", ("seeds",), right=True),
    Column("p sign-flip", ("p_flip", "p_flip_holm"), right=True),
    Column("p paired t", ("p_t", "p_t_holm"), right=True),
    Column("d", ("d",), right=True),
    Column("instances", ("instances",), right=True),
    Column("p Wilcoxon", ("p_instances", "p_instances_holm"), right=True),
    Column("r", ("r",), right=True),
)


def numbers_sheet(
    numbers: pl.DataFrame, level: float, notes: Sequence[str] = (), missing: Sequence[Place] = ()
) -> Sheet:
    """One row per number over all instances.

    Args:
        numbers: As :func:`attnlab.report.estimates.estimate` gives them.
        level: Of the intervals.
        notes: Lines to show under the table.
        missing: Places of the grid without a result, which are marked.
    """
    rows = list(numbers.filter(pl.col("class").is_null()).iter_rows(named=True))
    lacking = {(place.data, place.setting, place.protocol, place.split) for place in missing}
    keys = [(row["data"], row["setting"], row["protocol"], row["split"]) for row in rows]
    entries = [_numbers_row(row, key in lacking) for row, key in zip(rows, keys, strict=True)]
    entries += [_missing_row(*key) for key in sorted(lacking - set(keys))]
    title = f"mean over seeds, with {level:.0%} intervals: t over seeds, bootstrap over seeds and instances"
    explained = ["bold (or *): best, or not significantly worse than the best"] if numbers["best"].any() else []
    sections = frozenset(p for p in range(1, len(keys)) if keys[p][:2] != keys[p - 1][:2])
    return Sheet(title, NUMBERS, entries, sections, [*explained, *notes]).unless_all("split", USUAL_SPLIT)


def _numbers_row(row: Mapping[str, Any], lacking: bool) -> list[Entry]:
    seeds = number(row["seeds"], "d")
    name = row["statistic"]
    return [
        text(row["data"]),
        text(row["setting"]),
        text(row["protocol"]),
        text(row["split"]),
        Entry(name + ARROWS[row["higher_is_better"]], (name,)),
        number(row["mean"], ".4f", bool(row["best"])),
        span(row["t_low"], row["t_high"], ".4f"),
        span(row["low"], row["high"], ".4f"),
        Entry(f"{row['seeds']} (incomplete)", (row["seeds"],)) if lacking else seeds,
        number(row["instances"], "d"),
        number(row["measured"], ".10g"),
    ]


def _missing_row(*key: str) -> list[Entry]:
    empty = [Entry(None, (None,) * len(column.fields)) for column in NUMBERS[len(key) + 1 :]]
    return [*map(text, key), Entry("missing", (None,)), *empty]


def comparisons_sheet(comparisons: pl.DataFrame, level: float, notes: Sequence[str] = ()) -> Sheet:
    """One row per pair."""
    rows = list(comparisons.iter_rows(named=True))
    title = f"paired comparisons, {level:.0%} bootstrap intervals, p adjusted by Holm's rule within each statistic"
    compared = [_compared_row(row, 1 - level) for row in rows]
    return Sheet(title, COMPARED, compared, notes=[*_too_few(rows, level), *notes]).unless_all("split", USUAL_SPLIT)


def _compared_row(row: Mapping[str, Any], alpha: float) -> list[Entry]:
    def p(test: str) -> Entry:
        adjusted = row[f"{test}_holm"]
        shown = number(adjusted, ".2g")
        return Entry(shown.text, (row[test], adjusted), adjusted is not None and adjusted < alpha)

    return [
        *(text(row[name]) for name in ("data", "split", "statistic", "first", "second")),
        number(row["difference"], "+.4f"),
        span(row["low"], row["high"], "+.4f"),
        number(row["seeds"], "d"),
        p("p_flip"),
        p("p_t"),
        number(row["d"], ".2f"),
        number(row["instances"], "d"),
        p("p_instances"),
        number(row["r"], ".2f"),
    ]


def _too_few(rows: Iterable[Mapping[str, Any]], level: float) -> Iterable[str]:
    alpha = 1 - level
    few = max((row["seeds"] for row in rows if smallest_p(max(row["seeds"], 1)) > alpha), default=None)
    if few is not None:
        enough = next(n for n in range(1, 64) if smallest_p(n) <= alpha)
        least = smallest_p(max(1, few))
        yield (
            f"warning: with {few} common seed{'' if few == 1 else 's'} no sign-flip test over seeds can reach "
            f"p = {alpha:.2g} (the least is {least:.2g}); {enough} seeds can"
        )
