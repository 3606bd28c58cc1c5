"""Attention imposed from outside, such as the records of another model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from attnlab.data.dataset import TextDataset, flat_lists
from attnlab.errors import DataError


def read_attention(paths: str | Sequence[str]) -> pa.Table:
    """Rows of id, attention (list<float>) and, where the files have it, split.

    Raises:
        DataError: a file is missing, is no Parquet file, or lacks a column.
    """
    tables = [_read(Path(path).expanduser()) for path in ([paths] if isinstance(paths, str) else paths)]
    return pa.concat_tables(tables, promote_options="default")


def impose_attention(dataset: TextDataset, table: pa.Table, split: str) -> None:
    """Give each row of a split the attention of its id.

    Raises:
        DataError: an id is missing or occurs twice, or its attention has another number of tokens than its text,
            is negative or does not sum to 1.
    """
    if "split" in table.column_names:
        table = table.filter(pc.fill_null(pc.equal(table["split"], split), True))
    place = _places(table["id"].to_pylist(), split)
    missing = [name for name in dataset.ids if name not in place]
    if missing:
        raise DataError(
            f"data.attention: no attention for {len(missing)} of {len(dataset)} ids of the {split} split,"
            f" such as {missing[0]!r}; name records that hold this split"
        )
    rows = table["attention"].take(pa.array([place[name] for name in dataset.ids], pa.int64()))
    flat, offsets = flat_lists(rows)
    _check(flat, offsets, dataset, split)
    dataset.impose(flat, offsets)


def _read(path: Path) -> pa.Table:
    if not path.is_file():
        raise DataError(f"data.attention: there is no file {path}")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"data.attention: {path} is no Parquet file ({error})") from error
    for column in ("id", "attention"):
        if column not in table.column_names:
            raise DataError(f"data.attention: {path} has no column {column!r}; it needs id and attention")
    kept = table.select([name for name in ("id", "attention", "split") if name in table.column_names])
    try:
        weights = kept["attention"].cast(pa.list_(pa.float32()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"data.attention: column 'attention' of {path} must hold lists of numbers") from error
    return kept.set_column(kept.column_names.index("attention"), "attention", weights)


def _places(ids: list[str], split: str) -> dict[str, int]:
    place = {str(name): row for row, name in enumerate(ids)}
    if len(place) < len(ids):
        raise DataError(f"data.attention: {len(ids) - len(place)} ids occur more than once for the {split} split")
    return place


def _check(flat: npt.NDArray[np.float32], offsets: npt.NDArray[np.int64], dataset: TextDataset, split: str) -> None:
    wrong = np.flatnonzero(np.diff(offsets) != dataset.units)
    if len(wrong):
        row = wrong[0]
        raise DataError(
            f"data.attention: id {dataset.ids[row]!r} of the {split} split has {np.diff(offsets)[row]} weights for"
            f" {dataset.units[row]} {dataset.unit}; the records were made with another tokenisation"
        )
    sums = np.add.reduceat(flat.astype(np.float64), offsets[:-1])
    bad = np.flatnonzero(~(np.abs(sums - 1) < 1e-3))
    if len(bad) or not (flat >= 0).all():
        name = dataset.ids[bad[0]] if len(bad) else "?"
        raise DataError(f"data.attention: weights must be non-negative and sum to 1, unlike those of id {name!r}")
