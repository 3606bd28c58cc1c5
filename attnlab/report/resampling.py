"""Bootstrap over seeds and instances at once: what a mean over seeds would be with other seeds and other instances.

Seeds and instances are crossed: every seed is measured on the same instances. A replicate draws instances, the same
for all seeds, and seeds, and takes the mean over the drawn seeds of the statistic over the drawn instances (Owen 2007,
"The pigeonhole bootstrap": never too narrow for crossed factors with many levels). Of S seeds S - 1 are drawn, since
drawing S from a handful would give intervals too narrow by (S - 1) / S (Rao & Wu 1988).

A statistic over drawn instances is a function of weighted sums, so that one matrix product gives all replicates.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]

BLOCK = 2**23
"""Weights that are made at once, 32 MB."""


class Resampling:
    """Draws of instances and seeds.

    Args:
        replicates: How many.
        seed: Decides all draws.
    """

    def __init__(self, replicates: int = 1000, seed: int = 0) -> None:
        self.replicates = replicates
        self.seed = seed
        self._kept = lru_cache(maxsize=4)(self._block)

    def instances(self, n: int, stream: int = 0) -> Iterator[Floats]:
        """How often each of ``n`` instances is drawn, in blocks of replicates (n, r) that together are all of them.

        Args:
            n: Instances.
            stream: Another one gives independent draws.
        """
        rows = max(1, min(self.replicates, BLOCK // n))
        for start in range(0, self.replicates, rows):
            make = self._kept if rows == self.replicates else self._block
            yield make(n, stream, start, min(rows, self.replicates - start))

    def seeds(self, count: int) -> Floats:
        """Weight of each of ``count`` seeds in each replicate, (replicates, count); rows sum to 1."""
        if count == 1:
            return np.ones((self.replicates, 1))
        drawn = np.random.default_rng((self.seed, 1, count)).integers(0, count, (self.replicates, count - 1))
        return _counts(drawn, count) / (count - 1)

    def _block(self, n: int, stream: int, start: int, rows: int) -> Floats:
        drawn = np.random.default_rng((self.seed, 0, n, stream, start)).integers(0, n, (rows, n))
        return np.ascontiguousarray(_counts(drawn, n).T, dtype=np.float32)


def _counts(drawn: npt.NDArray[np.int64], n: int) -> Floats:
    rows = len(drawn)
    flat = drawn + n * np.arange(rows)[:, None]
    return np.bincount(flat.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
