"""Records: one row per instance, written while a protocol runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import lightning as L
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from torch import Tensor

from attnlab.data.batch import Batch

EXCLUDABLE_FROM = ("index", "id", "split", "sentence", "label", "prediction", "length", "max_attention", "excluded")
"""Columns that every record has; they stay when a protocol cannot measure the instance."""


class Instances(Protocol):
    """What records take from a split beside the batches."""

    @property
    def ids(self) -> Sequence[str]:
        """One name per instance."""
        ...

    def tokens(self, index: int, part: int | None = None) -> list[str]:
        """What stands at the content positions of an instance, or of a part of it."""
        ...

    def rationale(self, index: int, part: int | None = None) -> list[int] | None:
        """Content positions that decide its label, where they are known."""
        ...

    def question(self, index: int) -> list[str] | None:
        """What is asked about an instance, where something is."""
        ...


class RecordWriter(L.Callback):
    """Writes the columns of each test batch to a Parquet file per process, so that memory does not grow.

    Args:
        folder: Where the parts go.
        dataset: The split that is measured.
        split: Its name.
    """

    def __init__(self, folder: Path, dataset: Instances, split: str) -> None:
        self.folder = folder
        self.dataset = dataset
        self.split = split
        self._writer: pq.ParquetWriter | None = None

    def on_test_batch_end(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        outputs: Any,  # noqa: ANN401 - Lightning's type does not admit lists of strings
        batch: Batch,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Append a batch."""
        index = batch.index.tolist()
        names = {
            "index": batch.index,
            "id": [self.dataset.ids[i] for i in index],
            "split": [self.split] * len(index),
        }
        mask = outputs.pop("mask")
        parts = outputs["sentence"].tolist() if "sentence" in outputs else [None] * len(index)
        text = self._text(index, parts) if getattr(pl_module, "with_text", False) else {}
        table = to_arrow({**names, **outputs, **text}, mask)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self.folder / f"part-{trainer.global_rank}.parquet", table.schema)
        self._writer.write_table(table.cast(self._writer.schema))

    def _text(self, index: list[int], parts: list[int | None]) -> dict[str, Any]:
        columns: dict[str, Any] = {"tokens": [self.dataset.tokens(i, p) for i, p in zip(index, parts, strict=True)]}
        questions = [self.dataset.question(i) for i in index]
        if None not in questions:
            columns["question"] = questions
        rationales = [self.dataset.rationale(i, p) for i, p in zip(index, parts, strict=True)]
        return columns if None in rationales else {**columns, "rationale": rationales}

    def on_test_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Close this process's file."""
        self._close()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        """Close the file, which is then thrown away with its folder."""
        self._close()

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def gather_records(folder: Path, instances: int) -> pa.Table:
    """Join the parts of all processes, in the order of the data set, and remove the parts.

    Args:
        folder: Where :class:`RecordWriter` wrote.
        instances: How many instances the split has.

    Raises:
        RuntimeError: an instance is missing or was measured twice.
    """
    parts = sorted(folder.glob("part-*.parquet"))
    # Read-ahead and threads would hold the file several times over.
    tables = [pq.read_table(part, use_threads=False, pre_buffer=False) for part in parts]
    table = pa.concat_tables(tables).sort_by("index").combine_chunks()
    if not np.array_equal(table["index"].to_numpy(), np.arange(instances)):
        raise RuntimeError(f"{table.num_rows} records for {instances} instances: each must be measured exactly once")
    for part in parts:
        part.unlink()
    return table


def to_arrow(columns: dict[str, Any], mask: Tensor) -> pa.Table:
    """A batch's columns as a table.

    Args:
        columns: (B,) tensors, arrays or lists; (B, T) tensors become lists of their content positions.
        mask: Content positions, (B, T).

    Returns:
        One row per instance. Values of instances with an ``excluded`` reason are null.
    """
    content = mask.cpu().numpy()
    arrays = {name: _array(name, values, content) for name, values in columns.items()}
    excluded = np.array([reason is not None for reason in columns["excluded"]])
    for name in arrays.keys() - set(EXCLUDABLE_FROM):
        if excluded.any() and not pa.types.is_list(arrays[name].type):
            arrays[name] = pc.if_else(pa.array(excluded), pa.scalar(None, arrays[name].type), arrays[name])
    return pa.table(arrays)


def _array(name: str, values: Any, content: np.ndarray) -> pa.Array:  # noqa: ANN401 - tensor, array or list
    if isinstance(values, Tensor) and values.dim() == 2:
        offsets = np.concatenate([[0], content.sum(1).cumsum()]).astype(np.int32)
        return pa.ListArray.from_arrays(offsets, values.float().cpu().numpy()[content])
    if isinstance(values, Tensor):
        # What is not a number is a missing value.
        return pa.array(values.cpu().numpy(), from_pandas=True)
    if all(value is None for value in values):
        # Nothing tells the type of an empty column; the only one that may be empty for a whole batch is text.
        return pa.array(values, pa.string())
    # What is not a number is missing in lists too; the type is found first, since of nothing but that it would be none.
    return pa.array(values, pa.array(values).type, from_pandas=True)
