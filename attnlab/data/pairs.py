"""Passages with questions, and premises with hypotheses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset
from tokenizers import Tokenizer

from attnlab.data.batch import PairBatch
from attnlab.data.datamodule import TextDataModule
from attnlab.data.dataset import TextDataset, flat_lists, padded
from attnlab.data.tokenization import surface_tokens
from attnlab.errors import ConfigError


class PairDataset(TextDataset):
    """Rows of a split as passages with questions; ``dataset[[3, 1]]`` is the batch of rows 3 and 1.

    Args:
        encoded: Rows of id, text, question, label, input_ids, question_ids and, where there are some, rationale.
        tokenizer: What made them.
        rows: Numbers of the rows that remain; None for all.
        answers: Class of each token id that is an answer, −1 of every other (V,), where the passage offers the answers;
            None where every class is always on offer.
    """

    def __init__(
        self,
        encoded: Dataset,
        tokenizer: Tokenizer,
        rows: npt.NDArray[np.int64] | None = None,
        answers: npt.NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(encoded, tokenizer, rows)
        self._questions, offsets = flat_lists(encoded.data.column("question_ids"))
        self._question_starts = offsets[:-1][self._rows]
        self.question_lengths: npt.NDArray[np.int64] = np.diff(offsets)[self._rows]
        self._answers = answers

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        """Rows and width of the ids of each row: one, and the longer of passage and question (N, 2)."""
        return np.column_stack([np.ones_like(self.lengths), np.maximum(self.lengths, self.question_lengths)])

    def __getitem__(self, index: Sequence[int]) -> PairBatch:
        """The batch of some rows, each side padded to the longest of its own."""
        batch = super().__getitem__(index)
        rows = batch.index.numpy()
        lengths = self.question_lengths[rows]
        ids, mask = padded(self._questions, self._question_starts[rows], lengths)
        return PairBatch(
            **vars(batch),
            question_ids=torch.from_numpy(ids),
            question_mask=torch.from_numpy(mask),
            question_lengths=torch.from_numpy(lengths),
            candidates=None if self._answers is None else torch.from_numpy(offered(batch.ids.numpy(), self._answers)),
        )

    def question(self, index: int) -> list[str]:
        """Content tokens of a row's question."""
        return surface_tokens(self._tokenizer, self._cell("question", index))


class PairDataModule(TextDataModule):
    """Labelled pairs of texts as batches of token ids.

    The text is what attention goes to (passage, premise); the other one is ``source.question``. They share vocabulary
    and tokenisation; lengths, bounds and buckets are those of the text.

    Args:
        offers_answers: Whether only classes that occur as tokens of the passage can be its answer, as with the entities
            of CNN news. Rows whose answer does not occur are left out and counted.
        options: Those of :class:`TextDataModule`.

    Raises:
        ConfigError: the source names no question.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"pair"})
    reads_pairs: ClassVar[bool] = True

    def __init__(self, *args: Any, offers_answers: bool = False, **options: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **options)
        self.recipe = replace(self.recipe, answer_words=offers_answers)
        if self.recipe.source.question is None:
            raise ConfigError("data.source.question: name the column of the second text, such as hypothesis")

    def build(self, encoded: Dataset, tokenizer: Tokenizer, rows: npt.NDArray[np.int64] | None = None) -> PairDataset:
        """Rows of a split as pairs."""
        return PairDataset(encoded, tokenizer, rows, self._answers(tokenizer) if self.recipe.answer_words else None)

    def _barred(self, split: str, encoded: Dataset) -> dict[str, npt.NDArray[np.bool_]]:
        reasons = super()._barred(split, encoded)
        if not self.recipe.answer_words:
            return reasons
        flat, offsets = flat_lists(encoded.data.column("input_ids"))
        labels = encoded.data.column("label").to_numpy()
        hits = self._answers(self.tokenizer)[flat] == np.repeat(labels, np.diff(offsets))
        return {**reasons, "answer not in the text": ~np.logical_or.reduceat(hits, offsets[:-1])}

    def _answers(self, tokenizer: Tokenizer) -> npt.NDArray[np.int64]:
        """Class of each token id, −1 where it is none."""
        answers = np.full(tokenizer.get_vocab_size(), -1)
        for number, name in enumerate(self.classes):
            answers[tokenizer.token_to_id(name)] = number
        return answers


def offered(ids: npt.NDArray[np.int64], answers: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which classes occur among the tokens of each passage.

    Args:
        ids: Token ids, (B, T).
        answers: Class of each token id, −1 where it is none, (V,).

    Returns:
        (B, C) bool.
    """
    found = np.zeros((len(ids), int(answers.max()) + 1), bool)
    classes = answers[ids]
    rows, places = np.nonzero(classes >= 0)
    found[rows, classes[rows, places]] = True
    return found
