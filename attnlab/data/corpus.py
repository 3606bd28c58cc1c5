"""The training texts as word vectors are learnt from them."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt
from datasets import Dataset

from attnlab.data.dataset import flat_lists


class Corpus:
    """Passages of token ids: the sentences of the training texts where they are told apart, else whole texts.

    The texts are those that the vocabulary is made of: questions count, and so do texts that a bound of the training
    split leaves out.

    Args:
        training: Rows of the training split with input_ids and, where there are some, question_ids and sentences.
        key: Hash of what decides them.
    """

    def __init__(self, training: Dataset, key: str) -> None:
        self.key = key
        self._training = training

    def passages(self) -> Iterator[npt.NDArray[np.int32]]:
        """Token ids of each passage, without start and end."""
        for ids, starts in self._parts:
            yield from np.split(ids, starts)

    def counts(self, size: int) -> npt.NDArray[np.int64]:
        """How often each of ``size`` token ids occurs, (size,)."""
        return sum((np.bincount(ids, minlength=size) for ids, _ in self._parts), np.zeros(size, np.int64))

    @cached_property
    def _parts(self) -> list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]]:
        """Ids of all texts, and of all questions, and where the second and later passages of them start."""
        names = self._training.column_names
        texts, starts = self._content("input_ids")
        if "sentences" in names:
            starts = np.cumsum(flat_lists(self._training.data.column("sentences"))[0], dtype=np.int64)[:-1]
        return [(texts, starts), *([self._content("question_ids")] if "question_ids" in names else [])]

    def _content(self, column: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        flat, offsets = flat_lists(self._training.data.column(column))
        framed = np.concatenate([offsets[:-1], offsets[1:] - 1])
        return np.delete(flat, framed), offsets[1:-1] - 2 * np.arange(1, len(offsets) - 1)
