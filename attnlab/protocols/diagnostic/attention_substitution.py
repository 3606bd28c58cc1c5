"""The task without the model's own attention (Vashishth et al. 2019, section 4)."""

from collections.abc import Mapping, Sequence

import lightning as L
from torch import Tensor

from attnlab.data.outputs import Outputs
from attnlab.functional.masking import uniform_attention
from attnlab.functional.permutation import permute_attention, random_permutations
from attnlab.functional.prediction import class_probabilities
from attnlab.functional.substitution import random_attention
from attnlab.protocols.diagnostic.compared import (
    compared_columns,
    compared_statistics,
    gain_statistics,
    own_columns,
    own_statistics,
)
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Statistic

SUBSTITUTES = ("uniform", "random", "permuted")


class AttentionSubstitution(Protocol):
    """Task metrics under uniform, random and permuted weights, at test time and for models trained with them.

    Args:
        model: A trained model.
        models: Models trained with a substitute, by its name; their weights of an instance never change.
        trained: Their names.
        seed: Seeds noise and permutations, instance by instance.
    """

    def __init__(
        self,
        model: L.LightningModule,
        models: Mapping[str, Sequence[Outputs]] | None = None,
        trained: Sequence[str] = (),
        seed: int = 0,
    ) -> None:
        super().__init__(model)
        self.models = models or {}
        self.trained = list(trained)
        self.seed = seed

    def summarised_by(self) -> tuple[Statistic, ...]:
        """The model's own metrics, then those under each substitute."""
        labels = {name: f"{name} weights at test time" for name in SUBSTITUTES}
        labels |= {f"trained_{name}": f"trained with {name} weights" for name in self.trained}
        return sum((compared_statistics(*one) + gain_statistics(*one) for one in labels.items()), own_statistics())

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Predictions under each substitute, and the substitutes that were drawn."""
        weights = self.substitutes(observation)
        columns = own_columns(observation)
        for name, attention in weights.items():
            probabilities = class_probabilities(observation.model.decode(observation.encoded, attention))
            columns |= compared_columns(name, probabilities, observation)
        for name, (outputs,) in self.models.items():
            probabilities = outputs.distributions(observation.batch.index)
            columns |= compared_columns(f"trained_{name}", probabilities, observation)
        return {**columns, "random": weights["random"], "permuted": weights["permuted"]}

    def substitutes(self, observation: Observation) -> dict[str, Tensor]:
        """Weights (B, T) in place of attention, by name."""
        mask, index = observation.mask, observation.batch.index.tolist()
        orders = random_permutations(mask, 1, self.seed, index)
        return {
            "uniform": uniform_attention(mask, observation.attention.dtype),
            "random": random_attention(mask, self.seed, index).to(observation.attention.dtype),
            "permuted": permute_attention(observation.attention, orders).squeeze(1),
        }
