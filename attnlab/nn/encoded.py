"""What an encoder hands to attention and readout."""

from dataclasses import dataclass

from torch import Tensor


@dataclass
class Encoded:
    """A batch of B sequences after the encoder.

    Attributes:
        hidden: Vectors that attention weighs, (B, T, H).
        mask: Where attention may go, (B, T) bool.
        query: What the task asks, (B, Q), where it asks something.
        candidates: Answers that are offered, (B, C) bool; None where all are.
        given: Attention imposed from outside, (B, T), where there is any.
        values: Hidden states folded through the readout's affine map, (B, T, D). Filled by the first decode and
            reused by every later one.
        embedded: What the encoder read, (B, T, E).
        part: Part of the instance that the positions are of, (B,), where they are not all of it.
    """

    hidden: Tensor
    mask: Tensor
    query: Tensor | None = None
    candidates: Tensor | None = None
    given: Tensor | None = None
    values: Tensor | None = None
    embedded: Tensor | None = None
    part: Tensor | None = None
