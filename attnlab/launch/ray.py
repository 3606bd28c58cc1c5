"""A Ray cluster as the place where a sweep runs."""

import contextlib
import importlib.util
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError
from attnlab.launch.engine import Ending
from attnlab.launch.plan import Entry
from attnlab.launch.scheduler import Policy, Scheduler, Tell
from attnlab.launch.worker import start_below


class Ray:
    """Runs the cells of a sweep as tasks of Ray, each in a process of its own below the task.

    Every node must see the same file system under the same paths, and have attnlab installed. The sweep's command has
    to stay: when it ends, Ray ends the tasks; run it again to go on.

    Args:
        address: Of the cluster, such as ``auto`` or ``ray://head:10001``; this machine alone when not given.
        cpus: Processor cores of each job.
        gpus: GPUs of each job; a fraction lets jobs share one.

    Raises:
        ConfigError: Ray is not installed.
    """

    def __init__(self, address: str | None = None, cpus: int = 1, gpus: float = 0) -> None:
        if importlib.util.find_spec("ray") is None:
            raise ConfigError("cluster=ray needs Ray: pip install 'attnlab[ray]'")
        self.address = address
        self.cpus = cpus
        self.gpus = gpus

    def describe(self) -> str:
        """Where jobs go."""
        return f"on Ray, {self.address or 'this machine'}"

    def run(self, waiting: Sequence[Entry], cells: Path, policy: Policy, tell: Tell) -> Ending:
        """Run cells as Ray has room for them.

        Raises:
            ConfigError: the cluster does not answer, or can never give a job what it asks for.
        """
        import ray

        try:
            ray.init(address=self.address, log_to_driver=False, logging_level=logging.WARNING, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError(f"cluster.address={self.address}: {' '.join(str(error).split())[:200]}") from error
        try:
            self._check_resources(ray.cluster_resources())
            complete = Scheduler(RayPool(self.cpus, self.gpus), cells, policy, tell).run(waiting)
        finally:
            ray.shutdown()
        return Ending.DONE if complete else Ending.INCOMPLETE

    def _check_resources(self, there: dict[str, float]) -> None:
        for name, wanted in (("CPU", self.cpus), ("GPU", self.gpus)):
            if wanted > there.get(name, 0):
                option = f"cluster.{name.lower()}s={wanted}"
                raise ConfigError(f"{option}: the Ray cluster has {there.get(name, 0):g} in all")


class RayPool:
    """Tasks of Ray. It has room for any number: those that find no free node wait in Ray.

    Args:
        cpus: Of each task.
        gpus: Of each task.
    """

    def __init__(self, cpus: int, gpus: float) -> None:
        import ray

        # A worker of Ray ends after each task, so that nothing is left of one cell in another.
        self.task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_calls=1, max_retries=0)(run_below)
        self.cpus = cpus
        self.running: dict[Any, Path] = {}

    def has_room(self) -> bool:
        """Always."""
        return True

    def start(self, cell: Path) -> None:
        """Hand a cell to Ray."""
        self.running[self.task.remote(str(cell), self.cpus)] = cell

    def ended(self, timeout: float) -> list[tuple[Path, int]]:
        """Cells that ended; the code of one whose node or worker died is that of a kill."""
        import ray

        if not self.running:  # every cell is being run by others
            time.sleep(timeout)
            return []
        ready, _ = ray.wait(list(self.running), num_returns=1, timeout=timeout)
        codes = []
        for reference in ready:
            code = -9
            with contextlib.suppress(ray.exceptions.RayError):
                code = int(ray.get(reference))
            codes.append((self.running.pop(reference), code))
        return codes

    def end_all(self) -> None:
        """Cancel every task; the process below it ends with it."""
        import ray

        for reference in self.running:
            ray.cancel(reference, force=True)


def run_below(cell: str, threads: int) -> int:
    """Run a cell in a fresh process below this one.

    Returns:
        Its exit code.
    """
    process = start_below(cell, max(1, threads))
    process.join()
    return process.exitcode or 0
