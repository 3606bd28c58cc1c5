"""Random permutations of attention over the content positions, reproducible instance by instance."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def random_permutations(mask: Tensor, draws: int, seed: int, index: Sequence[int]) -> Tensor:
    """Permutations of the content positions of each row; all other positions stay in place.

    Each instance has a generator of its own, seeded by (seed, index), so that neither the batch it is in, nor
    padding, nor the number of devices changes what is drawn.

    Args:
        mask: Content positions, (B, T).
        draws: Number of permutations K.
        seed: Seed of the protocol.
        index: One number per instance, B of them.

    Returns:
        (B, K, T) int64; row k sends the weight at position ``out[b, k, t]`` to position t.
    """
    content = mask.cpu().numpy()
    out = np.broadcast_to(np.arange(content.shape[1]), (len(content), draws, content.shape[1])).copy()
    for row, positions, identity in zip(out, content, index, strict=True):
        places = np.flatnonzero(positions)
        order = np.random.default_rng((seed, identity)).random((draws, len(places))).argsort(-1)
        row[:, places] = places[order]
    return torch.from_numpy(out).to(mask.device)


def permute_attention(attention: Tensor, permutations: Tensor) -> Tensor:
    """Attention under each permutation.

    Args:
        attention: (B, T).
        permutations: (B, K, T), as :func:`random_permutations` gives them.

    Returns:
        (B, K, T); each row holds the same weights as ``attention``.
    """
    return attention.unsqueeze(1).expand_as(permutations).gather(-1, permutations)
