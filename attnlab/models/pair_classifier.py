"""The family of two sequences: a passage that is attended, asked by a question."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from attnlab.data.batch import Batch, PairBatch
from attnlab.models.sequence_classifier import SequenceClassifier
from attnlab.nn.encoded import Encoded
from attnlab.nn.readout import QueryReadout


class PairClassifier(SequenceClassifier):
    """Classifier of a passage and a question, or of a premise and a hypothesis (Jain & Wallace 2019, section 2).

    An encoder of its own reads the question to one vector, the query. Attention goes to the passage alone and
    depends on the query, and so does the readout: ``V tanh(W Σ_t α_t h_t + U q + b) + d``. It has a logit for every
    class, of two classes too. Positions are the tokens of the passage; the question is never permuted, deleted or
    attended.

    Args:
        encoder: Builds each of the two encoders from the embedding size.
        attention: Builds the attention mechanism from the size of the hidden states and ``query_size``.
        optimizer: Builds the optimizer from parameter groups.
        vocab_size: Number of token ids; id 0 is padding.
        num_classes: Number of answers.
        embedding_dim: Size of the embeddings, which passage and question share.
        readout_size: Inner size of the readout; half the size of a hidden state when not given.
        pos_weight: Unused: the loss weighs all classes alike, as published.
        scheduler: Builds a learning rate scheduler from the optimizer; it sees dev accuracy after each epoch.
        initialise: Gives parameters their first values; PyTorch's own when not given.
        objective: Summed loss of a batch in training; that of the labels when not given.

    Raises:
        ValueError: fewer than two classes.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"pair", "folded_readout", "token_gradients"})
    requires: ClassVar[frozenset[str]] = frozenset({"pair"})

    def __init__(
        self,
        encoder: Callable[[int], nn.Module],
        attention: Callable[..., nn.Module],
        optimizer: Callable[[Iterable[dict[str, Any]]], torch.optim.Optimizer],
        vocab_size: int,
        num_classes: int,
        embedding_dim: int = 300,
        readout_size: int | None = None,
        pos_weight: float | None = None,
        scheduler: Callable[[torch.optim.Optimizer], Any] | None = None,
        initialise: Callable[[nn.Module], None] | None = None,
        objective: Callable[[SequenceClassifier, Batch], Tensor] | None = None,
    ) -> None:
        super().__init__(
            encoder=encoder,
            attention=lambda size: attention(size, query_size=size),
            optimizer=optimizer,
            vocab_size=vocab_size,
            num_classes=num_classes,
            embedding_dim=embedding_dim,
            scheduler=scheduler,
            objective=objective,
        )
        self.question_encoder = encoder(embedding_dim)
        size: int = self.encoder.output_size  # type: ignore[assignment]
        self.readout = QueryReadout(size, size, num_classes, readout_size)
        if initialise is not None:
            initialise(self)

    def encode(self, batch: Batch, embedded: Tensor | None = None) -> Encoded:
        """Hidden states of the passages, from their tokens or from given embeddings of them (B, T, E), and the query.

        Raises:
            TypeError: the batch holds texts without questions.
        """
        if not isinstance(batch, PairBatch):
            raise TypeError("this model reads pairs: data._target_=attnlab.data.PairDataModule")
        encoded = super().encode(batch, embedded)
        encoded.query, encoded.candidates = self.ask(batch), batch.candidates
        return encoded

    def ask(self, batch: PairBatch) -> Tensor:
        """The questions as vectors (B, Q)."""
        place = (batch.question_mask, batch.question_lengths)
        hidden = self.question_encoder(self.embedding(batch.question_ids), *place)
        query: Tensor = self.question_encoder.summary(hidden, *place)  # type: ignore[operator]
        return query

    def encode_without(self, batch: Batch, encoded: Encoded, rows: Tensor, positions: Tensor) -> Encoded:
        """Hidden states of ``rows`` (N,), each without a token of the passage; the questions stay.

        The answers on offer stay too, as published, even where the deleted token is one of them.
        """
        shorter = super().encode_without(batch, encoded, rows, positions)
        assert encoded.query is not None
        shorter.query = encoded.query[rows]
        shorter.candidates = None if encoded.candidates is None else encoded.candidates[rows]
        return shorter

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Loss of one batch, the mean over it as published for these tasks."""
        return super().training_step(batch, batch_idx) / len(batch)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Weight decay on everything, as published for these tasks."""
        return [{"params": list(self.parameters())}]
