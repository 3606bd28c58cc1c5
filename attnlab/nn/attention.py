"""Attention mechanisms over one sequence.

Each is built from the size of the hidden states, and of the query in tasks that ask something, and maps an
:class:`~attnlab.nn.encoded.Encoded` batch to attention (B, T): non-negative, zero outside the mask, summing to 1.
``gives`` names what a protocol may rely on (``content_attention``: the weights follow from the tokens, so that an
edited sequence has weights too), and ``requires`` what the mechanism itself relies on.
"""

from typing import ClassVar

import torch
from torch import Tensor, nn

from attnlab.functional.masking import masked_softmax, uniform_attention
from attnlab.nn.encoded import Encoded


class Additive(nn.Module):
    """score_t = vᵀ tanh(W h_t + b), plus U q + d inside where there is a query q (Bahdanau et al. 2015).

    As in Jain & Wallace (2019), section 2.

    Args:
        input_size: H.
        hidden_size: Rows of W; a share of H when not given.
        share: That share: 1/2 in Jain & Wallace, 1 in Serrano & Smith (2019).
        query_size: Size of the query q; None where the task asks nothing.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(
        self, input_size: int, hidden_size: int | None = None, share: float = 0.5, query_size: int | None = None
    ) -> None:
        super().__init__()
        hidden_size = hidden_size or max(1, int(input_size * share))
        self.projection = nn.Linear(input_size, hidden_size)
        self.query = None if query_size is None else nn.Linear(query_size, hidden_size)
        self.score = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        projected = self.projection(encoded.hidden)
        if self.query is not None:
            projected = projected + self.query(encoded.query).unsqueeze(1)
        return masked_softmax(self.score(torch.tanh(projected)).squeeze(-1), encoded.mask)


class ScaledDot(nn.Module):
    """score_t = (w·h_t)/√H, w the query of the task or else learned (Vaswani et al. 2017).

    As in Jain & Wallace (2019), section 2.

    Args:
        input_size: H.
        query_size: Size of the task's query, which must be H; None where the task asks nothing.

    Raises:
        ValueError: the query has another size than the states.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(self, input_size: int, query_size: int | None = None) -> None:
        super().__init__()
        if query_size not in (None, input_size):
            raise ValueError(f"scaled_dot needs states and query of one size, not {input_size} and {query_size}")
        self.score = nn.Linear(input_size, 1, bias=False) if query_size is None else None
        self.scale = input_size**-0.5

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        if self.score is not None:
            scores = self.score(encoded.hidden).squeeze(-1)
        else:
            assert encoded.query is not None
            scores = (encoded.hidden @ encoded.query.unsqueeze(-1)).squeeze(-1)
        return masked_softmax(scores * self.scale, encoded.mask)


class Uniform(nn.Module):
    """Equal weight on every content position (Wiegreffe & Pinter 2019, section 3.2).

    Args:
        input_size: Unused; every mechanism is built from it.
        query_size: Unused too.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"content_attention"})

    def __init__(self, input_size: int, query_size: int | None = None) -> None:
        super().__init__()

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T)."""
        return uniform_attention(encoded.mask, encoded.hidden.dtype)


class Frozen(nn.Module):
    """Weights given for each instance from outside, never learned (``data.attention`` names their file).

    Args:
        input_size: Unused; every mechanism is built from it.
        query_size: Unused too.
    """

    gives: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[frozenset[str]] = frozenset({"given_attention"})

    def __init__(self, input_size: int, query_size: int | None = None) -> None:
        super().__init__()

    def forward(self, encoded: Encoded) -> Tensor:
        """Attention (B, T), exactly as given.

        Raises:
            ValueError: the batch brings no weights.
        """
        if encoded.given is None:
            raise ValueError("model/attention=frozen needs data.attention=<records.parquet with id and attention>")
        return encoded.given
