"""From context vectors to logits."""

from torch import Tensor, nn

from attnlab.functional.folding import attend_values, fold
from attnlab.nn.encoded import Encoded


class LinearReadout(nn.Module):
    """logits = W Σ_t α_t h_t + b, computed as Σ_t α_t (W h_t) + b.

    Args:
        input_size: H.
        output_size: C; 1 for a binary task.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)

    def forward(self, encoded: Encoded, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T)."""
        return attend_values(self._values(encoded), attention) + self.linear.bias

    def tokens(self, encoded: Encoded) -> Tensor:
        """Logits (B, T, C) with all attention on each token in turn."""
        return self._values(encoded) + self.linear.bias

    def _values(self, encoded: Encoded) -> Tensor:
        if encoded.values is None:
            encoded.values = fold(encoded.hidden, self.linear.weight)
        return encoded.values
