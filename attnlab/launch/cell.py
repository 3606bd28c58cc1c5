"""A cell of a sweep on disk: its frozen configuration, its state, its log.

::

    cells/<id>/job.yaml        resolved configuration, group choices and overrides, frozen when the sweep starts
    cells/<id>/cell.json       keys of its results and model, the store, choices and seed: what a listing reads
    cells/<id>/heartbeat.json  process and machine; touched every few seconds while the cell runs
    cells/<id>/error.json      the exception of a failed run; removed when the cell is run again
    cells/<id>/slurm.json      the job that a cluster runs it as
    cells/<id>/done.json       seconds and result keys of a finished run
    cells/<id>/output.log      what the process printed

A cluster keeps the training of a model that several cells need in ``trainings/<model>``, a folder like a cell's.

Whether a cell is done is decided by the store, which holds all of its results or does not.
"""

import contextlib
import hashlib
import json
import os
import platform
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from attnlab.errors import AttnlabError
from attnlab.job import Job
from attnlab.store.document import read_json, read_yaml, write_json, write_yaml

BEAT_SECONDS = 5.0
"""How often a running cell shows that it is alive."""

SILENT_SECONDS = 30.0
"""A cell that was not heard of for so long is dead, unless its process is seen on this machine."""


class State(StrEnum):
    """What became of a cell."""

    WAITING = "waiting"
    QUEUED = "queued"
    ALIVE = "alive"
    DEAD = "dead"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True)
class Cell:
    """One job of a sweep.

    Attributes:
        folder: Where it is kept.
    """

    folder: Path

    @classmethod
    def freeze(
        cls, cells: Path, overrides: Sequence[str], config: Mapping[str, Any], choices: Mapping[str, str]
    ) -> "Cell":
        """Write a cell under the hash of its results, unless it is there: what was frozen first stays.

        A cell that failed is frozen anew, since an option that decides no result, such as a device, may be why.

        Args:
            cells: The sweep's folder of cells.
            overrides: What the user would type to run it alone.
            config: Resolved configuration.
            choices: Option chosen in each group.
        """
        job = Job.from_config(config, choices)
        folder = cells / cell_id(job)
        frozen = folder / "job.yaml"
        if not frozen.exists() or (folder / "error.json").exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / "cell.json", keys_of(job), indent=None)
            frozen_job = {"overrides": list(overrides), "choices": dict(choices), "config": job.config}
            _write_whole(write_yaml, frozen, frozen_job)
        return cls(folder)

    @classmethod
    def freeze_training(cls, trainings: Path, job: Job, model: str) -> "Cell":
        """Write what trains one of the models that a job needs.

        Args:
            trainings: The sweep's folder of trainings.
            job: Needs the model.
            model: Its key.
        """
        folder = trainings / model
        folder.mkdir(parents=True, exist_ok=True)
        frozen = {"model": model, "choices": dict(job.choices), "config": job.config}
        _write_whole(write_yaml, folder / "job.yaml", frozen)
        return cls(folder)

    @property
    def id(self) -> str:
        """Its name among the sweep's cells."""
        return self.folder.name

    @cached_property
    def frozen(self) -> dict[str, Any]:
        """``overrides``, ``choices`` and ``config``, as they were at the sweep's start; a training's ``model``."""
        return read_yaml(self.folder / "job.yaml")

    @cached_property
    def job(self) -> Job:
        """The job that the frozen configuration describes; where a model is named, the one whose own that is."""
        job = Job.from_config(self.frozen["config"], self.frozen["choices"])
        named = self.frozen.get("model", job.model_key)
        return next(each for each in (job, *job.all_further()) if each.model_key == named)

    @property
    def log(self) -> Path:
        """What its process printed."""
        return self.folder / "output.log"

    @property
    def error(self) -> dict[str, Any] | None:
        """``type``, ``message`` and ``traceback`` of its failure, if it failed."""
        path = self.folder / "error.json"
        return read_json(path) if path.exists() else None

    def state(self) -> State:
        """What became of it, read from the disk."""
        return self.unfinished_state() if self.job.missing else State.DONE

    def unfinished_state(self) -> State:
        """What became of it, given that the store lacks a result of it."""
        if (self.folder / "error.json").exists():
            return State.FAILED
        beat = self.folder / "heartbeat.json"
        try:
            age = time.time() - beat.stat().st_mtime
            writer = read_json(beat)
        except (OSError, AttnlabError):
            return State.WAITING
        if writer.get("host") == platform.node():
            return State.ALIVE if _is_running(int(writer["pid"])) else State.DEAD
        return State.ALIVE if age < SILENT_SECONDS else State.DEAD


def cell_id(job: Job) -> str:
    """Hash of the keys of a job's results: cells that would make the same are the same."""
    keys = json.dumps(sorted(job.result_keys.values()))
    return hashlib.sha256(keys.encode()).hexdigest()[:16]


def keys_of(job: Job) -> dict[str, Any]:
    """What tells a cell's state and place in a study without its configuration."""
    return {
        "store": str(job.store.root),
        "model": job.model_key,
        "models": job.models,
        "results": job.result_keys,
        "choices": job.choices,
        "seed": job.config["seed"],
    }


def run_cell(folder: Path, only_model: bool = False) -> int:
    """Run a cell in this process, keeping its state on disk.

    Args:
        folder: Of the cell.
        only_model: Train its model, and measure nothing.

    Returns:
        Exit code: 0, or 1 when it failed, or 2 when its configuration cannot work.
    """
    from attnlab.run import run, train_model

    cell = Cell(folder)
    (folder / "error.json").unlink(missing_ok=True)
    start = time.perf_counter()
    try:
        with heartbeat(folder / "heartbeat.json"):
            if only_model:
                train_model(cell.job, folder)
                return 0
            run(cell.job, folder)
    except Exception as error:  # whatever it is, it is written down and told by the exit code
        traceback.print_exc()
        write_error(folder, error)
        return 2 if isinstance(error, AttnlabError) else 1
    seconds = round(time.perf_counter() - start, 3)
    write_json(folder / "done.json", {"seconds": seconds, "results": cell.job.result_keys})
    return 0


@contextlib.contextmanager
def heartbeat(path: Path) -> Iterator[None]:
    """Show that this process is alive, until the block ends."""
    write_json(path, {"pid": os.getpid(), "host": platform.node(), "started": time.time()})
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # a full disk must not end a job that may yet finish
                path.touch()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        path.unlink(missing_ok=True)


def write_error(folder: Path, error: Exception) -> None:
    """Write down why a cell failed."""
    message = str(error).strip().splitlines()
    content = {
        "type": type(error).__name__,
        "message": message[0] if message else "",
        "traceback": "".join(traceback.format_exception(error)),
    }
    _write_whole(write_json, folder / "error.json", content)


def _write_whole(write: Callable[[Path, dict[str, Any]], None], path: Path, content: dict[str, Any]) -> None:
    """Write a file that others never see in part."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    write(draft, content)
    draft.replace(path)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A killed child that nobody waited for still has a number; it runs no more.
    status = Path(f"/proc/{pid}/stat")
    with contextlib.suppress(OSError):
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    return True
