"""Permuted attention (Jain & Wallace 2019, section 4.2.1)."""

from typing import ClassVar

import lightning as L
from torch import Tensor

from attnlab.functional.divergence import total_variation_distance
from attnlab.functional.permutation import permute_attention, random_permutations
from attnlab.protocols.exclusion import single_token_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Statistic


class Permutation(Protocol):
    """Change of the prediction when the attention weights of the content tokens are shuffled.

    Args:
        model: A trained model.
        draws: Permutations per instance.
        seed: Seeds the permutations, instance by instance.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        # A change of .5 brings a certain prediction down to even odds.
        Statistic("tvd", "median_tvd", description="mean over instances of the median ΔTVD", belief=(0.0, 0.5)),
        Statistic("tvd_median", "median_tvd", how="median", description="median over instances of the median ΔTVD"),
        Statistic("flip_share", "flip_share", description="share of permutations that change the decision"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        BinnedViolin(
            "median_tvd",
            column="median_tvd",
            by="max_attention",
            xlabel="median ΔTVD under permutation",
            ylabel="max attention",
            range=(0.0, 1.0),
        ),
    )

    def __init__(self, model: L.LightningModule, draws: int = 100, seed: int = 0) -> None:
        super().__init__(model)
        if draws < 1:
            raise ValueError(f"draws must be positive, not {draws}")
        self.draws = draws
        self.seed = seed

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Median, mean and largest total variation distance over the permutations, and how often the decision flips."""
        batch = observation.batch
        orders = random_permutations(observation.mask, self.draws, self.seed, batch.index.tolist())
        shuffled = observation.predict(permute_attention(observation.attention, orders))
        return {
            **permutation_columns(shuffled, observation.probabilities),
            "excluded": single_token_reasons(observation.length, observation.unit),
        }


def permutation_columns(shuffled: Tensor, original: Tensor) -> dict[str, Column]:
    """Statistics over the draws.

    Args:
        shuffled: Distributions under each permutation, (B, K, C).
        original: Distributions of the unchanged model, (B, C).

    Returns:
        ``median_tvd`` (the mean of the middle two for an even number of draws, as numpy's), ``mean_tvd``, ``max_tvd``
        and ``flip_share``, (B,) each.
    """
    tvd = total_variation_distance(shuffled, original.unsqueeze(1))
    ordered = tvd.sort(-1).values
    draws = tvd.shape[1]
    flips = shuffled.argmax(-1) != original.argmax(-1, keepdim=True)
    return {
        "median_tvd": (ordered[:, (draws - 1) // 2] + ordered[:, draws // 2]) / 2,
        "mean_tvd": tvd.mean(-1),
        "max_tvd": ordered[:, -1],
        "flip_share": flips.to(tvd.dtype).mean(-1),
    }
