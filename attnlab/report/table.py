"""The result table that a job prints."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from attnlab.report.summary import of_each_class

ARROWS = {True: " ↑", False: " ↓", None: ""}

OTHER_COLUMNS = 54
"""Characters that the columns without classes take; classes that do not fit beside them stay in the summaries."""


DESCRIBED_FROM = 130
"""Terminals at least this wide show what each statistic says."""


def result_table(summaries: Mapping[str, Mapping[str, Any]], width: int = 80) -> Table:
    """One row per protocol and statistic: over all instances, and by predicted class.

    Args:
        summaries: Summary of each protocol, by its name.
        width: Columns of the terminal.
    """
    classes = _classes(summaries.values(), width)
    table = Table(caption=_exclusions(summaries), caption_justify="left")
    table.box, table.padding, table.pad_edge = SIMPLE_HEAD, (0, 1, 0, 0), False
    table.add_column("protocol", no_wrap=True)
    table.add_column("statistic", no_wrap=True)
    for name in ("all", *classes):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    described = width >= DESCRIBED_FROM
    if described:
        table.add_column("what it says", style="dim")
    for protocol, summary in summaries.items():
        _add_protocol(table, protocol, summary, classes, described)
    return table


def _add_protocol(
    table: Table, protocol: str, summary: Mapping[str, Any], classes: Sequence[str], described: bool
) -> None:
    rows = list(summary["statistics"].items())
    for position, (name, statistic) in enumerate(rows):
        by_class = [format_number(of_each_class(statistic).get(c)) for c in classes]
        table.add_row(
            protocol if position == 0 else "",
            name + ARROWS[statistic["higher_is_better"]],
            format_number(statistic["all"]),
            *by_class,
            str(summary["measured"]) if position == 0 else "",
            *([statistic["description"]] if described else []),
            end_section=position == len(rows) - 1,
        )


def format_number(value: float | None) -> str:
    """Four significant places after the point; a dash for what is not there."""
    return "–" if value is None else f"{value:.4f}"


def _classes(summaries: Iterable[Mapping[str, Any]], width: int) -> list[str]:
    names = dict.fromkeys(
        name for summary in summaries for s in summary["statistics"].values() for name in of_each_class(s)
    )
    needed = OTHER_COLUMNS + sum(max(len(name), 7) + 1 for name in names)
    return list(names) if needed <= width else []


def _exclusions(summaries: Mapping[str, Mapping[str, Any]]) -> str | None:
    lines = [
        f"{protocol}: {count} of {summary['n']} not measured, {reason}"
        for protocol, summary in summaries.items()
        for reason, count in summary["excluded"].items()
    ]
    return "\n".join(lines) or None
