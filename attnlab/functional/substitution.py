"""Weights that say nothing of the text, in place of attention (Vashishth et al. 2019, section 3)."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attnlab.functional.masking import masked_softmax


def random_attention(mask: Tensor, seed: int, index: Sequence[int]) -> Tensor:
    """Softmax of standard normal noise over the content positions, (B, T) float32.

    Each instance has a generator of its own, seeded by (seed, index), so that neither its batch nor padding changes
    what is drawn.

    Args:
        mask: Content positions, (B, T).
        seed: Seed of the protocol.
        index: One number per instance, B of them.
    """
    content = mask.cpu().numpy()
    noise = np.zeros(content.shape, np.float32)
    for row, positions, identity in zip(noise, content, index, strict=True):
        row[positions] = np.random.default_rng((seed, identity)).standard_normal(int(positions.sum()))
    return masked_softmax(torch.from_numpy(noise).to(mask.device), mask)
