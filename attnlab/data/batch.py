"""What a model sees at once."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import Tensor


@dataclass
class Batch:
    """B token sequences, padded to T positions.

    Attributes:
        ids: Token ids, (B, T) int64: 0 padding, 1 unknown, 2 start, 3 end.
        mask: Content positions, where attention may go, (B, T) bool: never padding, start or end.
        lengths: Tokens of each row with start and end, before padding, (B,) int64.
        labels: Classes, (B,) int64.
        index: Row numbers inside the split, (B,) int64; they join results to instances.
        given: Attention imposed from outside, (B, T), zero outside the mask; None where there is none.
    """

    ids: Tensor
    mask: Tensor
    lengths: Tensor
    labels: Tensor
    index: Tensor
    given: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "Batch":
        """The same batch on another device."""
        return self._map(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> "Batch":
        """The same batch in page-locked memory, for faster copies to a GPU."""
        return self._map(Tensor.pin_memory)

    def _map(self, function: Callable[[Tensor], Tensor]) -> "Batch":
        values = (getattr(self, field.name) for field in fields(self))
        mapped: list[Any] = [None if value is None else function(value) for value in values]
        return Batch(*mapped)
