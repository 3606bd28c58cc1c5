"""One split as flat arrays, from which batches are cut."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import torch
from datasets import Dataset
from tokenizers import Tokenizer

from attnlab.data.batch import Batch
from attnlab.data.outputs import Outputs
from attnlab.data.tokenization import surface_tokens

AnyBatch = TypeVar("AnyBatch", bound=Batch)


class TextDataset(torch.utils.data.Dataset[Batch]):
    """Rows of a split after filtering; ``dataset[[3, 1]]`` is the batch of rows 3 and 1.

    Args:
        encoded: Rows of id, text, label, input_ids and, where there are some, rationale.
        tokenizer: What made them.
        rows: Numbers of the rows that remain; None for all.

    Attributes:
        ids: Id of each row.
        lengths: Tokens of each row, start and end included (N,).
        units: Content positions of each row, which attention may go to (N,).
        labels: Class numbers (N,).
    """

    unit: ClassVar[str] = "tokens"
    """What attention goes to."""

    def __init__(self, encoded: Dataset, tokenizer: Tokenizer, rows: npt.NDArray[np.int64] | None = None) -> None:
        self._encoded = encoded
        self._tokenizer = tokenizer
        self._flat, offsets = flat_lists(encoded.data.column("input_ids"))
        self._rows = np.arange(len(encoded)) if rows is None else rows
        self._starts = offsets[:-1][self._rows]
        self.lengths: npt.NDArray[np.int64] = np.diff(offsets)[self._rows]
        self.units: npt.NDArray[np.int64] = self.lengths - 2
        self.labels: npt.NDArray[np.int64] = encoded.data.column("label").to_numpy()[self._rows]
        self.ids: list[str] = pc.take(encoded.data.column("id").combine_chunks(), self._rows).to_pylist()
        self._given: Outputs | None = None

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        """Rows and width of the ids of each row of the split: one, and its tokens (N, 2)."""
        return np.column_stack([np.ones_like(self.lengths), self.lengths])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Sequence[int]) -> Batch:
        """The batch of some rows, padded to the longest of them."""
        rows = np.asarray(index, np.int64)
        lengths = self.lengths[rows]
        ids, mask = padded(self._flat, self._starts[rows], lengths)
        batch = Batch(
            ids=torch.from_numpy(ids),
            mask=torch.from_numpy(mask),
            lengths=torch.from_numpy(lengths),
            labels=torch.from_numpy(self.labels[rows]),
            index=torch.from_numpy(rows),
        )
        return self.with_given(batch)

    def impose(self, given: Outputs) -> None:
        """Give every row what another model says of it."""
        self._given = given

    def with_given(self, batch: AnyBatch) -> AnyBatch:
        """A batch with what was imposed on its rows, if anything was."""
        if self._given is None:
            return batch
        known = None if self._given.probabilities is None else self._given.distributions(batch.index)
        return replace(batch, given=self._given.attention(batch.index, batch.mask), given_probabilities=known)

    def tokens(self, index: int, part: int | None = None) -> list[str]:
        """Content tokens of a row, as the text has them after normalisation; a text has no parts."""
        return surface_tokens(self._tokenizer, self._cell("text", index))

    def rationale(self, index: int, part: int | None = None) -> list[int] | None:
        """Content positions that decide the label of a row, if the source knows them."""
        return self._cell("rationale", index) if "rationale" in self._encoded.column_names else None

    def question(self, index: int) -> list[str] | None:
        """Content tokens of a row's question; None where nothing is asked."""
        return None

    def _cell(self, column: str, index: int) -> Any:  # noqa: ANN401 - the column's type
        return self._encoded.data.column(column)[int(self._rows[index])].as_py()


def padded(
    flat: npt.NDArray[Any], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Framed sequences as rows of ids, padded to the longest, and their content positions: (B, T) each.

    Args:
        flat: Token ids of many sequences one after another.
        starts: Where each of B sequences starts, (B,).
        lengths: Tokens of each, start and end included, (B,).
    """
    place = np.arange(lengths.max())
    inside = place < lengths[:, None]
    ids = np.zeros(inside.shape, np.int64)
    ids[inside] = flat[(starts[:, None] + place)[inside]]
    return ids, inside & (place > 0) & (place < lengths[:, None] - 1)


def flat_lists(column: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:  # noqa: ANN401 - pa.ChunkedArray
    """Values and offsets of a list column, in place where it lies in one piece."""
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    offsets = array.offsets.to_numpy().astype(np.int64, copy=False)
    return array.values.to_numpy(zero_copy_only=False), offsets


def content_lengths(encoded: Dataset) -> npt.NDArray[np.int64]:
    """Tokens of each row without start and end (N,)."""
    return np.diff(flat_lists(encoded.data.column("input_ids"))[1]) - 2
