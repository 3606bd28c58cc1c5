"""Runs the cells of a plan, each in a process of its own, on the slots of this machine."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Literal

from attnlab.launch.cell import Cell
from attnlab.launch.plan import Entry, freeze, is_running_elsewhere
from attnlab.launch.slots import Slot
from attnlab.launch.worker import GRACE_SECONDS, work

Outcome = Literal["done", "failed", "retried"]


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


@dataclass
class Running:
    """A cell in its process."""

    entry: Entry
    cell: Cell
    process: BaseProcess
    slot: Slot


class Scheduler:
    """Keeps every slot busy until no cell is left.

    A cell whose model is being trained by another waits without a slot; when that one fails, the next cell of the model
    trains it.

    Args:
        slots: Where jobs run.
        cells: The sweep's folder of cells.
        policy: What happens when a cell fails.
        tell: Called with each cell that ends and what became of it.
    """

    def __init__(
        self, slots: Sequence[Slot], cells: Path, policy: Policy, tell: Callable[[Entry, Cell, Outcome], None]
    ) -> None:
        self.free = list(slots)
        self.cells = cells
        self.policy = policy
        self.tell = tell
        self.running: list[Running] = []
        self.failures = 0
        self.tries: dict[str, int] = {}
        self.context = fork_server()

    def run(self, waiting: Sequence[Entry]) -> bool:
        """Run the cells, in order as far as their models allow.

        Returns:
            Whether all of them are done.
        """
        queue = list(waiting)
        try:
            while self.running or (queue and not self._stopped()):
                if not self._stopped():
                    self._start_ready(queue)
                self._collect(queue)
        except BaseException:
            self._end_all()
            raise
        return not queue and not self.failures

    def _stopped(self) -> bool:
        if self.failures and self.policy.on_error == "stop":
            return True
        return self.policy.max_failures is not None and self.failures >= self.policy.max_failures

    def _start_ready(self, queue: list[Entry]) -> None:
        for entry in list(queue):
            if not self.free:
                return
            if self._ready(entry):
                cell = freeze(self.cells, entry)
                if is_running_elsewhere(cell):
                    continue
                queue.remove(entry)
                self._start(entry, cell, self.free.pop(0))

    def _ready(self, entry: Entry) -> bool:
        key = entry.job.model_key
        return entry.job.store.has("models", key) or all(r.entry.job.model_key != key for r in self.running)

    def _start(self, entry: Entry, cell: Cell, slot: Slot) -> None:
        process = self.context.Process(target=work, args=(str(cell.folder), slot.devices, slot.threads))
        process.start()
        self.running.append(Running(entry, cell, process, slot))

    def _collect(self, queue: list[Entry]) -> None:
        # Also woken now and then, for cells that a process outside of this sweep is at.
        wait([running.process.sentinel for running in self.running], timeout=1.0)
        for running in [r for r in self.running if not r.process.is_alive()]:
            running.process.join()
            self.running.remove(running)
            self.free.append(running.slot)
            self._judge(running, queue)

    def _judge(self, running: Running, queue: list[Entry]) -> None:
        if not running.entry.job.missing:
            self.tell(running.entry, running.cell, "done")
        elif self._may_retry(running):
            queue.insert(0, running.entry)
            self.tell(running.entry, running.cell, "retried")
        else:
            self.failures += 1
            self.tell(running.entry, running.cell, "failed")

    def _may_retry(self, running: Running) -> bool:
        error = running.cell.error
        memory = error is not None and error["type"] in ("OutOfMemoryError", "MemoryError")
        cause = "killed" if (running.process.exitcode or 0) < 0 else "oom" if memory else ""
        tries = self.tries.get(running.cell.id, 0)
        self.tries[running.cell.id] = tries + 1
        return tries < self.policy.retries.get(cause, 0)

    def _end_all(self) -> None:
        """End what runs: its whole process group, politely first."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for running in self.running:
                _signal_group(running.process, sign)
            deadline = time.monotonic() + GRACE_SECONDS
            while any(r.process.is_alive() for r in self.running) and time.monotonic() < deadline:
                time.sleep(0.05)


def fork_server() -> Any:  # noqa: ANN401 - a context of multiprocessing
    """The context whose processes are forked from a server that has imported everything; the server starts now.

    It imports while the caller goes on. Called again, it gives the same server.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["attnlab.launch.preload"])
    forkserver.ensure_running()
    return context


def _signal_group(process: BaseProcess, sign: signal.Signals) -> None:
    if process.pid is None or not process.is_alive():
        return
    try:
        os.killpg(process.pid, sign)
    except (ProcessLookupError, PermissionError):
        process.kill()
