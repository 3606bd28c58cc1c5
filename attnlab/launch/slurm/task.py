"""What SLURM runs: one cell, or the training that several wait for, in a process below this one."""

import os
import shutil
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from attnlab.launch.cell import Cell, write_error
from attnlab.launch.pool import signal_group
from attnlab.launch.scheduler import Policy
from attnlab.launch.worker import GRACE_SECONDS, start_below


class Task:
    """A task of an array. submitit keeps it until SLURM starts it, and after a preemption or a time limit again.

    The work is done by a process of its own, in which nothing is left of SLURM's variables: Lightning would take
    them for an order to form a group of processes.

    Args:
        folders: Of the cell; or of the training, and of every cell that needs its model.
        policy: How often the work is begun again, in the same allocation.
        trains: Whether to train and measure nothing.
    """

    def __init__(self, folders: tuple[str, ...], policy: Policy, trains: bool = False) -> None:
        self.folders = folders
        self.policy = policy
        self.trains = trains

    def __call__(self) -> None:
        """Do it; the process exits with 1 when it fails, so that SLURM counts it as failed."""
        try:
            code = self._work()
        except Exception as error:  # submitit's own, when the time limit came once too often
            self._fail(error)
            raise
        if code < 0:
            self._fail(RuntimeError(f"ended by signal {-code}{' (out of memory?)' if code == -signal.SIGKILL else ''}"))
        elif code and self.trains:
            self._fail(None)
        if code:
            sys.exit(1)

    def _work(self) -> int:
        """Do it, again as often as the policy says; its exit code."""
        tries = 0
        while (code := self._try()) and tries < self._tries_more(code):
            tries += 1
            print(f"exit code {code}: begun again, for the {tries}. time", flush=True)
            (Path(self.folders[0]) / "error.json").unlink(missing_ok=True)
        return code

    def _try(self) -> int:
        cores = os.environ.get("SLURM_CPUS_PER_TASK") or len(os.sched_getaffinity(0))
        process = start_below(self.folders[0], int(cores), self.trains)
        _children.append(process)
        process.join()
        return process.exitcode or 0

    def _tries_more(self, code: int) -> int:
        if code == -signal.SIGTERM:  # SLURM's, for what it cancels
            return 0
        return self.policy.retries_after(Cell(Path(self.folders[0])), code)

    def checkpoint(self) -> Any:  # noqa: ANN401 - submitit has no types
        """End the work, which left checkpoints of its own, and ask for the same again."""
        from submitit.helpers import DelayedSubmission

        for process in _children:
            signal_group(process, signal.SIGTERM)
            process.join(GRACE_SECONDS)
            signal_group(process, signal.SIGKILL)
        return DelayedSubmission(self)

    def _fail(self, error: Exception | None) -> None:
        """Write down why its cells cannot be done, where the work itself could not."""
        first, *others = (Path(folder) for folder in self.folders)
        if error is not None:
            write_error(first, error)
        (first / "heartbeat.json").unlink(missing_ok=True)
        for folder in others:
            shutil.copyfile(first / "error.json", folder / "error.json")
            with (folder / "output.log").open("a", encoding="utf-8") as log:
                log.write(f"a model that it needs was not trained: {first / 'output.log'}\n")


_children: list[BaseProcess] = []
"""The process that does the work, where a signal can find it."""
