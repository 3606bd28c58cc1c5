"""Where the scheduler's jobs run."""

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Protocol

from hydra.core.utils import env_override

from attnlab.launch.slots import Slot
from attnlab.launch.worker import GRACE_SECONDS, work


class Pool(Protocol):
    """Takes cells and tells when they end."""

    def has_room(self) -> bool:
        """Whether another cell can be started now."""
        ...

    def start(self, cell: Path) -> None:
        """Begin a cell, given by its folder."""
        ...

    def ended(self, timeout: float) -> list[tuple[Path, int]]:
        """Cells that ended since the last call, with their exit codes; waits for one, at most so many seconds."""
        ...

    def end_all(self) -> None:
        """End what runs."""
        ...


@dataclass
class _Running:
    cell: Path
    process: BaseProcess
    slot: Slot


class LocalPool:
    """Processes of this machine, each on a slot of its own.

    Args:
        slots: Where jobs run.
    """

    def __init__(self, slots: Sequence[Slot]) -> None:
        self.free = list(slots)
        self.running: list[_Running] = []
        self.context = fork_server()

    def has_room(self) -> bool:
        """Whether a slot is free."""
        return bool(self.free)

    def start(self, cell: Path) -> None:
        """Fork a process for a cell."""
        slot = self.free.pop(0)
        process = self.context.Process(target=work, args=(str(cell), slot.devices, slot.threads))
        process.start()
        self.running.append(_Running(cell, process, slot))

    def ended(self, timeout: float) -> list[tuple[Path, int]]:
        """Cells whose process ended; the code of one that a signal ended is negative."""
        wait([running.process.sentinel for running in self.running], timeout=timeout)
        found = [running for running in self.running if not running.process.is_alive()]
        for running in found:
            running.process.join()
            self.running.remove(running)
            self.free.append(running.slot)
        return [(running.cell, running.process.exitcode or 0) for running in found]

    def end_all(self) -> None:
        """End every process with all that it started, politely first."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for running in self.running:
                signal_group(running.process, sign)
            deadline = time.monotonic() + GRACE_SECONDS
            while any(r.process.is_alive() for r in self.running) and time.monotonic() < deadline:
                time.sleep(0.05)


def fork_server() -> Any:  # noqa: ANN401 - a context of multiprocessing
    """The context whose processes are forked from a server that has imported everything; the server starts now.

    It imports while the caller goes on. Called again, it gives the same server.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["attnlab.launch.preload"])
    with env_override({"OMP_NUM_THREADS": "1"}):  # libraries of numbers start their threads when they are imported
        forkserver.ensure_running()
    return context


def signal_group(process: BaseProcess, sign: signal.Signals) -> None:
    """Send a signal to a process that leads a group, and to its group."""
    if process.pid is None or not process.is_alive():
        return
    try:
        os.killpg(process.pid, sign)
    except (ProcessLookupError, PermissionError):
        process.kill()
