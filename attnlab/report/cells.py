"""Results of a sweep or a store, each with what it was made from. Nothing here imports torch or reads records."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from attnlab.errors import StoreError
from attnlab.inspect.cells import CellState
from attnlab.inspect.cells import read_cells as read_states
from attnlab.inspect.entries import read_entries
from attnlab.inspect.ls import NAMES, Row, matching
from attnlab.inspect.places import default_store, output_directory
from attnlab.job import group_name
from attnlab.report.spec import Statistic, from_dict
from attnlab.results import read_records
from attnlab.store import Store
from attnlab.store.document import read_json, read_yaml
from attnlab.store.entry import Entry, read_entry

if TYPE_CHECKING:
    import lightning as L
    import pyarrow as pa

PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True)
class Asked:
    """One protocol to be measured on one model, whether it has been or not.

    Attributes:
        data: Option chosen in the group ``data``, such as ``movie``.
        model: Option of ``model``.
        attention: Option of ``model/attention``.
        vectors: Option of ``vectors``.
        seed: Of training, batch order and the protocol.
        protocol: Its name in the configuration.
        split: Split that is measured.
        key: Of the result.
        model_key: Of the model.
        group: The same for all seeds of a job and for no other job; see :attr:`attnlab.job.Job.group`.
        config: Resolved configuration.
    """

    data: str
    model: str
    attention: str
    vectors: str
    seed: int
    protocol: str
    split: str
    key: str
    model_key: str
    group: str
    config: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResultCell(Asked):
    """One protocol measured on one trained model.

    Attributes:
        folder: Entry of the store.
        summary: As :func:`attnlab.report.summary.summarise` gives it.
    """

    folder: Path
    summary: dict[str, Any]

    @property
    def records(self) -> "pa.Table":
        """One row per instance, as an Arrow table: ``.to_pandas()``, or ``polars.from_arrow``.

        Raises:
            StoreError: the file is missing or damaged.
        """
        return read_records(self.folder)

    def load_model(self) -> "L.LightningModule":
        """The trained model that was measured, in evaluation mode; this alone imports torch.

        Raises:
            StoreError: the store no longer has it.
        """
        from attnlab.models.trained import load_model

        return load_model(self.folder.parents[1] / "models" / self.model_key)

    @property
    def specification(self) -> dict[str, Any]:
        """``classes``, ``unit``, ``statistics`` and ``figures``: what the records are of, summarised by and drawn as.

        Raises:
            StoreError: the file is missing or damaged.
        """
        return read_json(self.folder / "specification.json")

    @property
    def statistics(self) -> list[Statistic]:
        """What the records are summarised by.

        Raises:
            StoreError: the specification is missing or damaged, or of another version.
        """
        try:
            found = [from_dict(content) for content in self.specification["statistics"]]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            path = self.folder / "specification.json"
            raise StoreError(f"{path} is damaged ({error!r}); remove {self.folder} and run again") from error
        return [spec for spec in found if isinstance(spec, Statistic)]


Of = TypeVar("Of", bound=Asked)


def read_cells(place: Path | str | None = None, problems: list[str] | None = None) -> list[ResultCell]:
    """All results of a place that can be read, by data, model, attention, vectors, protocol and seed.

    Args:
        place: A sweep (its folder, or its name under ``outputs/sweeps``), a store, or the folder that holds one;
            the store of this folder where it is None.
        problems: Gets a line about each entry that is foreign, damaged or incomplete, and therefore left out.

    Raises:
        StoreError: there is no such place.
    """
    problems = [] if problems is None else problems
    folder = find_place(place)
    if (folder / "cells").is_dir():
        entries = _of_sweep(folder, problems)
    else:
        found, unread = read_entries(Store(folder), "results")
        problems += unread
        entries = [(folder / "results" / key, entry) for key, entry in found.items()]
    return sorted(_cells(entries, problems), key=_order)


def read_missing(place: Path, read: Iterable[ResultCell], problems: list[str]) -> list[Asked]:
    """What the cells of a sweep ask for and have not got; nothing in a store, of which nobody asks anything.

    Args:
        place: As :func:`find_place` gives it.
        read: All results of it that can be read.
        problems: Gets a line about each cell whose configuration is damaged.
    """
    if not (place / "cells").is_dir():
        return []
    have = {cell.key for cell in read}
    missing: dict[str, Asked] = {}
    for state in read_states(place)[0]:
        lacking = {key: name for name, key in state.keys["results"].items() if key not in have | missing.keys()}
        if lacking:
            try:
                missing.update(_missing(state, lacking))
            except (StoreError, KeyError, TypeError, AttributeError) as error:
                problems.append(f"{state.folder} cannot be read as a cell ({error})")
    return list(missing.values())


def _missing(state: CellState, lacking: Mapping[str, str]) -> Iterator[tuple[str, Asked]]:
    frozen = read_yaml(state.folder / "job.yaml")
    config = frozen["config"]
    about = {name: config[name] for name in ("seed", "split")} | {"model_key": state.keys["model"]}
    for key, protocol in lacking.items():
        yield key, Asked(**_asked(key, {**frozen, **about, "protocol": protocol}))


def matching_cells(cells: Sequence[Of], filters: Iterable[str]) -> list[Of]:
    """Those that pass all filters, as :func:`attnlab.inspect.ls.matching` takes them.

    Data sets, models, attention and vectors are in the order in which a filter names them.

    Raises:
        ConfigError: a filter is malformed, or none has its key.
    """
    filters = list(filters)
    kept = {row.key for row in matching([Row(cell.key, _as_entry(cell)) for cell in cells], filters)}
    named = dict(text.split("=", 1) for text in filters)
    ranks = {NAMES.get(name, name): wanted.split(",") for name, wanted in named.items()}
    return sorted((cell for cell in cells if cell.key in kept), key=lambda cell: _order(cell, ranks))


def _as_entry(cell: Asked) -> dict[str, object]:
    choices = {"data": cell.data, "model": cell.model, "model/attention": cell.attention, "vectors": cell.vectors}
    own = {"protocol": cell.protocol, "split": cell.split, "seed": cell.seed, "model_key": cell.model_key}
    return {"choices": choices, "config": cell.config, **own}


def find_place(place: Path | str | None) -> Path:
    """Folder of a sweep (it has ``cells``) or of a store (it has ``results``).

    Raises:
        StoreError: there is neither.
    """
    named = default_store() if place is None else Path(place)
    candidates = [named, named / "store"]
    if place is not None:
        candidates.append(output_directory() / "sweeps" / named)
    for candidate in candidates:
        if (candidate / "cells").is_dir() or (candidate / "results").is_dir():
            return candidate.absolute()
    raise StoreError(f"{named}: neither a sweep nor a store with results; name the folder of one")


def _of_sweep(sweep: Path, problems: list[str]) -> list[tuple[Path, Entry]]:
    """Entries of the results that a sweep's cells ask for and the store has."""
    states, unread = read_states(sweep)
    problems += unread
    folders = {
        str(key): Store(state.keys["store"]).path("results", str(key))
        for state in states
        for key in state.keys["results"].values()
    }
    entries = []
    for folder in folders.values():
        if folder.is_dir():
            try:
                entries.append((folder, read_entry("results", folder)))
            except StoreError as error:
                problems.append(str(error))
    return entries


def _cells(entries: Iterable[tuple[Path, Entry]], problems: list[str]) -> Iterable[ResultCell]:
    for folder, entry in entries:
        try:
            yield _cell(folder, entry)
        except StoreError as error:
            problems.append(str(error))
        except (KeyError, TypeError, AttributeError) as error:
            problems.append(f"{folder} is not a result that can be read ({error!r}); remove it and run again")


def _cell(folder: Path, entry: Entry) -> ResultCell:
    summary = read_json(folder / "summary.json")
    _check_summary(summary)
    _check_records(folder / "records.parquet")
    return ResultCell(**_asked(folder.name, entry), folder=folder, summary=summary)


def _asked(key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of :class:`Asked` from what an entry of the store says, or would say if it were there."""
    choices = entry["choices"]
    return {
        "data": str(choices["data"]),
        "model": str(choices["model"]),
        "attention": str(choices.get("model/attention", "")),
        "vectors": str(choices.get("vectors", "")),
        "seed": int(entry["seed"]),
        "protocol": entry["protocol"],
        "split": entry["split"],
        "key": key,
        "model_key": entry["model_key"],
        "group": group_name(entry["config"], choices),
        "config": entry["config"],
    }


def _check_summary(summary: Mapping[str, Any]) -> None:
    """Raise KeyError or TypeError where something is missing that every summary has."""
    summary["n"] + summary["measured"] + sum(summary["excluded"].values())
    for statistic in summary["statistics"].values():
        statistic["all"], statistic["higher_is_better"]
        statistic["by_prediction"].items(), statistic.get("by_class", {}).items()


def _check_records(path: Path) -> None:
    """A look at both ends of the file, where Parquet has its mark: a file that was cut lacks the second."""
    try:
        with open(path, "rb") as handle:
            start = handle.read(4)
            handle.seek(-4, 2)
            whole = start == handle.read(4) == PARQUET
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}); remove {path.parent} and run again") from error
    if not whole:
        raise StoreError(f"{path} is damaged: it is no whole Parquet file; remove {path.parent} and run again")


def _order(cell: Asked, ranks: Mapping[str, Sequence[str]] = MappingProxyType({})) -> tuple[Any, ...]:
    made = {"data": cell.data, "model": cell.model, "model/attention": cell.attention, "vectors": cell.vectors}
    known = {group: ranks.get(group, ()) for group in made}
    names = [(known[g].index(name) if name in known[g] else 0, name) for g, name in made.items()]
    return (*names, cell.group, cell.protocol, cell.split, cell.seed, cell.key)
