"""What a model sees at once."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self

import torch
from torch import Tensor


@dataclass
class Batch:
    """B token sequences, padded to T positions.

    Attributes:
        ids: Token ids, (B, T) int64: 0 padding, 1 unknown, 2 start, 3 end.
        mask: Content positions, where attention may go, (B, T) bool: never padding, start or end.
        lengths: Tokens of each row with start and end, before padding, (B,) int64.
        labels: Classes, (B,) int64.
        index: Row numbers inside the split, (B,) int64; they join results to instances.
        given: Attention imposed from outside, (B, T), zero outside the mask; None where there is none.
        given_probabilities: What the model that gave it predicts, (B, C); None where that is not known.
    """

    ids: Tensor
    mask: Tensor
    lengths: Tensor
    labels: Tensor
    index: Tensor
    given: Tensor | None = None
    given_probabilities: Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Self:
        """The same batch on another device."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> Self:
        """The same batch in page-locked memory, for faster copies to a GPU."""
        return self._map(Tensor.pin_memory)

    def _map(self, function: Callable[[Tensor], Tensor]) -> Self:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        mapped: dict[str, Any] = {name: None if value is None else function(value) for name, value in values.items()}
        return type(self)(**mapped)


@dataclass
class DocumentBatch(Batch):
    """B documents of at most T sentences; their N sentences lie one after another, padded to W words.

    What every batch has is that of sentences: ``mask`` (B, T) marks them, ``lengths`` (B,) counts them, and ``given``
    (B, T) weighs them. A document's sentences are consecutive rows of ``ids``, which hold no row that is all padding.

    Attributes:
        ids: Token ids of the sentences, (N, W) int64: 0 padding, 1 unknown; no start or end.
        word_mask: Words, (N, W) bool.
        word_lengths: Words of each sentence, (N,) int64.
    """

    word_mask: Tensor = field(kw_only=True)
    word_lengths: Tensor = field(kw_only=True)


@dataclass
class PairBatch(Batch):
    """B passages, each with a question; what every batch has is that of the passages.

    Attributes:
        question_ids: Token ids of the questions, padded to their own width, (B, Q) int64.
        question_mask: Content positions of the questions, (B, Q) bool.
        question_lengths: Tokens of each question with start and end, (B,) int64.
        candidates: Answers that are offered, (B, C) bool; None where all are.
    """

    question_ids: Tensor = field(kw_only=True)
    question_mask: Tensor = field(kw_only=True)
    question_lengths: Tensor = field(kw_only=True)
    candidates: Tensor | None = field(default=None, kw_only=True)
