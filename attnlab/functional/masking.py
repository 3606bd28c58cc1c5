"""Operations over the content positions of padded rows."""

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the positions of the mask; exactly zero elsewhere.

    Args:
        scores: (..., T).
        mask: Boolean, broadcastable with ``scores``.

    Returns:
        Attention (..., T), each row summing to 1; a row without any position is all zeros, never NaN.
    """
    lowest = torch.finfo(scores.dtype).min
    return torch.softmax(scores.masked_fill(~mask, lowest), dim=-1).masked_fill(~mask, 0)


def uniform_attention(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Equal weight on every position of the mask: (..., T), zero elsewhere."""
    weights = mask.to(dtype)
    return weights / weights.sum(-1, keepdim=True).clamp_min(1)
