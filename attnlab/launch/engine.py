"""What runs the cells of a sweep: this machine, or a cluster."""

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from attnlab.instantiate import instantiate
from attnlab.launch.plan import Entry
from attnlab.launch.pool import LocalPool
from attnlab.launch.scheduler import Policy, Scheduler, Tell
from attnlab.launch.slots import make_slots


class Ending(Enum):
    """How a sweep's command ends."""

    DONE = "done"
    INCOMPLETE = "incomplete"
    SUBMITTED = "submitted"


class Engine(Protocol):
    """Runs cells. A cluster is a class like this with its options, in one file, and a YAML file that names it."""

    def describe(self) -> str:
        """Where the cells run, for a line at the start."""
        ...

    def run(self, waiting: Sequence[Entry], cells: Path, policy: Policy, tell: Tell) -> Ending:
        """Run cells, of which each stands frozen in ``cells``.

        Args:
            waiting: In the order in which they should start.
            cells: The sweep's folder of cells.
            policy: What happens when a cell fails.
            tell: Called with each cell that ends.
        """
        ...


class Machine:
    """This machine.

    Args:
        workers: See :func:`attnlab.launch.slots.make_slots`, as the others.
        gpus_per_job: …
        jobs_per_gpu: …
        threads_per_job: …
    """

    def __init__(
        self,
        workers: int | None = None,
        gpus_per_job: int = 1,
        jobs_per_gpu: int = 1,
        threads_per_job: int | None = None,
    ) -> None:
        self.slots = make_slots(workers, gpus_per_job, jobs_per_gpu, threads_per_job)

    def describe(self) -> str:
        """How many cells run at a time."""
        return f"{len(self.slots)} at a time"

    def run(self, waiting: Sequence[Entry], cells: Path, policy: Policy, tell: Tell) -> Ending:
        """Run cells on the slots."""
        complete = Scheduler(LocalPool(self.slots), cells, policy, tell).run(waiting)
        return Ending.DONE if complete else Ending.INCOMPLETE


def make_engine(config: Mapping[str, Any]) -> Engine:
    """The engine that a configuration asks for: its ``cluster``, or this machine as ``launcher`` says.

    Raises:
        ConfigError: an option is wrong.
    """
    if config.get("cluster"):
        engine: Engine = instantiate(config["cluster"], "cluster")
        return engine
    names = ("workers", "gpus_per_job", "jobs_per_gpu", "threads_per_job")
    return Machine(**{name: config["launcher"][name] for name in names})
