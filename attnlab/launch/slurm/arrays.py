"""How the cells of a sweep become job arrays, models before the cells that need them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attnlab.job import Job
from attnlab.launch.plan import Entry

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """A task of an array: a cell, or the training of a model that several cells need.

    Attributes:
        cells: The cell; or, where a model is trained, every cell that needs it.
        needs: Keys of the models that other tasks train before.
        model: Key of the model that is trained; None where a cell is measured.
    """

    cells: tuple[Entry, ...]
    needs: frozenset[str]
    model: str | None = None


Array = tuple[Step, ...]
"""Tasks that are submitted together."""


def make_arrays(waiting: Sequence[Entry], most: int) -> list[Array]:
    """Job arrays for cells, in the order of submission: none waits for one that comes later.

    A model that has to be trained and that several cells need, as their own or as a further one that a protocol
    declares, is trained by a task of its own, and whatever needs it waits for that task without a node. A model that a
    single cell needs is trained by that cell.

    What waits for one task only stands in arrays where it has the number of that task, so that few arrays do for many
    models; what waits for the same tasks is an array. See :func:`dependency`.

    Args:
        waiting: In the order in which they should start.
        most: Tasks of an array, at most.
    """
    steps = _steps(waiting)
    waiters: dict[frozenset[str], list[Step]] = {}
    for step in steps:
        waiters.setdefault(step.needs, []).append(step)
    free = waiters.pop(frozenset(), [])

    def of(step: Step) -> list[Step]:
        return waiters.get(frozenset({step.model or ""}), [])

    arrays: list[Array] = []
    trainings = sorted((step for step in free if step.model), key=lambda step: -len(of(step)))
    for block in _blocks(trainings, most):
        arrays.append(tuple(block))
        single = [of(step) for step in block if of(step)]
        numbered = [_present(row) for row in itertools.zip_longest(*single)]
        apart = [tuple(part) for group in single for part in _blocks(group, most)]
        arrays += numbered if len(numbered) < len(apart) else apart
    # A training that others need waits for fewer models than they do.
    for needs in sorted((n for n in waiters if len(n) > 1), key=len):
        arrays += map(tuple, _blocks(waiters[needs], most))
    return arrays + [tuple(block) for block in _blocks([step for step in free if not step.model], most)]


def dependency(array: Array, jobs: Mapping[str, str]) -> str | None:
    """What an array waits for, as an option of ``sbatch``.

    Args:
        array: Of :func:`make_arrays`.
        jobs: SLURM's number of the task that trains each model.
    """
    needed = {step.needs for step in array}
    if len(needed) > 1:  # tasks of the same number
        (model,) = array[0].needs
        return f"aftercorr:{jobs[model].partition('_')[0]}"
    trainings = [jobs[model] for model in sorted(array[0].needs)]
    return ":".join(["afterok", *trainings]) if trainings else None


def _steps(waiting: Sequence[Entry]) -> list[Step]:
    """Trainings, then cells."""
    needed = [{job.model_key: job for job in entry.job.untrained} for entry in waiting]
    users: dict[str, list[Entry]] = {}
    for entry, jobs in zip(waiting, needed, strict=True):
        for key in jobs:
            users.setdefault(key, []).append(entry)
    shared = {key: entries for key, entries in users.items() if len(entries) > 1}
    known = {key: job for jobs in needed for key, job in jobs.items()}
    trainings = [
        Step(tuple(_own_first(key, entries)), frozenset(shared.keys() & _before(known[key])), key)
        for key, entries in shared.items()
    ]
    cells = [Step((e,), frozenset(shared.keys() & jobs.keys())) for e, jobs in zip(waiting, needed, strict=True)]
    return trainings + cells


def _before(job: Job) -> set[str]:
    """Models without whose outputs a job's own cannot be trained. Whatever needs that one needs them too."""
    sources = job.source.jobs.values() if job.source else ()
    return {other.model_key for source in sources for other in source.untrained}


def _own_first(key: str, entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry.job.model_key != key)


def _present(row: Sequence[Step | None]) -> Array:
    return tuple(step for step in row if step is not None)


def _blocks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
