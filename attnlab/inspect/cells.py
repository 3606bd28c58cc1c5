"""States of a sweep's cells, read quickly from the disk."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.errors import AttnlabError, StoreError
from attnlab.inspect.entries import keys
from attnlab.launch.cell import Cell, State, keys_of
from attnlab.store import Store


@dataclass(frozen=True)
class CellState:
    """A cell as it is now.

    Attributes:
        folder: Of the cell.
        state: What became of it.
        keys: Content of ``cell.json``.
        files: Names of the files in its folder.
    """

    folder: Path
    state: State
    keys: Mapping[str, Any]
    files: frozenset[str]

    @property
    def kind(self) -> tuple[str, ...]:
        """What its seconds depend on most."""
        names = ("data", "model")
        return tuple(str(self.keys["choices"].get(name)) for name in names)

    def read(self, name: str) -> dict[str, Any]:
        """One of its JSON files; empty when it is damaged or not there."""
        if name not in self.files:
            return {}
        try:
            content = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def running_for(self) -> float:
        """Seconds since a running cell started."""
        started = self.read("heartbeat.json").get("started")
        return max(time.time() - started, 0.0) if isinstance(started, int | float) else 0.0


def read_cells(sweep: Path) -> tuple[list[CellState], list[str]]:
    """Cells of a sweep, and a line about each folder that could not be read.

    Args:
        sweep: Folder that holds ``cells/``.
    """
    results: dict[str, frozenset[str]] = {}
    cells, problems = [], []
    for folder in _folders(sweep / "cells"):
        try:
            cells.append(_read(folder, results))
        except (AttnlabError, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{folder} cannot be read as a cell ({' '.join(str(error).split()) or repr(error)})")
    return cells, problems


def _folders(cells: Path) -> Iterator[str]:
    try:
        with os.scandir(cells) as found:
            yield from sorted(entry.path for entry in found if entry.is_dir())
    except OSError as error:
        raise StoreError(f"{cells} cannot be read: {error.strerror}") from error


def _read(folder: str, results: dict[str, frozenset[str]]) -> CellState:
    with os.scandir(folder) as found:
        files = frozenset(entry.name for entry in found)
    content = _keys(folder, files)
    store = content["store"]
    if store not in results:
        results[store] = frozenset(keys(Store(store), "results"))
    return CellState(Path(folder), _state(folder, files, content, results[store]), content, files)


def _keys(folder: str, files: frozenset[str]) -> dict[str, Any]:
    if "cell.json" not in files:
        return keys_of(Cell(Path(folder)).job)
    with open(os.path.join(folder, "cell.json"), "rb") as handle:
        content: dict[str, Any] = json.loads(handle.read())
    content["choices"].get  # noqa: B018 - a cell's file has it, whatever else this is
    return content


def _state(folder: str, files: frozenset[str], content: Mapping[str, Any], have: frozenset[str]) -> State:
    if have.issuperset(content["results"].values()):
        return State.DONE
    if not files & {"error.json", "heartbeat.json"}:
        return State.WAITING
    return Cell(Path(folder)).unfinished_state()
