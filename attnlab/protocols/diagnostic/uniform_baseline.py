"""Whether attention is needed at all (Wiegreffe & Pinter 2019, section 3.2)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import lightning as L

from attnlab.data.outputs import Outputs
from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.protocols.diagnostic.compared import (
    compared_columns,
    compared_statistics,
    gain_statistics,
    own_columns,
    own_statistics,
)
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import BinnedViolin, Figure, Statistic


class UniformBaseline(Protocol):
    """The same model trained with equal weights, on the same instances.

    Args:
        model: A trained model.
        models: ``uniform``: the model trained with uniform attention.
    """

    statistics: ClassVar[tuple[Statistic, ...]] = (
        *own_statistics(),
        *compared_statistics("uniform", "uniform attention"),
        *gain_statistics("uniform", "uniform attention"),
        Statistic("jsd", "jsd", description="JSD of attention from uniform"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        BinnedViolin(
            "tvd_uniform",
            column="tvd_uniform",
            by="max_attention",
            xlabel="TVD, learned and uniform attention",
            ylabel="max attention",
            range=(0.0, 1.0),
        ),
    )

    def __init__(self, model: L.LightningModule, models: Mapping[str, Sequence[Outputs]]) -> None:
        super().__init__(model)
        self.models = models

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Predictions of both models, and how far apart they and their attention are."""
        (uniform,) = self.models["uniform"]
        index = observation.batch.index
        weights = uniform.attention(index, observation.mask)
        return {
            **own_columns(observation),
            **compared_columns("uniform", uniform.distributions(index), observation),
            "jsd": jensen_shannon_divergence(observation.attention, weights),
        }
