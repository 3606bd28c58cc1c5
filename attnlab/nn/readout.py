"""From context vectors to logits."""

import torch
from torch import Tensor, nn

from attnlab.functional.folding import attend_values, fold
from attnlab.nn.encoded import Encoded


class LinearReadout(nn.Module):
    """logits = W Σ_t α_t h_t + b, computed as Σ_t α_t (W h_t) + b.

    Args:
        input_size: H.
        output_size: C; 1 for a binary task.
        dropout: Share of the context vector that is dropped in training.
    """

    def __init__(self, input_size: int, output_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(input_size, output_size)

    def fold(self, encoded: Encoded) -> Tensor:
        """Values (B, T, D = C): the hidden states through W, computed once per batch."""
        if encoded.values is None:
            encoded.values = fold(encoded.hidden, self.linear.weight)
        return encoded.values

    def finish(self, context: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, *K, C) from weighted sums of values (B, *K, D)."""
        return context + self.linear.bias.to(context.dtype)

    def forward(self, encoded: Encoded, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T)."""
        if self.training and self.dropout.p:
            # What is dropped is a part of the context vector, which folded values no longer show.
            logits: Tensor = self.linear(self.dropout(attend_values(encoded.hidden, attention)))
            return logits
        return self.finish(attend_values(self.fold(encoded), attention), encoded)


class QueryReadout(nn.Module):
    """logits = V tanh(W Σ_t α_t h_t + U q + b) + d (Jain & Wallace's code for question answering and inference).

    It is affine in the context vector before its tanh, so that values are folded to D = the inner size.

    Args:
        input_size: H.
        query_size: Q.
        output_size: C.
        hidden_size: Inner size; half of H when not given, as published.
    """

    def __init__(self, input_size: int, query_size: int, output_size: int, hidden_size: int | None = None) -> None:
        super().__init__()
        hidden_size = hidden_size or max(1, input_size // 2)
        self.context = nn.Linear(input_size, hidden_size)
        self.query = nn.Linear(query_size, hidden_size)
        self.output = nn.Linear(hidden_size, output_size)

    def fold(self, encoded: Encoded) -> Tensor:
        """Values (B, T, D): the hidden states through W, computed once per batch."""
        if encoded.values is None:
            encoded.values = fold(encoded.hidden, self.context.weight)
        return encoded.values

    def finish(self, context: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, *K, C) from weighted sums of values (B, *K, D); answers that are not offered get the lowest."""
        shift = self.query(encoded.query) + self.context.bias
        inner = torch.tanh(context + _beside(shift.to(context.dtype), context))
        logits = nn.functional.linear(inner, self.output.weight.to(inner.dtype), self.output.bias.to(inner.dtype))
        if encoded.candidates is None:
            return logits
        return logits.masked_fill(~_beside(encoded.candidates, context), torch.finfo(logits.dtype).min)

    def forward(self, encoded: Encoded, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T)."""
        return self.finish(attend_values(self.fold(encoded), attention), encoded)


def _beside(values: Tensor, like: Tensor) -> Tensor:
    """(B, N) as (B, 1, …, 1, N), with as many axes as another tensor."""
    return values.view(len(values), *[1] * (like.dim() - 2), values.shape[-1])
