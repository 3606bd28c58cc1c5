"""The lower of two attention layers as what protocols measure."""

from dataclasses import dataclass, field
from typing import ClassVar

import lightning as L
import torch
from torch import Tensor

from attnlab.data.batch import Batch
from attnlab.functional.deletion import delete_positions
from attnlab.functional.folding import attend_values
from attnlab.models.hierarchical_classifier import HierarchicalClassifier
from attnlab.nn.encoded import Encoded


@dataclass
class EncodedWords(Encoded):
    """The words of one sentence of each of B documents, and the document around them.

    Attributes:
        document: The encoded sentences, (B, S, H).
        lengths: Sentences of each document, (B,).
        part: Which sentence the words are of, (B,).
    """

    document: Encoded = field(kw_only=True)
    lengths: Tensor = field(kw_only=True)


class WordLevel(L.LightningModule):
    """A trained hierarchical model whose word attention is measured, with all else fixed.

    Positions are the words of one sentence of each document: the one with the most attention (the first of several).
    A counterfactual attention over them gives another vector of that sentence; those of the other sentences stay, and
    sentence encoder, sentence attention and readout run again on them.

    Args:
        model: The trained model.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"document", "token_gradients", "content_attention"})
    requires: ClassVar[frozenset[str]] = frozenset({"word_level"})
    unit: ClassVar[str] = "words"

    def __init__(self, model: HierarchicalClassifier) -> None:
        super().__init__()
        self.model = model

    def embed(self, batch: Batch) -> Tensor:
        """Embedded words (B, T, E)."""
        embedded = self.encode(batch).embedded
        assert embedded is not None
        return embedded

    def encode(self, batch: Batch, embedded: Tensor | None = None) -> EncodedWords:
        """Hidden states of the words, from the batch or from given embeddings of them (B, T, E)."""
        words = self.model.read_words(batch)
        document = self.model.encode(batch, self.model.sentence_vectors(words, batch.mask))
        part = self.model.attend(document).argmax(-1)
        rows = batch.lengths.cumsum(0) - batch.lengths + part
        mask = words.mask[rows]
        if embedded is None:
            assert words.embedded is not None
            hidden, embedded = words.hidden[rows], words.embedded[rows]
        else:
            hidden = self.model.word_encoder(embedded, mask, mask.sum(-1))
        return EncodedWords(hidden, mask, embedded=embedded, part=part, document=document, lengths=batch.lengths)

    def encode_without(self, batch: Batch, encoded: EncodedWords, rows: Tensor, positions: Tensor) -> EncodedWords:
        """Hidden states of the words of ``rows`` (N,), each without the one at ``positions`` (N,)."""
        assert encoded.embedded is not None
        mask = delete_positions(encoded.mask, rows, positions)
        embedded = delete_positions(encoded.embedded, rows, positions)
        return EncodedWords(
            self.model.word_encoder(embedded, mask, mask.sum(-1)),
            mask,
            embedded=embedded,
            part=None if encoded.part is None else encoded.part[rows],
            document=_take(encoded.document, rows),
            lengths=encoded.lengths[rows],
        )

    def attend(self, encoded: EncodedWords) -> Tensor:
        """Attention over the words (B, T)."""
        weights: Tensor = self.model.word_attention(encoded)
        return weights

    def decode(self, encoded: EncodedWords, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T) over the words; the document level runs again for each."""
        assert encoded.part is not None
        assert encoded.document.embedded is not None
        document, (B, *K, T) = encoded.document, attention.shape
        changed = attend_values(encoded.hidden, attention.reshape(B, -1, T)).unsqueeze(2)
        place = torch.arange(document.mask.shape[1], device=attention.device) == encoded.part.unsqueeze(1)
        vectors = torch.where(place[:, None, :, None], changed, encoded.document.embedded.unsqueeze(1)).flatten(0, 1)
        copies = torch.arange(B, device=attention.device).repeat_interleave(changed.shape[1])
        given = None if document.given is None else document.given[copies]
        # cuDNN refuses the backward pass of a recurrent layer in evaluation mode; a search over attention needs it.
        with torch.backends.cudnn.flags(enabled=torch.backends.cudnn.enabled and not attention.requires_grad):
            read = self.model.read(vectors, document.mask[copies], encoded.lengths[copies], given)
        logits = self.model.decode(read, self.model.attend(read))
        return logits.view(B, *K, logits.shape[-1])


def _take(encoded: Encoded, rows: Tensor) -> Encoded:
    """Some rows of what was read."""
    assert encoded.embedded is not None
    given = None if encoded.given is None else encoded.given[rows]
    return Encoded(encoded.hidden[rows], encoded.mask[rows], given=given, embedded=encoded.embedded[rows])
