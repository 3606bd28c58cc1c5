"""What another model says of each instance of a split."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


@dataclass(frozen=True)
class Outputs:
    """Attention and class probabilities by instance, in the order of the split.

    Attributes:
        flat: Weights of the content positions of all N instances, one after another, float32.
        starts: Where each instance's weights start (N,).
        probabilities: Distributions over the classes (N, C); None where only attention was recorded.
    """

    flat: npt.NDArray[np.float32]
    starts: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float32] | None = None

    def attention(self, index: Tensor, mask: Tensor) -> Tensor:
        """Attention of some instances (B, T), zero outside the content positions of ``mask`` (B, T)."""
        rows, content = index.cpu().numpy(), mask.cpu().numpy()
        dense = np.zeros(content.shape, np.float32)
        dense[content] = self.flat[(self.starts[rows, None] + content.cumsum(1) - 1)[content]]
        return torch.from_numpy(dense).to(mask.device)

    def distributions(self, index: Tensor) -> Tensor:
        """Class probabilities of some instances (B, C).

        Raises:
            ValueError: none were recorded.
        """
        if self.probabilities is None:
            raise ValueError("these outputs hold attention alone; name records of protocol=[predictions]")
        return torch.from_numpy(self.probabilities[index.cpu().numpy()]).to(index.device)
