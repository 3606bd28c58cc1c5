"""Entries of the store as the W&B runs that their jobs would have logged."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from attnlab.errors import StoreError
from attnlab.inspect.cells import read_cells
from attnlab.inspect.entries import foreign, keys
from attnlab.job import Job
from attnlab.results import Result
from attnlab.store import Store
from attnlab.store.entry import read_entry
from attnlab.store.store import Kind
from attnlab.wandb.content import Content, result_content, training_content
from attnlab.wandb.identity import TRAINING, Identity, identify
from attnlab.wandb.start import Destination

KINDS: tuple[Kind, ...] = ("models", "results")

MAX_ROWS = 1000
"""Rows of the records that are shown where the job's own logger does not say."""


@dataclass
class Selection:
    """What is to be shown.

    Attributes:
        entries: Kind and folder of each.
        missing: Entries that a sweep will make and the store does not have.
        problems: Lines about what could not be read.
    """

    entries: list[tuple[Kind, Path]] = field(default_factory=list)
    missing: int = 0
    problems: list[str] = field(default_factory=list)


def of_store(store: Store) -> Selection:
    """Every model and result of a store."""
    selection = Selection()
    for kind in KINDS:
        selection.entries += [(kind, store.path(kind, key)) for key in keys(store, kind)]
        selection.problems += [f"{path} is not an entry of the store" for path in foreign(store, kind)]
    return selection


def of_sweep(sweep: Path) -> Selection:
    """The models and results of a sweep's cells, wherever their store is."""
    cells, problems = read_cells(sweep)
    wanted = dict.fromkeys(entry for cell in cells for entry in _wanted(cell.keys))
    found = [(kind, folder) for kind, folder in wanted if folder.is_dir()]
    return Selection(sorted(found), len(wanted) - len(found), problems)


def _wanted(cell: Any) -> Iterator[tuple[Kind, Path]]:  # noqa: ANN401 - the content of cell.json
    store = Store(cell["store"])
    yield from (("models", store.path("models", key)) for key in cell.get("models", [cell["model"]]))
    yield from (("results", store.path("results", key)) for key in cell["results"].values())


@dataclass(frozen=True)
class StoredRun:
    """An entry as a run.

    Attributes:
        kind: ``models`` or ``results``.
        folder: The entry.
        job: The job that made it.
        protocol: None for a model.
    """

    kind: Kind
    folder: Path
    job: Job
    protocol: str | None

    @classmethod
    def read(cls, kind: Kind, folder: Path) -> "StoredRun":
        """Read what a run needs to be known by.

        Raises:
            StoreError: the entry is damaged.
        """
        entry = read_entry(kind, folder)
        try:
            # The keys are those of the store: computing them again could need data that is no longer there.
            job = Job(entry["config"], entry["choices"], Store(folder.parents[1]), folder.name, {})
            run = cls(kind, folder, job, entry["protocol"] if kind == "results" else None)
            run.identity  # noqa: B018 - made now, so that what it lacks is found now
        except (KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{folder} is damaged ({error!r} is missing); remove it and run again") from error
        return run

    @cached_property
    def identity(self) -> Identity:
        """The same as that of the run which the job logged, or would have."""
        return identify(self.job, self.folder.name, self.protocol or TRAINING, self._logger.get("tags") or ())

    def content(self) -> Content:
        """What the run holds.

        Raises:
            StoreError: a file of the entry is missing or damaged.
        """
        if self.protocol is None:
            return training_content(self.folder)
        return result_content(Result(self.protocol, self.folder), self._logger.get("max_rows", MAX_ROWS))

    def destination(self, asked: Destination, project: str | None) -> Destination:
        """Where it goes: as asked, else as the job was configured."""
        entity = asked.entity or self._logger.get("entity")
        return replace(asked, project=project or self._logger.get("project") or asked.project, entity=entity)

    @property
    def _logger(self) -> dict[str, Any]:
        """Options of the job's own logger, whatever it was."""
        return self.job.config.get("logger") or {}


def count(runs: Iterable[Kind]) -> str:
    """``3 models and 1 result``."""
    made = list(runs)
    texts = [(made.count(kind), kind) for kind in KINDS]
    return " and ".join(f"{n} {kind[:-1] if n == 1 else kind}" for n, kind in texts)
