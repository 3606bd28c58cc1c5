"""What a sweep has to do: its cells, what the store has of them, what cannot work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attnlab.capabilities import check_job
from attnlab.config.types import check_types
from attnlab.errors import AttnlabError
from attnlab.job import Job
from attnlab.launch.cell import Cell, State, cell_id
from attnlab.store.document import read_json

Compose = Callable[[Sequence[str]], tuple[dict[str, Any], dict[str, str]]]
"""From overrides to a resolved configuration and the chosen options."""


@dataclass(frozen=True)
class Entry:
    """One cell that a sweep asks for.

    Attributes:
        overrides: What was asked.
        job: The job.
        label: What tells it from the other cells of the sweep.
        seconds: What it is expected to take, from finished cells like it; None where there is none.
    """

    overrides: tuple[str, ...]
    job: Job
    label: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Plan:
    """What a sweep does.

    Attributes:
        waiting: Cells to run, the first of each model before the others, those of few models before those of many.
        done: Cells whose results the store has.
        impossible: Labels of cells that cannot work, with the reason.
        duplicates: How many cells ask for the same as another.
    """

    waiting: list[Entry] = field(default_factory=list)
    done: list[Entry] = field(default_factory=list)
    impossible: list[tuple[str, str]] = field(default_factory=list)
    duplicates: int = 0

    @property
    def models(self) -> set[str]:
        """Keys of the models that have to be trained."""
        return {job.model_key for entry in self.waiting for job in entry.job.untrained}


def make_plan(
    jobs: Sequence[Sequence[str]], compose: Compose, defaults: Compose, on_work: Callable[[], None] = lambda: None
) -> Plan:
    """Compose and check every cell, without torch and without writing anything.

    Args:
        jobs: Overrides of each cell.
        compose: Composes a cell.
        defaults: Composes a cell from its group choices alone, whose values tell the types.
        on_work: Called at each cell that has something to do, as soon as it is found.
    """
    plan, seen = Plan(), dict[str, Entry]()
    duplicates = 0
    for overrides, label in zip(jobs, labels(jobs), strict=True):
        try:
            entry = Entry(tuple(overrides), checked_job(overrides, compose, defaults), label)
        except AttnlabError as error:
            plan.impossible.append((label, str(error)))
            continue
        duplicates += cell_id(entry.job) in seen
        if cell_id(entry.job) not in seen and entry.job.missing:
            on_work()
        seen.setdefault(cell_id(entry.job), entry)
    for entry in seen.values():
        (plan.waiting if entry.job.missing else plan.done).append(entry)
    ordered = _ordered(plan.waiting, measured_seconds(plan.done))
    return Plan(ordered, plan.done, plan.impossible, duplicates)


def labels(jobs: Sequence[Sequence[str]]) -> list[str]:
    """The overrides of each cell that not all cells share; all of them where there is a single cell."""
    shared = set(jobs[0]).intersection(*map(set, jobs)) if len(jobs) > 1 else set[str]()
    return [" ".join(o for o in overrides if o not in shared) or "defaults" for overrides in jobs]


def checked_job(overrides: Sequence[str], compose: Compose, defaults: Compose) -> Job:
    """A job whose configuration was checked as far as that goes without torch.

    Raises:
        AttnlabError: a value has the wrong type, or a protocol needs what is not given.
    """
    config, choices = compose(overrides)
    check_types(config, defaults(overrides)[0])
    job = Job.from_config(config, choices)
    for each in (job, *job.all_further()):
        check_job(each.config)
    return job


def measured_seconds(done: Sequence[Entry]) -> dict[tuple[str, str], float]:
    """Mean seconds of finished trainings and protocols, by (group of jobs, protocol or ``train``)."""
    sums: dict[tuple[str, str], list[float]] = {}
    for entry in done:
        for name, key in entry.job.result_keys.items():
            _add(sums, (entry.job.group, name), entry.job.store.path("results", key) / "provenance.json")
        trained = {job.model_key: job for job in (entry.job, *entry.job.all_further())}
        for key, job in trained.items():
            _add(sums, (job.group, "train"), job.store.path("models", key) / "training.json")
    return {key: sum(values) / len(values) for key, values in sums.items()}


def _add(sums: dict[tuple[str, str], list[float]], key: tuple[str, str], path: Path) -> None:
    try:
        seconds = read_json(path).get("seconds")
    except AttnlabError:
        return
    if isinstance(seconds, int | float):
        sums.setdefault(key, []).append(float(seconds))


def _ordered(waiting: Sequence[Entry], seconds: Mapping[tuple[str, str], float]) -> list[Entry]:
    """The first cell of each model first, those of the fewest models before others, which may need theirs.

    Then the longest, unknown ones before known ones.
    """
    priced = [replace(entry, seconds=_expected(entry.job, seconds)) for entry in waiting]
    needed = [({job.model_key for job in entry.job.untrained}, entry) for entry in priced]
    first: set[str] = set()
    groups: dict[float, list[Entry]] = {}
    for models, entry in sorted(needed, key=lambda pair: len(pair[0])):
        rank = len(models) if models - first else float("inf")
        first |= models
        groups.setdefault(rank, []).append(entry)
    return [e for rank in sorted(groups) for e in sorted(groups[rank], key=lambda e: -(e.seconds or float("inf")))]


def _expected(job: Job, seconds: Mapping[tuple[str, str], float]) -> float | None:
    parts = [seconds.get((job.group, name)) for name in job.missing]
    parts += [seconds.get((other.group, "train")) for other in job.untrained]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def freeze(cells: Path, entry: Entry) -> Cell:
    """Write a cell to the sweep's folder; what was frozen there before stays."""
    return Cell.freeze(cells, entry.overrides, entry.job.config, entry.job.choices)


def is_running_elsewhere(cell: Cell) -> bool:
    """Whether another process, such as one that outlived a killed sweep, is at it."""
    return cell.state() is State.ALIVE
