"""One sweep from its plan to its end, and what the terminal shows of it."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from attnlab.errors import AttnlabError, ConfigError
from attnlab.launch.cell import Cell
from attnlab.launch.plan import Entry, Plan, freeze
from attnlab.launch.scheduler import Outcome, Policy, Scheduler
from attnlab.launch.slots import make_slots
from attnlab.store.document import read_yaml, write_yaml
from attnlab.store.provenance import provenance

CODE = ("git_sha", "git_dirty", "packages")
"""What tells one version of the code from another."""


def run_sweep(plan: Plan, folder: Path, options: Mapping[str, Any]) -> bool:
    """Run what is missing of a sweep.

    Args:
        plan: What there is to do.
        folder: The sweep's folder.
        options: The ``launcher`` part of the configuration.

    Returns:
        Whether every cell is done.

    Raises:
        ConfigError: an option of the launcher is wrong.
    """
    console = Console(soft_wrap=True)
    policy = _policy(options)
    slots = make_slots(**{k: options[k] for k in ("workers", "gpus_per_job", "jobs_per_gpu", "threads_per_job")})
    folder.mkdir(parents=True, exist_ok=True)
    _note(folder, plan, console)
    for entry in (*plan.done, *plan.waiting):  # all at once: what waits is seen by `attnlab status`, and stays as it is
        freeze(folder / "cells", entry)
    console.print(_counts(plan, len(slots)))
    for label, reason in plan.impossible:
        console.print(f"impossible: {label}: {reason}", style="yellow", markup=False)
    with _Board(console, len(plan.waiting)) as board:
        complete = Scheduler(slots, folder / "cells", policy, board.tell).run(plan.waiting)
    complete = complete and not plan.impossible
    console.print(f"{'all cells are done' if complete else 'not all cells are done'}: {folder}", markup=False)
    return complete


def show_plan(plan: Plan) -> None:
    """Print what a sweep would do."""
    console = Console(soft_wrap=True)
    table = Table("cell", "model", "state", "expected", box=None)
    for state, entries in (("done", plan.done), ("to run", plan.waiting)):
        for entry in entries:
            cost = "–" if state == "done" else "unknown" if entry.seconds is None else f"{entry.seconds:.0f} s"
            table.add_row(escape(entry.label), entry.job.model_key[:8], state, cost)
    for label, reason in plan.impossible:
        table.add_row(escape(label), "–", escape(f"impossible: {reason}"), "–")
    console.print(table)
    console.print(_counts(plan, None))


def _counts(plan: Plan, slots: int | None) -> str:
    seconds = [entry.seconds for entry in plan.waiting]
    known = [s for s in seconds if s is not None]
    cost = f"about {sum(known):.0f} s of work" if plan.waiting and len(known) == len(seconds) else "cost unknown"
    parts = [
        f"{len(plan.waiting) + len(plan.done)} cells: {len(plan.done)} done, {len(plan.waiting)} to run ({cost})",
        f"{len(plan.models)} models to train",
        f"{plan.duplicates} duplicates",
        f"{len(plan.impossible)} impossible",
    ]
    return ", ".join(parts) + (f"; {slots} at a time" if slots else "")


def _policy(options: Mapping[str, Any]) -> Policy:
    if options["on_error"] not in ("continue", "stop"):
        raise ConfigError(f"launcher.on_error={options['on_error']}: choose continue or stop")
    return Policy(options["on_error"], options["max_failures"], dict(options["retries"]))


def _note(folder: Path, plan: Plan, console: Console) -> None:
    """Write down where the sweep comes from; when it goes on under other code, say so."""
    now, path = provenance(), folder / "sweep.yaml"
    if path.exists():
        try:
            before = read_yaml(path)
        except AttnlabError as error:
            console.print(str(error), style="yellow", markup=False)
            return
        changed = [name for name in CODE if before.get(name) != now.get(name)]
        if changed:
            console.print(f"resumed under other code than before ({', '.join(changed)})", style="yellow")
        return
    asked = [list(entry.overrides) for entry in (*plan.done, *plan.waiting)]
    write_yaml(path, {**now, "cells": asked})


class _Board:
    """Progress on a terminal, plain lines elsewhere; a failure is a line at once."""

    def __init__(self, console: Console, total: int) -> None:
        self.console = console
        columns = (TextColumn("cells"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self.task = self.progress.add_task("cells", total=total)
        self.ended, self.total, self.start = 0, total, time.perf_counter()

    def __enter__(self) -> "_Board":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def tell(self, entry: Entry, cell: Cell, outcome: Outcome) -> None:
        """Show how a cell ended."""
        self.ended += outcome != "retried"
        self.progress.update(self.task, completed=self.ended)
        if outcome == "done":
            if not self.console.is_terminal:
                self.console.print(f"done {self.ended}/{self.total}: {entry.label}", markup=False)
            return
        error = cell.error or {"type": "killed", "message": "the process was ended from outside"}
        line = f"{outcome}: {entry.label}: {error['type']}: {error['message']} (log: {cell.log})"
        self.console.print(line, style="red", markup=False)
