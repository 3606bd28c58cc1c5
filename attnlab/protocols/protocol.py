"""The base of every protocol: a LightningModule whose test step gives one row per instance."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from typing import Protocol as Interface

import lightning as L
import torch
from torch import Tensor

from attnlab.data.batch import Batch
from attnlab.functional.prediction import class_probabilities, predicted_class
from attnlab.nn.encoded import Encoded
from attnlab.report.spec import Figure, Statistic

Column = Tensor | Sequence[Any]
"""Values of a batch: (B,) one per instance, or (B, T) one per position, of which the content positions are kept."""


class AttentionModel(Interface):
    """What a protocol may ask of a model family."""

    def embed(self, batch: Batch) -> Tensor:
        """Embedded tokens (B, T, E)."""
        ...

    def encode(self, batch: Batch, embedded: Tensor | None = None) -> Encoded:
        """Hidden states of a batch."""
        ...

    def encode_without(self, batch: Batch, encoded: Encoded, rows: Tensor, positions: Tensor) -> Encoded:
        """Hidden states of ``rows`` (N,), each without the content position in ``positions`` (N,)."""
        ...

    def attend(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        ...

    def decode(self, encoded: Encoded, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T)."""
        ...

    def values(self, encoded: Encoded) -> Tensor:
        """Folded values (B, T, D)."""
        ...

    def finish(self, context: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, *K, C) from weighted sums of values (B, *K, D)."""
        ...


def unit_of(model: object) -> str:
    """What a model's attention weighs: tokens, unless it says otherwise."""
    return getattr(model, "unit", "tokens")


@dataclass
class Observation:
    """A batch as the unchanged model sees it; what :meth:`Protocol.measure` starts from.

    Attributes:
        model: The trained model, in evaluation mode.
        batch: B instances.
        encoded: Their hidden states.
        attention: (B, T).
        logits: (B, C).
    """

    model: AttentionModel
    batch: Batch
    encoded: Encoded
    attention: Tensor
    logits: Tensor

    @property
    def mask(self) -> Tensor:
        """Content positions, (B, T) bool."""
        return self.encoded.mask

    @property
    def unit(self) -> str:
        """What the positions are."""
        return unit_of(self.model)

    @cached_property
    def probabilities(self) -> Tensor:
        """Distribution over the classes, (B, C) with C >= 2."""
        return class_probabilities(self.logits)

    @cached_property
    def prediction(self) -> Tensor:
        """Most probable class, (B,)."""
        return predicted_class(self.logits)

    @cached_property
    def length(self) -> Tensor:
        """Number of content positions, (B,)."""
        return self.mask.sum(-1)

    @cached_property
    def token_logits(self) -> Tensor:
        """Logits with all attention on each token in turn, (B, T, C), without T² weights."""
        return self.model.finish(self.model.values(self.encoded), self.encoded)

    def predict(self, attention: Tensor) -> Tensor:
        """Distributions (B, *K, C) under counterfactual attention (B, *K, T); the encoder does not run again."""
        return class_probabilities(self.model.decode(self.encoded, attention))


class Protocol(L.LightningModule, ABC):
    """A protocol measures each instance of a split on one trained model.

    What further models say of the split, where its configuration declares ``models``, comes as the argument ``models``:
    by name, a sequence of :class:`~attnlab.data.outputs.Outputs`.

    A subclass declares what it needs (``requires``), what its records are summarised by (``statistics``) and drawn as
    (``figures``), and implements :meth:`measure`. Summaries and figures are functions of the records alone.

    Args:
        model: A trained model.
    """

    requires: ClassVar[frozenset[str]] = frozenset()
    statistics: ClassVar[tuple[Statistic, ...]] = ()
    figures: ClassVar[tuple[Figure, ...]] = ()
    with_text: ClassVar[bool] = False
    """Whether the records carry ``tokens`` and, where the data set knows them, the gold ``rationale``."""

    def __init__(self, model: L.LightningModule) -> None:
        super().__init__()
        self.model = model
        # Fewer batches than processes: some have nothing to do.
        self.allow_zero_length_dataloader_with_multiple_devices = True

    def summarised_by(self) -> tuple[Statistic, ...]:
        """``statistics``, unless they depend on the options."""
        return self.statistics

    def drawn_as(self) -> tuple[Figure, ...]:
        """``figures``, unless they depend on the options."""
        return self.figures

    @abstractmethod
    def measure(self, observation: Observation) -> dict[str, Column]:
        """Columns of a batch, (B,) or (B, T) each.

        A column ``excluded`` (list of B reasons or None) marks instances that cannot be measured; their values are
        recorded as missing.
        """

    @torch.no_grad()
    def test_step(self, batch: Batch, batch_idx: int) -> dict[str, Column]:
        """The protocol's columns beside those that every record has, and the content positions (``mask``)."""
        encoded = self.model.encode(batch)  # type: ignore[operator]
        attention = self.model.attend(encoded)  # type: ignore[operator]
        logits = self.model.decode(encoded, attention)  # type: ignore[operator]
        seen = Observation(self.model, batch, encoded, attention, logits)  # type: ignore[arg-type]
        part: dict[str, Column] = {} if encoded.part is None else {"sentence": encoded.part}
        return {
            "mask": encoded.mask,
            **part,
            "label": batch.labels,
            "prediction": seen.prediction,
            "length": seen.length,
            "max_attention": attention.amax(-1),
            "excluded": [None] * len(batch),
            **self.measure(seen),
        }
