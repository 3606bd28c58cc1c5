"""SLURM as the place where a sweep runs."""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError
from attnlab.launch.cell import cell_id
from attnlab.launch.engine import Ending
from attnlab.launch.plan import Entry
from attnlab.launch.scheduler import Policy, Tell
from attnlab.launch.slurm.arrays import Array, make_arrays
from attnlab.launch.slurm.queue import cancel, largest_array, queue
from attnlab.launch.slurm.task import Task
from attnlab.launch.slurm.watch import Watched, watch
from attnlab.store.document import read_json, write_json


class Slurm:
    """Submits the cells of a sweep as job arrays, and waits for them unless told otherwise.

    Args:
        partition: Where jobs go; the cluster's default when not given, as with the next three.
        account: Who pays.
        qos: Quality of service.
        constraint: Features that a node must have.
        gpus: GPUs of each job.
        cpus: Processor cores of each job.
        memory_gb: Memory of each job, in gigabytes.
        minutes: Time limit of each job.
        array_parallelism: Tasks of an array that run at a time.
        max_timeouts: How often a job that reaches its time limit is put back into the queue, where it goes on.
        signal_seconds: How long before the time limit a job is told.
        detached: Return after submission.
        poll_seconds: How often the queue is asked.
        setup: Lines of shell to run before each job.
        sbatch: Any other options of ``sbatch``, by name.

    Raises:
        ConfigError: there is no SLURM here, or an option cannot be.
    """

    def __init__(
        self,
        partition: str | None = None,
        account: str | None = None,
        qos: str | None = None,
        constraint: str | None = None,
        gpus: int = 0,
        cpus: int = 2,
        memory_gb: float | None = None,
        minutes: int = 60,
        array_parallelism: int = 64,
        max_timeouts: int = 10,
        signal_seconds: int = 90,
        detached: bool = False,
        poll_seconds: float = 5.0,
        setup: Sequence[str] = (),
        sbatch: Mapping[str, Any] | None = None,
    ) -> None:
        if importlib.util.find_spec("submitit") is None:
            raise ConfigError("cluster=slurm needs submitit: pip install 'attnlab[slurm]'")
        if shutil.which("sbatch") is None or shutil.which("srun") is None:
            raise ConfigError("cluster=slurm: there is no sbatch here; run it on a login node of the cluster")
        if minutes < 1:
            raise ConfigError(f"cluster.minutes={minutes}: give a job a minute or more")
        named = {"partition": partition, "account": account, "qos": qos, "constraint": constraint}
        self.parameters: dict[str, Any] = {
            **{name: value for name, value in named.items() if value is not None},
            **({"gpus_per_node": gpus} if gpus else {}),
            **({"mem": f"{round(memory_gb * 1024)}M"} if memory_gb else {}),
            "cpus_per_task": cpus,
            "time": minutes,
            "array_parallelism": array_parallelism,
            "signal_delay_s": signal_seconds,
            "stderr_to_stdout": True,
            "setup": list(setup),
            "additional_parameters": {"requeue": True, "kill-on-invalid-dep": "yes", **(sbatch or {})},
        }
        self.max_timeouts = max_timeouts
        self.detached = detached
        self.poll_seconds = poll_seconds

    def describe(self) -> str:
        """Where jobs go."""
        return f"on SLURM, partition {self.parameters.get('partition', 'by default')}"

    def run(self, waiting: Sequence[Entry], cells: Path, policy: Policy, tell: Tell) -> Ending:
        """Submit cells, except those that are in the queue already, and wait for all of them.

        Raises:
            ConfigError: SLURM refuses the jobs.
        """
        present = _in_queue(waiting, cells)
        watched = [
            Watched(e, cells / cell_id(e.job), present[cell_id(e.job)]) for e in waiting if cell_id(e.job) in present
        ]
        new = [entry for entry in waiting if cell_id(entry.job) not in present]
        if watched:
            print(f"{len(watched)} cells are in SLURM's queue already")
        submitted: list[str] = []
        try:
            for entry, job in self._submit(new, cells, submitted):
                watched.append(Watched(entry, cells / cell_id(entry.job), job))
            print(f"submitted {len(new)} cells as SLURM jobs {' '.join(submitted) or 'none'}")
            if self.detached:
                return Ending.SUBMITTED
            complete = watch(watched, policy, tell, self.poll_seconds)
        except BaseException:
            cancel([*submitted, *(w.job for w in watched)])
            raise
        return Ending.DONE if complete else Ending.INCOMPLETE

    def _submit(self, entries: Sequence[Entry], cells: Path, submitted: list[str]) -> list[tuple[Entry, str]]:
        """Submit arrays, noting in each cell the job that runs it."""
        jobs: list[list[str]] = []
        placed = []
        for array in make_arrays(entries, largest_array()):
            dependency = None if array.after is None else _dependency(array, jobs[array.after])
            jobs.append(self._submit_array(array, cells, dependency))
            submitted.append(jobs[-1][0].partition("_")[0])
            if array.units[0].trains:
                continue
            for unit, job in zip(array.units, jobs[-1], strict=True):
                (entry,) = unit.entries
                write_json(cells / cell_id(entry.job) / "slurm.json", {"job": job})
                placed.append((entry, job))
        return placed

    def _submit_array(self, array: Array, cells: Path, dependency: str | None) -> list[str]:
        from submitit import SlurmExecutor
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        folders = [tuple(str(cells / cell_id(e.job)) for e in unit.entries) for unit in array.units]
        for folder in (Path(name) for names in folders for name in names):
            for stale in ("error.json", "heartbeat.json"):
                (folder / stale).unlink(missing_ok=True)
        executor = SlurmExecutor(cells.parent / "slurm", max_num_timeout=self.max_timeouts)
        tasks = [Task(names, unit.trains) for names, unit in zip(folders, array.units, strict=True)]
        try:
            executor.update_parameters(
                job_name=f"attnlab-{cells.parent.name}"[:64], dependency=dependency, **self.parameters
            )
            return [job.job_id for job in executor.submit_array(tasks)]
        except (FailedJobError, FailedSubmissionError, ValueError, TypeError, OSError) as error:
            lines = [line.strip() for line in str(error).splitlines() if "error" in line.lower()] or [str(error)]
            raise ConfigError(f"cluster: SLURM refused the jobs: {lines[0]}") from error


def _dependency(array: Array, trainings: Sequence[str]) -> str:
    """Each task waits for the one of the same number; where there is a single task, SLURM has no numbers."""
    if len(array.units) == 1:
        return f"afterok:{trainings[0]}"
    return f"aftercorr:{trainings[0].partition('_')[0]}"


def _in_queue(waiting: Sequence[Entry], cells: Path) -> dict[str, str]:
    """Cells that are in the queue, by this or another sweep, and the job of each."""
    known = queue()
    if not known:
        return {}
    sweeps = {cells, *(path for pattern in ("*/cells", "*/*/cells") for path in _sweeps(waiting).glob(pattern))}
    found = {}
    for name in (cell_id(entry.job) for entry in waiting):
        for note in (folder / name / "slurm.json" for folder in sweeps):
            if note.is_file() and read_json(note).get("job") in known:
                found[name] = str(read_json(note)["job"])
    return found


def _sweeps(waiting: Sequence[Entry]) -> Path:
    return Path(waiting[0].job.config["paths"]["output_dir"]) / "sweeps"
