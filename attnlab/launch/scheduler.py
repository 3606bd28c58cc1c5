"""Runs the cells of a plan in a pool, each in a process of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from attnlab.launch.cell import Cell
from attnlab.launch.plan import Entry, freeze, is_running_elsewhere
from attnlab.launch.pool import Pool

Outcome = Literal["done", "failed", "retried"]

Tell = Callable[[Entry, Cell, Outcome], None]
"""Called with each cell that ends and what became of it."""


@dataclass(frozen=True)
class Policy:
    """What happens when a cell fails.

    Attributes:
        on_error: ``continue`` with the other cells, or ``stop`` after those that run.
        max_failures: Stop when so many cells have failed; None for no bound.
        retries: How often a cell is tried again, by cause: ``killed`` (by a signal), ``oom``.
    """

    on_error: Literal["continue", "stop"] = "continue"
    max_failures: int | None = None
    retries: dict[str, int] = field(default_factory=dict)

    def stops(self, failures: int) -> bool:
        """Whether nothing more is begun after so many failures."""
        if failures and self.on_error == "stop":
            return True
        return self.max_failures is not None and failures >= self.max_failures

    def retries_after(self, cell: Cell, code: int) -> int:
        """How often a cell that ended with this exit code is tried again in all, by the cause it ended for."""
        error = cell.error
        memory = error is not None and error["type"] in ("OutOfMemoryError", "MemoryError")
        return self.retries.get("killed" if code < 0 else "oom" if memory else "", 0)


class Scheduler:
    """Keeps a pool busy until no cell is left.

    A cell that needs a model which another trains waits without a place in the pool; when that one fails, the next cell
    of the model trains it.

    Args:
        pool: Where jobs run.
        cells: The sweep's folder of cells.
        policy: What happens when a cell fails.
        tell: Called with each cell that ends and what became of it.
    """

    def __init__(self, pool: Pool, cells: Path, policy: Policy, tell: Tell) -> None:
        self.pool = pool
        self.cells = cells
        self.policy = policy
        self.tell = tell
        self.running: dict[Path, Entry] = {}
        self.failures = 0
        self.tries: dict[str, int] = {}

    def run(self, waiting: Sequence[Entry]) -> bool:
        """Run the cells, in order as far as their models allow.

        Returns:
            Whether all of them are done.
        """
        queue = list(waiting)
        try:
            while self.running or (queue and not self.policy.stops(self.failures)):
                if not self.policy.stops(self.failures):
                    self._start_ready(queue)
                # Also woken now and then, for cells that a process outside of this sweep is at.
                for folder, code in self.pool.ended(timeout=1.0):
                    self._judge(self.running.pop(folder), Cell(folder), code, queue)
        except BaseException:
            self.pool.end_all()
            raise
        return not queue and not self.failures

    def _start_ready(self, queue: list[Entry]) -> None:
        for entry in list(queue):
            if not self.pool.has_room():
                return
            if self._ready(entry):
                cell = freeze(self.cells, entry)
                if is_running_elsewhere(cell):
                    continue
                queue.remove(entry)
                self.pool.start(cell.folder)
                self.running[cell.folder] = entry

    def _ready(self, entry: Entry) -> bool:
        awaited = _untrained(entry)
        return not awaited or all(awaited.isdisjoint(_untrained(other)) for other in self.running.values())

    def _judge(self, entry: Entry, cell: Cell, code: int, queue: list[Entry]) -> None:
        if not entry.job.missing:
            self.tell(entry, cell, "done")
        elif self._may_retry(cell, code):
            queue.insert(0, entry)
            self.tell(entry, cell, "retried")
        else:
            self.failures += 1
            self.tell(entry, cell, "failed")

    def _may_retry(self, cell: Cell, code: int) -> bool:
        tries = self.tries.get(cell.id, 0)
        self.tries[cell.id] = tries + 1
        return tries < self.policy.retries_after(cell, code)


def _untrained(entry: Entry) -> set[str]:
    return {job.model_key for job in entry.job.untrained}
