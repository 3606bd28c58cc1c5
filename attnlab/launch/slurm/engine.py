"""SLURM as the place where a sweep runs."""

import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError, StoreError
from attnlab.inspect.status import sweeps
from attnlab.launch.cell import Cell, cell_id
from attnlab.launch.engine import Ending
from attnlab.launch.plan import Entry
from attnlab.launch.scheduler import Policy, Tell
from attnlab.launch.slurm.arrays import Step, dependency, make_arrays
from attnlab.launch.slurm.queue import cancel, largest_array, queue
from attnlab.launch.slurm.task import Task
from attnlab.launch.slurm.watch import Watched, watch
from attnlab.store.document import read_json, write_json

NOTE = "slurm.json"
"""In a cell's folder: the job that runs it."""


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

        What ends early, by Ctrl-C or by the policy, takes out of the queue what it submitted, and nothing else.

        Raises:
            ConfigError: SLURM refuses the jobs.
        """
        present = _in_queue(waiting, cells)
        new = [entry for entry in waiting if cell_id(entry.job) not in present]
        if present:
            print(f"{len(present)} cells are in SLURM's queue already")
        submitted: list[tuple[Step, str]] = []
        try:
            self._submit(new, cells, policy, submitted)
            arrays = dict.fromkeys(_array(job) for _, job in submitted)
            print(f"submitted {len(new)} cells as SLURM jobs {' '.join(arrays) or 'none'}")
            if self.detached:
                return Ending.SUBMITTED
            jobs = present | {cell_id(step.cells[0].job): job for step, job in submitted if not step.model}
            watched = [Watched(entry, cells / name, jobs[name]) for entry in waiting for name in [cell_id(entry.job)]]
            failures, left = watch(watched, policy, tell, self.poll_seconds)
        except BaseException:
            cancel(_array(job) for _, job in submitted)
            raise
        if left:
            open_jobs = {item.job for item in left}
            cancel(job for step, job in submitted if step.model or job in open_jobs)
        return Ending.INCOMPLETE if failures else Ending.DONE

    def _submit(self, entries: Sequence[Entry], cells: Path, policy: Policy, submitted: list[tuple[Step, str]]) -> None:
        """Submit arrays; what runs a cell, and what trains the models that it waits for, is noted in its folder."""
        trained: dict[str, str] = {}
        arrays = make_arrays(entries, largest_array())
        # All folders before the first job starts: what one leaves for a cell, such as why it failed, must stay.
        tasks = [[Task(_folders(step, cells), policy, step.model is not None) for step in array] for array in arrays]
        for array, calls in zip(arrays, tasks, strict=True):
            jobs = self._submit_array(calls, cells.parent, dependency(array, trained))
            submitted += zip(array, jobs, strict=True)
            for step, job in zip(array, jobs, strict=True):
                if step.model:
                    trained[step.model] = job
                else:
                    note = {"job": job, "trainings": [trained[model] for model in sorted(step.needs)]}
                    write_json(cells / cell_id(step.cells[0].job) / NOTE, note)

    def _submit_array(self, tasks: Sequence[Task], sweep: Path, dependency: str | None) -> list[str]:
        from submitit import SlurmExecutor
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        executor = SlurmExecutor(sweep / "slurm", max_num_timeout=self.max_timeouts)
        try:
            executor.update_parameters(job_name=f"attnlab-{sweep.name}"[:64], dependency=dependency, **self.parameters)
            return [job.job_id for job in executor.submit_array(tasks)]
        except (FailedJobError, FailedSubmissionError, ValueError, TypeError, OSError) as error:
            lines = [line.strip() for line in str(error).splitlines() if "error" in line.lower()] or [str(error)]
            raise ConfigError(f"cluster: SLURM refused the jobs: {lines[0]}") from error


def _folders(step: Step, cells: Path) -> tuple[str, ...]:
    """Folders of a task, free of what an earlier try left."""
    folders = [cells / cell_id(entry.job) for entry in step.cells]
    if step.model:
        folders.insert(0, Cell.freeze_training(cells.parent / "trainings", step.cells[0].job, step.model).folder)
    for folder in folders:
        for stale in ("error.json", "heartbeat.json"):
            (folder / stale).unlink(missing_ok=True)
    return tuple(map(str, folders))


def _array(job: str) -> str:
    """The array that a job, by SLURM's number, is a task of."""
    return job.partition("_")[0]


def _in_queue(waiting: Sequence[Entry], cells: Path) -> dict[str, str]:
    """Cells that are in the queue, by this or another sweep, and the job of each."""
    known = queue()
    if not known:
        return {}
    root = Path(waiting[0].job.config["paths"]["output_dir"]) / "sweeps"
    places = {cells, *(sweep / "cells" for sweep in sweeps(root))}
    names = [cell_id(entry.job) for entry in waiting]
    noted = ((name, _noted_job(place / name)) for name in names for place in places)
    return {name: job for name, job in noted if job in known}


def _noted_job(cell: Path) -> str:
    """The job that was to run a cell; empty where there is none."""
    try:
        return str(read_json(cell / NOTE).get("job"))
    except StoreError:
        return ""
