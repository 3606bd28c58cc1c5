"""Whether attention is of use to another model (Wiegreffe & Pinter 2019, section 3.4)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import lightning as L

from attnlab.data.outputs import Outputs
from attnlab.protocols.diagnostic.compared import (
    compared_columns,
    compared_statistics,
    own_columns,
    own_statistics,
)
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Statistic


class GuidedMLP(Protocol):
    """Task metrics of a model without context that is trained and tested with weights from elsewhere.

    Args:
        model: A trained model.
        models: The guided model with the weights of each source.
        sources: Their names: where the weights come from.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"single"})

    def __init__(
        self, model: L.LightningModule, models: Mapping[str, Sequence[Outputs]], sources: Sequence[str] = ()
    ) -> None:
        super().__init__(model)
        self.models = models
        self.sources = list(sources)

    def summarised_by(self) -> tuple[Statistic, ...]:
        """The model's own metrics, then those of the guided model with each source."""
        return sum((compared_statistics(name, f"MLP with {name} weights") for name in self.sources), own_statistics())

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Predictions of the guided model with each source."""
        columns = own_columns(observation)
        for name, (outputs,) in self.models.items():
            columns |= compared_columns(name, outputs.distributions(observation.batch.index), observation)
        return columns
