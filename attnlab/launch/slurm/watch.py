"""Waiting for cells that SLURM runs. What became of them is read from their folders, not from SLURM."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.launch.cell import Cell
from attnlab.launch.plan import Entry
from attnlab.launch.scheduler import Outcome, Policy, Tell
from attnlab.launch.slurm.queue import Queued, queue

PATIENCE = 3
"""How often in a row a cell must be missing from the queue: results may arrive late on a shared file system."""


@dataclass
class Watched:
    """A cell and the job that runs it.

    Attributes:
        entry: The cell.
        folder: Its folder.
        job: SLURM's number.
        missed: How often in a row the queue did not have it.
    """

    entry: Entry
    folder: Path
    job: str
    missed: int = 0


def watch(watched: Sequence[Watched], policy: Policy, tell: Tell, seconds: float) -> tuple[int, list[Watched]]:
    """Wait for cells to end.

    Args:
        watched: Submitted cells.
        policy: When failures end the wait.
        tell: Called with each cell that ends.
        seconds: Between two looks.

    Returns:
        How many failed, and those that the policy did not wait for.
    """
    left, failures = list(watched), 0
    while left:
        known = queue()
        for item in list(left):
            outcome = _outcome(item, known)
            if outcome:
                left.remove(item)
                failures += outcome == "failed"
                tell(item.entry, Cell(item.folder), outcome)
        if policy.stops(failures):
            break
        if left:
            time.sleep(seconds)
    return failures, left


def _outcome(item: Watched, known: dict[str, Queued] | None) -> Outcome | None:
    if not item.entry.job.missing:
        return "done"
    if (item.folder / "error.json").exists() and not _may_try_again(item, known):
        return "failed"
    if known is not None:
        item.missed = 0 if item.job in known else item.missed + 1
    return "failed" if item.missed >= PATIENCE else None


def _may_try_again(item: Watched, known: dict[str, Queued] | None) -> bool:
    """Whether its task is still there, which begins again what failed for some causes."""
    return known is not None and item.job in known and known[item.job].state == "RUNNING"
