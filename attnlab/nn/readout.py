"""From context vectors to logits."""

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
