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
        if encoded.values is None:
            encoded.values = fold(encoded.hidden, self.linear.weight)
        return attend_values(encoded.values, attention) + self.linear.bias
