"""Rows of a batch without one of their positions."""

import torch
from torch import Tensor


def delete_positions(values: Tensor, rows: Tensor, positions: Tensor) -> Tensor:
    """One copy of ``values[rows[n]]`` for each n, without position ``positions[n]``.

    Args:
        values: (B, T) or (B, T, E).
        rows: (N,) row numbers.
        positions: (N,) positions, below T.

    Returns:
        (N, T − 1) or (N, T − 1, E).
    """
    kept = torch.arange(values.shape[1] - 1, device=values.device)
    source = kept + (kept >= positions.unsqueeze(1))
    return values[rows.unsqueeze(1), source]
