"""One sweep from its plan to its end, and what the terminal shows of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from attnlab.errors import AttnlabError, ConfigError
from attnlab.launch.board import Board
from attnlab.launch.engine import Ending, make_engine
from attnlab.launch.plan import Plan, freeze
from attnlab.launch.scheduler import Policy
from attnlab.store.document import read_yaml, write_yaml
from attnlab.store.provenance import provenance

ENDINGS = {
    Ending.DONE: "all cells are done",
    Ending.INCOMPLETE: "not all cells are done",
    Ending.SUBMITTED: "submitted; `attnlab status` shows what becomes of them",
}
CODE = ("git_sha", "git_diff_sha256", "packages")
"""What tells one version of the code from another."""


def run_sweep(plan: Plan, folder: Path, config: Mapping[str, Any]) -> Ending:
    """Run what is missing of a sweep.

    Args:
        plan: What there is to do.
        folder: The sweep's folder.
        config: Of any of its cells: ``launcher`` and ``cluster`` say how it is run.

    Returns:
        Whether every cell is done, or will be by others.

    Raises:
        ConfigError: an option of the launcher is wrong.
    """
    console = Console(soft_wrap=True)
    policy = _policy(config["launcher"])
    engine = make_engine(config)
    folder.mkdir(parents=True, exist_ok=True)
    _note(folder, plan, console)
    for entry in (*plan.done, *plan.waiting):  # all at once: what waits is seen by `attnlab status`, and stays as it is
        freeze(folder / "cells", entry)
    console.print(f"{_counts(plan)}; {engine.describe()}", markup=False)
    for label, reason in plan.impossible:
        console.print(f"impossible: {label}: {reason}", style="yellow", markup=False)
    ending = Ending.DONE
    if plan.waiting:
        with Board(console, plan.waiting, folder / "cells") as board:
            ending = engine.run(plan.waiting, folder / "cells", policy, board.tell)
    if ending is Ending.DONE and plan.impossible:
        ending = Ending.INCOMPLETE
    console.print(f"{ENDINGS[ending]}: {folder}", markup=False)
    return ending


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
    console.print(_counts(plan))


def _counts(plan: Plan) -> str:
    seconds = [entry.seconds for entry in plan.waiting]
    known = [s for s in seconds if s is not None]
    cost = f"about {sum(known):.0f} s of work" if plan.waiting and len(known) == len(seconds) else "cost unknown"
    parts = [
        f"{len(plan.waiting) + len(plan.done)} cells: {len(plan.done)} done, {len(plan.waiting)} to run ({cost})",
        f"{len(plan.models)} models to train",
        f"{plan.duplicates} duplicates",
        f"{len(plan.impossible)} impossible",
    ]
    return ", ".join(parts)


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
