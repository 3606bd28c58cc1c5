"""Which rows make a batch."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import Sampler


class TrainBatches(Sampler[list[int]]):
    """Batches of texts of similar length, other ones in every epoch (Jain & Wallace's code; specs A.3).

    Lengths are jittered by up to 10 % of themselves, rows sorted by them and cut into batches, and the batches
    shuffled. The order depends on the seed and the epoch alone; the epoch advances with each pass, and
    ``set_epoch`` sets it. Each process of a distributed run takes as many batches as any other.

    Args:
        lengths: Tokens of each row (N,).
        batch_size: Rows of a batch; the last may be smaller.
        seed: Decides jitter and order.
        bucket: False gives rows in the order of the file, always the same.
    """

    def __init__(self, lengths: npt.NDArray[np.int64], batch_size: int, seed: int, bucket: bool = True) -> None:
        self.lengths = lengths
        self.batch_size = batch_size
        self.seed = seed
        self.bucket = bucket
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next pass."""
        self.epoch = epoch

    def __len__(self) -> int:
        return -(-_number_of_batches(self.lengths, self.batch_size) // _world()[1])

    def __iter__(self) -> Iterator[list[int]]:
        batches = self._batches(self.epoch)
        self.epoch += 1
        rank, world = _world()
        # A few batches come twice in an epoch where they cannot be dealt evenly: ranks must step together.
        for number in np.resize(np.arange(len(batches)), len(self) * world)[rank::world]:
            yield batches[number].tolist()

    def _batches(self, epoch: int) -> list[npt.NDArray[np.int64]]:
        if not self.bucket:
            return _cut(np.arange(len(self.lengths)), self.batch_size)
        random = np.random.default_rng([self.seed, epoch])
        reach = self.lengths // 10
        jittered = self.lengths + random.integers(-reach, reach + 1)
        batches = _cut(np.argsort(jittered, kind="stable"), self.batch_size)
        return [batches[number] for number in random.permutation(len(batches))]


class EvaluationBatches(Sampler[list[int]]):
    """Batches by rising length; every row exactly once whatever the number of processes.

    Args:
        lengths: Tokens of each row (N,).
        batch_size: Rows of a batch, at most.
        max_positions: Positions of a batch, padding included, at most; a longer row is a batch of its own. What a
            protocol holds grows with them, so that long documents take no more memory than short sentences.
        bucket: False gives rows in the order of the file.
        every_process: Make batches smaller where some process would have none; metrics that are gathered over
            processes need a value from each. Without it the batches are the same for any number of processes.
        shapes: Rows and width that each row takes of the batch's ids, (N, 2); one row as wide as it is long when not
            given.
    """

    def __init__(
        self,
        lengths: npt.NDArray[np.int64],
        batch_size: int,
        max_positions: int,
        bucket: bool = True,
        every_process: bool = False,
        shapes: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.lengths = lengths
        self.shapes = np.column_stack([np.ones_like(lengths), lengths]) if shapes is None else shapes
        self.batch_size = batch_size
        self.max_positions = max_positions
        self.order = np.argsort(lengths, kind="stable") if bucket else np.arange(len(lengths))
        self.every_process = every_process

    def __len__(self) -> int:
        return len(self._own())

    def __iter__(self) -> Iterator[list[int]]:
        yield from self._own()

    def _own(self) -> list[list[int]]:
        rank, world = _world()
        size = min(self.batch_size, max(1, len(self.lengths) // world)) if self.every_process else self.batch_size
        return self._batches(size)[rank::world]

    def _batches(self, size: int) -> list[list[int]]:
        batches: list[list[int]] = []
        height = width = 0
        for row, (rows, length) in zip(self.order.tolist(), self.shapes[self.order].tolist(), strict=True):
            height, width = height + rows, max(width, length)
            if not batches or len(batches[-1]) == size or height * width > self.max_positions:
                batches.append([])
                height, width = rows, length
            batches[-1].append(row)
        return batches


def _number_of_batches(lengths: npt.NDArray[np.int64], batch_size: int) -> int:
    return -(-len(lengths) // batch_size)


def _cut(order: npt.NDArray[np.int64], batch_size: int) -> list[npt.NDArray[np.int64]]:
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def _world() -> tuple[int, int]:
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1
