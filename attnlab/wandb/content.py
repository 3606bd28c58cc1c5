"""What a run holds: a training curve, or a result's statistics, records and figures."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.errors import StoreError
from attnlab.report.flat import flat_table
from attnlab.results import Result
from attnlab.wandb.start import asking

if TYPE_CHECKING:
    from wandb import Run

STEP = "trainer/global_step"
"""Optimiser steps, as Lightning's WandbLogger calls them; the horizontal axis of training curves."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Content:
    """What is logged to a run.

    Attributes:
        rows: One for each step of W&B's, in order.
        summary: Values beside those that the rows leave.
    """

    rows: tuple[Row, ...]
    summary: Row

    def log_all(self, run: "Run") -> None:
        """Log it after whatever the run holds.

        Raises:
            UnreachableError: W&B did not take it.
        """
        with asking("take what was logged"):
            run.summary.update(self.summary)
            for row in self.rows:
                run.log(row)

    def log_missing(self, run: "Run") -> None:
        """Log what a continued run does not hold yet, so that logging twice leaves what logging once does.

        Raises:
            UnreachableError: W&B did not take it.
        """
        with asking("take what was logged"):
            run.summary.update(self.summary)
            for step, row in enumerate(self.rows):
                if step >= run.starting_step:
                    run.log(row, step=step)


def use_training_steps(run: "Run") -> None:
    """Draw curves over optimiser steps, as Lightning's WandbLogger has it for runs that it starts itself."""
    run.define_metric(STEP)
    run.define_metric("*", step_metric=STEP, step_sync=True)


def training_content(model: Path) -> Content:
    """The training curve of a model, as it was streamed while it was trained.

    Args:
        model: Entry of the store.

    Raises:
        StoreError: the curve is missing or damaged.
    """
    path = model / "metrics.csv"
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            return Content(tuple(_curve_row(row) for row in csv.DictReader(handle)), {})
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        raise StoreError(f"{path} cannot be read ({error}); remove {model} and run again") from error


def _curve_row(row: Mapping[str, str]) -> Row:
    values = {name: _number(text) for name, text in row.items() if text != "" and name != "step"}
    return {**values, STEP: int(row["step"])}


def _number(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def result_content(result: Result, max_rows: int) -> Content:
    """Statistics, the first rows of the records, and the figures of a result.

    Args:
        result: The result.
        max_rows: Rows of the records that are shown.

    Raises:
        StoreError: a file of the result is missing or damaged.
    """
    import wandb

    try:
        statistics = {name: s["all"] for name, s in result.summary["statistics"].items()}
        values = _prefixed(result.protocol, {**statistics, "measured": result.summary["measured"]})
        figures = {path.stem: wandb.Image(str(path)) for path in result.figures}
    except (KeyError, TypeError, AttributeError, OSError) as error:
        raise StoreError(f"{result.folder} is damaged ({error!r}); remove it and run again") from error
    rows = flat_table(result.records.slice(0, max_rows))
    table = wandb.Table(columns=rows.column_names, data=[list(row.values()) for row in rows.to_pylist()])
    # W&B draws, and optimises in a sweep, what is logged; the summary alone keeps what could not be measured.
    logged = {name: value for name, value in values.items() if value is not None}
    return Content(({**logged, **_prefixed(result.protocol, {"records": table, **figures})},), values)


def logged_name(of: str, name: str) -> str:
    """Key under which a value of a protocol is logged: W&B makes a section of what stands before the slash."""
    return f"{of}/{name}"


def _prefixed(protocol: str, values: Row) -> dict[str, Any]:
    return {logged_name(protocol, name): value for name, value in values.items()}
