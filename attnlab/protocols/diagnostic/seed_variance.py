"""How much attention varies by chance (Wiegreffe & Pinter 2019, section 3.3)."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import lightning as L
import torch

from attnlab.data.outputs import Outputs
from attnlab.functional.divergence import jensen_shannon_divergence, total_variation_distance
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Scatter, Statistic

JSD_RANGE = (0.0, 0.7)


class SeedVariance(Protocol):
    """Distance of attention and predictions from those of models that differ in the seed alone.

    Args:
        model: A trained model.
        models: ``seeded``: the models of the other seeds.
        adversary: Makes Jain & Wallace's adversary of the measured model, whose attention is compared with the seeds'.
        seeds: Those seeds; the measured model's own does not count.
        quantile: q. An adversary's attention is farther than chance where its divergence exceeds the q-quantile of the
            instance's divergences over seeds (linear between them).

    Raises:
        ValueError: ``quantile`` does not lie between 0 and 1.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("jsd", "jsd", description="mean over instances of the median JSD over seeds"),
        Statistic("jsd_median", "jsd", how="median", description="median over instances of the median JSD over seeds"),
        Statistic("tvd", "tvd", description="mean change of the prediction over seeds"),
        Statistic("flip_share", "flip_share", description="share of seeds that decide otherwise"),
        Statistic("jsd_adversary", "jsd_adversary", description="ε-max JSD, mean over instances"),
        Statistic("beyond_seeds", "beyond_seeds", description="share of ε-max JSD beyond the seeds' quantile"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        BinnedViolin(
            "jsd",
            column="jsd",
            by="max_attention",
            xlabel="median JSD over seeds",
            ylabel="max attention of the model",
            range=JSD_RANGE,
            other="jsd_adversary",
            other_label="ε-max JSD",
        ),
        BinnedViolin(
            "jsd_by_seeds",
            column="jsd",
            by="seeds_max_attention",
            xlabel="median JSD over seeds",
            ylabel="median max attention of the seeds",
            range=JSD_RANGE,
        ),
        Scatter(
            "prediction_difference",
            column="jsd",
            by="tvd",
            xlabel="median JSD over seeds",
            ylabel="mean |Δŷ| over seeds",
            ranges=(*JSD_RANGE, 0.0, 1.0),
        ),
    )

    def __init__(
        self,
        model: L.LightningModule,
        models: Mapping[str, Sequence[Outputs]],
        adversary: Callable[[L.LightningModule], AdversarialAttention],
        seeds: Sequence[int] = (),
        quantile: float = 0.95,
    ) -> None:
        super().__init__(model)
        if not 0 <= quantile <= 1:
            raise ValueError(f"quantile={quantile}: give one between 0 and 1")
        self.models = models
        self.adversary = adversary(model)
        self.seeds = list(seeds)
        self.quantile = quantile

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Median divergence and mean difference of the prediction over seeds, each seed's as lists; the adversary's."""
        index, mask = observation.batch.index, observation.mask
        attention = torch.stack([seed.attention(index, mask) for seed in self.models["seeded"]], 1)
        probabilities = torch.stack([seed.distributions(index) for seed in self.models["seeded"]], 1)
        jsd = jensen_shannon_divergence(attention, observation.attention.unsqueeze(1)).double()
        tvd = total_variation_distance(probabilities, observation.probabilities.unsqueeze(1))
        flips = probabilities.argmax(-1) != observation.prediction.unsqueeze(1)
        adversary = torch.as_tensor(self.adversary.measure(observation)["jsd"]).double()
        return {
            "jsd": jsd.quantile(0.5, dim=1),
            "tvd": tvd.mean(1),
            "flip_share": flips.double().mean(1),
            "seeds_max_attention": attention.amax(-1).double().quantile(0.5, dim=1),
            "jsd_of_each": jsd.tolist(),
            "tvd_of_each": tvd.tolist(),
            "jsd_adversary": adversary,
            "beyond_seeds": (adversary > jsd.quantile(self.quantile, dim=1)).double(),
        }
