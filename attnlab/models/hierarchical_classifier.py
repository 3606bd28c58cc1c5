"""Hierarchical attention: over the words of each sentence, then over the sentences of a document."""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from attnlab.data.batch import Batch, DocumentBatch
from attnlab.functional.folding import attend_values
from attnlab.models.sequence_classifier import SequenceClassifier
from attnlab.nn.encoded import Encoded


class HierarchicalClassifier(SequenceClassifier):
    """Document classifier with two attention layers (Yang et al. 2016; Serrano & Smith 2019).

    Words are encoded and attended inside each sentence; the sentence vectors are what the document level embeds,
    encodes, attends and reads out. Positions are sentences, and attention is that over sentences.

    Args:
        word_encoder: Builds the encoder of the words of a sentence from the embedding size.
        word_attention: Builds the attention inside a sentence from the size of its hidden states.
        encoder: Builds the encoder of the sentences of a document from the size of a sentence vector.
        embedding_dim: Size of the word embeddings.
        initialise: Gives parameters their first values; PyTorch's own when not given.
        options: Those of :class:`~attnlab.models.sequence_classifier.SequenceClassifier`.

    Raises:
        ValueError: the word attention needs weights from outside.
    """

    gives: ClassVar[frozenset[str]] = frozenset(
        {"document", "folded_readout", "linear_readout", "token_gradients", "word_level"}
    )
    requires: ClassVar[frozenset[str]] = frozenset({"document"})
    unit: ClassVar[str] = "sentences"

    def __init__(
        self,
        word_encoder: Callable[[int], nn.Module],
        word_attention: Callable[[int], nn.Module],
        encoder: Callable[[int], nn.Module],
        embedding_dim: int = 300,
        initialise: Callable[[nn.Module], None] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        words = word_encoder(embedding_dim)
        size: int = words.output_size  # type: ignore[assignment]
        super().__init__(encoder=lambda _: encoder(size), embedding_dim=embedding_dim, **options)
        self.word_encoder = words
        self.word_attention = word_attention(size)
        if "given_attention" in getattr(self.word_attention, "requires", ()):
            raise ValueError("word_attention cannot be frozen: data.attention weighs sentences, not words")
        if initialise is not None:
            initialise(self)

    def embed(self, batch: Batch) -> Tensor:
        """Sentence vectors (B, T, E), zero where a document has no more sentences."""
        return self.sentence_vectors(self.read_words(batch), batch.mask)

    def read_words(self, batch: Batch) -> Encoded:
        """Hidden states of the words of all N sentences, (N, W, E).

        Raises:
            TypeError: the batch holds texts without sentences.
        """
        if not isinstance(batch, DocumentBatch):
            raise TypeError("a hierarchical model reads documents: data._target_=attnlab.data.DocumentDataModule")
        embedded = self.embedding(batch.ids)
        hidden = self.word_encoder(embedded, batch.word_mask, batch.word_lengths)
        return Encoded(hidden, batch.word_mask, embedded=embedded)

    def sentence_vectors(self, words: Encoded, mask: Tensor) -> Tensor:
        """Attended words of N sentences as the documents (B, T, E) in which a mask (B, T) places them in order."""
        vectors = attend_values(words.hidden, self.word_attention(words))
        spread = torch.zeros(*mask.shape, vectors.shape[-1], dtype=vectors.dtype, device=vectors.device)
        return spread.masked_scatter(mask.unsqueeze(-1), vectors)
