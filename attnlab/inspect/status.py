"""``attnlab status``: what became of a sweep's cells."""

import argparse
import json
import os
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from attnlab.errors import StoreError
from attnlab.inspect.cells import CellState, read_cells
from attnlab.inspect.places import output_directory
from attnlab.inspect.queued import with_queue
from attnlab.inspect.text import seconds_text, warn
from attnlab.launch.cell import State
from attnlab.store.document import read_yaml

MEASURED = 500
"""Finished cells whose seconds are read, evenly spaced: more would not change the estimate."""

WIDEST = 160
"""Characters of an error message that are shown."""


def main(arguments: Sequence[str]) -> int:
    """Show a sweep."""
    options = _parser().parse_args(arguments)
    sweep = find_sweep(options.sweep)
    cells, problems = read_cells(sweep)
    cells, queued = with_queue(cells)
    counts = Counter(cell.state for cell in cells)
    if options.json:
        print(json.dumps(_as_json(sweep, cells), ensure_ascii=False))
    else:
        print("\n".join(report(sweep, cells, counts, queued)))
    warn(problems)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attnlab status", description="Show what became of a sweep's cells.")
    parser.add_argument("sweep", nargs="?", help="folder, or its name under outputs/sweeps (default: the newest)")
    parser.add_argument("--json", action="store_true", help="state and folder of every cell, as JSON")
    return parser


def find_sweep(name: str | None) -> Path:
    """Folder of a sweep.

    Raises:
        StoreError: there is none.
    """
    root = output_directory() / "sweeps"
    if name:
        places = [Path(name), root / name]
        found = [place for place in places if (place / "cells").is_dir()]
        if not found:
            known = ", ".join(str(path.relative_to(root)) for path in sweeps(root)[:5]) or "none"
            raise StoreError(f"{name}: no sweep there or under {root} (newest: {known})")
        return found[0]
    newest = sweeps(root)
    if not newest:
        raise StoreError(f"no sweep under {root}; name a folder: attnlab status FOLDER")
    return newest[0]


def sweeps(root: Path) -> list[Path]:
    """Folders of sweeps, the newest first."""
    found = [path.parent for pattern in ("*/cells", "*/*/cells") for path in root.glob(pattern)]
    return sorted(found, key=_last_change, reverse=True)


def _last_change(sweep: Path) -> float:
    return max(path.stat().st_mtime for path in (sweep, sweep / "cells", sweep / "sweep.yaml") if path.exists())


def report(sweep: Path, cells: Sequence[CellState], counts: Counter[State], queued: str = "") -> Iterator[str]:
    """Lines about a sweep: counts, what is left, a cluster's queue, failures."""
    about = _about(sweep / "sweep.yaml")
    yield f"{sweep}: {len(cells)} cells"
    yield "  " + "  ".join(f"{state} {counts[state]}" for state in reversed(State))
    if counts[State.DONE] < len(cells):
        yield "  " + remaining(cells).text()
    if queued:
        yield "  " + queued
    yield from _failures([cell for cell in cells if cell.state is State.FAILED])
    dead = [cell for cell in cells if cell.state is State.DEAD]
    if dead:
        yield f"{len(dead)} died without a word, such as {_log(dead[0])}"
    if counts[State.FAILED] + counts[State.DEAD] and about.get("command"):
        yield f"run the missing cells: {_command(about['command'])}"


@dataclass(frozen=True)
class Remaining:
    """Work that is left.

    Attributes:
        seconds: Of all unfinished cells together; None where no cell was measured.
        running: Cells that run now.
        measured: Cells that the estimate comes from.
    """

    seconds: float | None
    running: int
    measured: int

    def text(self) -> str:
        """One line."""
        if self.seconds is None:
            return "ETA unknown: no cell has been measured yet"
        source = f"from the seconds of {self.measured} cell{'s' if self.measured > 1 else ''}"
        if not self.running:
            return f"{seconds_text(self.seconds)} of work left, {source}; nothing is running"
        return f"ETA {seconds_text(self.seconds / self.running)}, {source}, {self.running} running"


def remaining(cells: Sequence[CellState]) -> Remaining:
    """Estimate what is left from the seconds of finished cells with the same data and model, else of all."""
    measured = defaultdict(list)
    finished = [cell for cell in cells if cell.state is State.DONE and "done.json" in cell.files]
    for cell in finished[:: max(len(finished) // MEASURED, 1)]:
        seconds = cell.read("done.json").get("seconds")
        if isinstance(seconds, int | float):
            measured[cell.kind].append(float(seconds))
    everything = [seconds for group in measured.values() for seconds in group]
    running = [cell for cell in cells if cell.state is State.ALIVE]
    if not everything:
        return Remaining(None, len(running), 0)
    means = {kind: fmean(group) for kind, group in measured.items()}
    fallback = fmean(everything)
    waiting = [cell for cell in cells if cell.state in (State.WAITING, State.QUEUED, State.DEAD)]
    left = sum(means.get(cell.kind, fallback) for cell in waiting)
    left += sum(max(means.get(cell.kind, fallback) - cell.running_for(), 0.0) for cell in running)
    return Remaining(left, len(running), len(everything))


def _failures(failed: Sequence[CellState]) -> Iterator[str]:
    groups: dict[str, list[CellState]] = defaultdict(list)
    for cell in failed:
        groups[_error(cell)].append(cell)
    if failed:
        yield f"{len(failed)} failed:"
    for error, group in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield f"  {len(group)} x {error}"
        yield f"      {_log(group[0])}"


def _error(cell: CellState) -> str:
    error = cell.read("error.json")
    if not error:
        return "error.json cannot be read"
    message = " ".join(str(error.get("message", "")).split())
    shown = message if len(message) <= WIDEST else message[: WIDEST - 1] + "…"
    return f"{error.get('type', 'unknown')}: {shown}"


def _log(cell: CellState) -> str:
    return str(cell.folder / ("output.log" if "output.log" in cell.files else ""))


def _about(path: Path) -> dict[str, Any]:
    """Content of ``sweep.yaml``; empty when it is damaged or not there."""
    try:
        content = read_yaml(path)
    except StoreError:
        return {}
    return content if isinstance(content, dict) else {}


def _command(command: Any) -> str:  # noqa: ANN401 - as it stands in the file
    if not isinstance(command, list):
        return str(command)
    program, *arguments = map(str, command)
    name = "attnlab" if os.path.basename(program) in ("attnlab", "__main__.py") else program
    return shlex.join([name, *arguments])


def _as_json(sweep: Path, cells: Sequence[CellState]) -> dict[str, Any]:
    left = remaining(cells)
    return {
        "sweep": str(sweep),
        "seconds_left": left.seconds,
        "running": left.running,
        "cells": [
            {
                "id": cell.folder.name,
                "state": str(cell.state),
                "folder": str(cell.folder),
                "choices": cell.keys["choices"],
                "seed": cell.keys.get("seed"),
                **({"error": _error(cell)} if cell.state is State.FAILED else {}),
            }
            for cell in cells
        ],
    }
