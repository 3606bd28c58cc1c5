"""Texts as documents: sentences of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset
from tokenizers import Tokenizer

from attnlab.data.batch import DocumentBatch
from attnlab.data.datamodule import TextDataModule
from attnlab.data.dataset import TextDataset, flat_lists
from attnlab.errors import ConfigError


@dataclass(frozen=True)
class Limits:
    """What of a document is read.

    Attributes:
        sentences: Its first so many sentences; None for all.
        words: The first so many words of each sentence; None for all.
    """

    sentences: int | None = None
    words: int | None = None


WHOLE = Limits()


class DocumentDataset(TextDataset):
    """Rows of a split as sentences; ``dataset[[3, 1]]`` is the batch of documents 3 and 1.

    Args:
        encoded: Rows of id, text, label, input_ids, sentences and, where there are some, rationale.
        tokenizer: What made them.
        rows: Numbers of the rows that remain; None for all.
        limits: What of a document is read.

    Attributes:
        lengths: Words of each document that are read (N,).
        units: Sentences of each document that are read (N,).
        cut: How many documents lost sentences, and how many lost words of a sentence.
    """

    unit: ClassVar[str] = "sentences"

    def __init__(
        self,
        encoded: Dataset,
        tokenizer: Tokenizer,
        rows: npt.NDArray[np.int64] | None = None,
        limits: Limits = WHOLE,
    ) -> None:
        super().__init__(encoded, tokenizer, rows)
        sizes, offsets = flat_lists(encoded.data.column("sentences"))
        # Content tokens of all documents one after another, with a start and an end token around each document.
        before = np.cumsum(sizes, dtype=np.int64) - sizes
        self._sentence_starts = before + 2 * np.repeat(np.arange(len(encoded)), np.diff(offsets)) + 1
        self._sizes = sizes if limits.words is None else np.minimum(sizes, limits.words)
        self._first = offsets[:-1][self._rows]
        whole = np.diff(offsets)[self._rows]
        self.units = whole if limits.sentences is None else np.minimum(whole, limits.sentences)
        summed = np.concatenate([[0], np.cumsum(self._sizes, dtype=np.int64)])
        self.lengths = summed[self._first + self.units] - summed[self._first]
        self._widths = _largest(self._sizes, self._first, self.units)
        self.cut = {
            "sentences": int((whole > self.units).sum()),
            "words": int((_largest(sizes, self._first, self.units) > self._widths).sum()),
        }

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        """Rows and width of the ids of each document: its sentences, and the words of the longest (N, 2)."""
        return np.column_stack([self.units, self._widths])

    def __getitem__(self, index: Sequence[int]) -> DocumentBatch:
        """The batch of some rows."""
        rows = np.asarray(index, np.int64)
        counts = self.units[rows]
        mask = np.arange(counts.max()) < counts[:, None]
        sentences = (self._first[rows, None] + np.arange(counts.max()))[mask]
        sizes = self._sizes[sentences].astype(np.int64)
        place = np.arange(sizes.max())
        inside = place < sizes[:, None]
        ids = np.zeros(inside.shape, np.int64)
        ids[inside] = self._flat[(self._sentence_starts[sentences, None] + place)[inside]]
        batch = DocumentBatch(
            ids=torch.from_numpy(ids),
            mask=torch.from_numpy(mask),
            lengths=torch.from_numpy(counts),
            labels=torch.from_numpy(self.labels[rows]),
            index=torch.from_numpy(rows),
            word_mask=torch.from_numpy(inside),
            word_lengths=torch.from_numpy(sizes),
        )
        return self.with_given(batch)

    def tokens(self, index: int, part: int | None = None) -> list[str]:
        """Sentences of a document, their tokens joined by spaces; or the tokens of one of them."""
        tokens = super().tokens(index)
        sentences = [tokens[start:end] for start, end in self._spans(index)]
        return [" ".join(sentence) for sentence in sentences] if part is None else sentences[part]

    def rationale(self, index: int, part: int | None = None) -> list[int] | None:
        """Sentences that hold a word which decides the label, or such words of one of them, if the source knows."""
        places = super().rationale(index)
        if places is None:
            return None
        held = [[place - start for place in places if start <= place < end] for start, end in self._spans(index)]
        return [number for number, found in enumerate(held) if found] if part is None else held[part]

    def _spans(self, index: int) -> list[tuple[int, int]]:
        """Where each sentence that is read starts among the tokens of the document, and where what is read ends."""
        first, count = self._first[index], self.units[index]
        starts = self._sentence_starts[first : first + count] - self._sentence_starts[first]
        return list(zip(starts.tolist(), (starts + self._sizes[first : first + count]).tolist(), strict=True))


class DocumentDataModule(TextDataModule):
    """Labelled documents as batches of sentences.

    Args:
        max_sentences: Sentences of a document that are read, from its start; None for all.
        max_sentence_words: Words of a sentence that are read; None for all.
        options: Those of :class:`TextDataModule`; lengths count the words of the whole document.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"document"})
    splits_sentences: ClassVar[bool] = True

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - those of TextDataModule
        max_sentences: int | None = None,
        max_sentence_words: int | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        for name, value in (("max_sentences", max_sentences), ("max_sentence_words", max_sentence_words)):
            if value is not None and value < 1:
                raise ConfigError(f"data.{name}={value}: must be at least 1, or null")
        super().__init__(*args, **options)
        self.limits = Limits(max_sentences, max_sentence_words)

    def build(
        self, encoded: Dataset, tokenizer: Tokenizer, rows: npt.NDArray[np.int64] | None = None
    ) -> DocumentDataset:
        """Rows of a split as documents."""
        return DocumentDataset(encoded, tokenizer, rows, self.limits)

    def _count(self, dataset: TextDataset, dropped: dict[str, int]) -> dict[str, Any]:
        assert isinstance(dataset, DocumentDataset)
        cut = {what: number for what, number in dataset.cut.items() if number}
        return {**super()._count(dataset, dropped), "sentences": int(dataset.units.sum()), "cut": cut}


def _largest(
    sizes: npt.NDArray[Any], first: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Largest of ``counts[n]`` sizes from place ``first[n]`` on, (N,); every count is positive."""
    if not len(first):
        return np.zeros(0, np.int64)
    padded = np.append(sizes, 0).astype(np.int64)
    bounds = np.column_stack([first, first + counts]).ravel()
    return np.maximum.reduceat(padded, bounds)[::2]
