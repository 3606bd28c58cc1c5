"""Attention mechanisms over one sequence.

Each is built from the size of the hidden states and maps an :class:`~attnlab.nn.encoded.Encoded` batch to attention
(B, T): non-negative, zero outside the mask, summing to 1. ``gives`` names what a protocol may rely on
(``content_attention``: the weights follow from the tokens, so that an edited sequence has weights too), and
``requires`` what the mechanism itself relies on.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from attnlab.functional.masking import masked_softmax, uniform_attention
from attnlab.nn.encoded import Encoded


class Additive(nn.Module):
    """score_t = vᵀ tanh(W h_t + b) (Bahdanau et al. 2015; Jain & Wallace 2019, section 2).

    Args:
        input_size: H.
        hidden_size: Rows of W; a share of H when not given.
        share: That share: 1/2 in Jain & Wallace, 1 in Serrano & Smith (2019).
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(self, input_size: int, hidden_size: int | None = None, share: float = 0.5) -> None:
        super().__init__()
        hidden_size = hidden_size or max(1, int(input_size * share))
        self.projection = nn.Linear(input_size, hidden_size)
        self.score = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        scores = self.score(torch.tanh(self.projection(encoded.hidden))).squeeze(-1)
        return masked_softmax(scores, encoded.mask)


class ScaledDot(nn.Module):
    """score_t = (w·h_t)/√H with a learned query w (Vaswani et al. 2017; Jain & Wallace 2019, section 2).

    Args:
        input_size: H.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.score = nn.Linear(input_size, 1, bias=False)
        self.scale = input_size**-0.5

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        return masked_softmax(self.score(encoded.hidden).squeeze(-1) * self.scale, encoded.mask)


class Uniform(nn.Module):
    """Equal weight on every content position (Wiegreffe & Pinter 2019, section 3.2).

    Args:
        input_size: Unused; every mechanism is built from it.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(self, input_size: int) -> None:
        super().__init__()

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        return uniform_attention(encoded.mask, encoded.hidden.dtype)


class Frozen(nn.Module):
    """Weights given for each instance from outside, never learned (``data.attention`` names their file).

    Args:
        input_size: Unused; every mechanism is built from it.
    """

    gives: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[frozenset[str]] = frozenset({"given_attention"})

    def __init__(self, input_size: int) -> None:
        super().__init__()

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T), exactly as given.

        Raises:
            ValueError: the batch brings no weights.
        """
        if encoded.given is None:
            raise ValueError("model/attention=frozen needs data.attention=<records.parquet with id and attention>")
        return encoded.given
