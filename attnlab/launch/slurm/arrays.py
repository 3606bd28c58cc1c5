"""How the cells of a sweep become job arrays, models before the cells that need them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from attnlab.launch.plan import Entry

T = TypeVar("T")


@dataclass(frozen=True)
class Array:
    """Tasks that are submitted together.

    Attributes:
        tasks: The cell of each task; or, where the array trains, every cell that needs the model of that task.
        trains: Whether models are trained and nothing is measured.
        after: The array, by its place in the list, whose task of the same number trains the model of this one's.
    """

    tasks: tuple[tuple[Entry, ...], ...]
    trains: bool = False
    after: int | None = None


def make_arrays(waiting: Sequence[Entry], most: int) -> list[Array]:
    """Job arrays for cells.

    A cell whose model is trained, or that alone needs its model, is a task of its own. Where several cells need a model
    that has to be trained, one task trains it, and each of them waits for that task alone: the n-th cells of all such
    models form an array, in which a model has the same number as in the array of trainings, and SLURM's ``aftercorr``
    ties equal numbers.

    Args:
        waiting: In the order in which they should start.
        most: Tasks of an array, at most.
    """
    groups: dict[str, list[Entry]] = {}
    for entry in waiting:
        groups.setdefault(entry.job.model_key, []).append(entry)
    shared = [g for g in groups.values() if len(g) > 1 and not g[0].job.store.has("models", g[0].job.model_key)]
    together = {id(entry) for group in shared for entry in group}
    arrays: list[Array] = []
    for block in _blocks(sorted(shared, key=len, reverse=True), most):
        arrays.append(Array(tuple(map(tuple, block)), trains=True))
        first = len(arrays) - 1
        arrays += [Array(tuple((g[n],) for g in block if len(g) > n), after=first) for n in range(len(block[0]))]
    alone = [(entry,) for entry in waiting if id(entry) not in together]
    return arrays + [Array(tuple(block)) for block in _blocks(alone, most)]


def _blocks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
