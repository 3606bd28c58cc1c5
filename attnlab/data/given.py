"""Outputs of another model by instance, such as attention that is imposed."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from attnlab.data.dataset import TextDataset, flat_lists
from attnlab.data.outputs import Outputs
from attnlab.errors import DataError


def read_attention(paths: str | Sequence[str]) -> pa.Table:
    """Rows of id, attention (list<float>) and, where the files have them, split and probabilities.

    Raises:
        DataError: a file is missing, is no Parquet file, or lacks a column.
    """
    files = [Path(path).expanduser() for path in ([paths] if isinstance(paths, str) else paths)]
    tables = [read_records(file, "data.attention") for file in files]
    return pa.concat_tables(tables, promote_options="default")


def read_records(path: Path, key: str, column: str = "attention") -> pa.Table:
    """Rows of one file as :func:`read_attention` gives them.

    Args:
        path: Parquet file.
        key: Who asks, for messages.
        column: What is taken as attention; scores that are none are divided by their sum.

    Raises:
        DataError: the file is missing, is no Parquet file, or lacks a column.
    """
    table = _read(path, key, column)
    try:
        weights = table[column].cast(pa.list_(pa.float32()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{key}: column {column!r} of {path} must hold lists of numbers") from error
    weights = weights if column == "attention" else _normalised(weights)
    return table.set_column(table.column_names.index(column), "attention", weights)


def impose_attention(dataset: TextDataset, table: pa.Table, split: str, key: str = "data.attention") -> None:
    """Give each row of a split the attention of its id, and the probabilities where the table has them.

    Raises:
        DataError: as :func:`aligned`.
    """
    dataset.impose(aligned(dataset, table, split, key))


def aligned(dataset: TextDataset, table: pa.Table, split: str, key: str) -> Outputs:
    """Outputs in the order of a split.

    Raises:
        DataError: an id is missing or occurs twice, or its attention has another number of tokens than its text,
            is negative or does not sum to 1.
    """
    if "split" in table.column_names:
        table = table.filter(pc.fill_null(pc.equal(table["split"], split), True))
    place = _places(table["id"].to_pylist(), split, key)
    missing = [name for name in dataset.ids if name not in place]
    if missing:
        raise DataError(
            f"{key}: no attention for {len(missing)} of {len(dataset)} ids of the {split} split,"
            f" such as {missing[0]!r}; name records that hold this split"
        )
    order = pa.array([place[name] for name in dataset.ids], pa.int64())
    flat, offsets = flat_lists(table["attention"].take(order))
    _check(flat, offsets, dataset, split, key)
    probabilities = None
    if "probabilities" in table.column_names and not table["probabilities"].null_count:
        probabilities = np.stack(table["probabilities"].take(order).to_numpy()).astype(np.float32)
    return Outputs(flat, offsets[:-1], probabilities)


def _read(path: Path, key: str, column: str) -> pa.Table:
    if not path.is_file():
        raise DataError(f"{key}: there is no file {path}")
    try:
        names = pq.read_schema(path).names
        wanted = [name for name in ("id", column, "split", "probabilities") if name in names]
        table = pq.read_table(path, columns=wanted)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{key}: {path} is no Parquet file ({error})") from error
    for name in ("id", column):
        if name not in names:
            raise DataError(f"{key}: {path} has no column {name!r}; it needs id and {column}")
    return table


def _normalised(scores: pa.ChunkedArray) -> pa.ListArray:
    """Non-negative scores as distributions; uniform where all are zero."""
    flat, offsets = flat_lists(scores)
    sizes = np.diff(offsets)
    sums = np.repeat(np.add.reduceat(flat.astype(np.float64), offsets[:-1]), sizes)
    weights = np.where(sums > 0, flat / np.where(sums > 0, sums, 1), 1 / np.repeat(sizes, sizes))
    return pa.ListArray.from_arrays(offsets.astype(np.int32), weights.astype(np.float32))


def _places(ids: list[str], split: str, key: str) -> dict[str, int]:
    place = {str(name): row for row, name in enumerate(ids)}
    if len(place) < len(ids):
        raise DataError(f"{key}: {len(ids) - len(place)} ids occur more than once for the {split} split")
    return place


def _check(
    flat: npt.NDArray[np.float32], offsets: npt.NDArray[np.int64], dataset: TextDataset, split: str, key: str
) -> None:
    wrong = np.flatnonzero(np.diff(offsets) != dataset.units)
    if len(wrong):
        row = wrong[0]
        raise DataError(
            f"{key}: id {dataset.ids[row]!r} of the {split} split has {np.diff(offsets)[row]} weights for"
            f" {dataset.units[row]} {dataset.unit}; the records were made with another tokenisation"
        )
    sums = np.add.reduceat(flat.astype(np.float64), offsets[:-1])
    bad = np.flatnonzero(~(np.abs(sums - 1) < 1e-3))
    if len(bad) or not (flat >= 0).all():
        name = dataset.ids[bad[0]] if len(bad) else "?"
        raise DataError(f"{key}: weights must be non-negative and sum to 1, unlike those of id {name!r}")
