"""Whole models that predict alike and attend otherwise (Wiegreffe & Pinter 2019, section 4)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import lightning as L
import torch

from attnlab.data.outputs import Outputs
from attnlab.functional.definition import Definition, check_definition
from attnlab.functional.divergence import jensen_shannon_divergence, total_variation_distance
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Curve, Figure, Points, Statistic


class ModelAdversary(Protocol):
    """Distance of predictions and attention of adversaries that were trained at several strengths λ.

    Args:
        model: A trained model.
        models: ``adversary``: one for each strength.
        strengths: λ of each.
        total_variation: Of two classes, |Δŷ| (``paper``) or half of it (``published_code``), in the loss and here.

    Raises:
        ValueError: an option is none of those.
    """

    figures: ClassVar[tuple[Figure, ...]] = ()

    def __init__(
        self,
        model: L.LightningModule,
        models: Mapping[str, Sequence[Outputs]],
        strengths: Sequence[float],
        total_variation: Definition = "paper",
    ) -> None:
        super().__init__(model)
        check_definition("total_variation", total_variation)
        self.models = models
        self.strengths = [float(strength) for strength in strengths]
        self.scale = 1.0 if total_variation == "paper" else 0.5

    def summarised_by(self) -> tuple[Statistic, ...]:
        """Area under the curve, then the distances and F1 of each strength."""
        area = Statistic(
            "area",
            "tvd",
            how="curve_area",
            other="jsd",
            description="mean TVD over JSD from 0 to ln 2",
            by_prediction=False,
        )
        own = Statistic("f1", "prediction", how="f1", higher_is_better=True, by_class=True)
        return (area, own, *(s for place in range(len(self.strengths)) for s in self._of_strength(place)))

    def _of_strength(self, place: int) -> tuple[Statistic, ...]:
        name = f"{self.strengths[place]:g}"
        return (
            Statistic(f"jsd_{name}", "jsd", description=f"JSD of attention at λ = {name}", element=place),
            Statistic(f"tvd_{name}", "tvd", description=f"TVD of predictions at λ = {name}", element=place),
            Statistic(
                f"f1_{name}",
                "prediction_adversary",
                how="f1",
                description=f"F1 of the adversary at λ = {name}",
                higher_is_better=True,
                by_class=True,
                element=place,
            ),
        )

    def drawn_as(self) -> tuple[Figure, ...]:
        """The curve over strengths, and in a report the points that their Figure 5 has beside it, in the same unit."""
        labels = tuple(f"{strength:g}" for strength in self.strengths)
        beside = (
            Points("uniform_baseline", "jsd", "tvd_uniform", "uniform", self.scale),
            Points("seed_variance", "jsd_of_each", "tvd_of_each", "other seed", self.scale),
            Points("adversarial_attention", "jsd", "tvd", "per text", self.scale),
        )
        axes = ("mean JSD of attention", "mean TVD of predictions")
        return (Curve("curve", "jsd", "tvd", labels, *axes, (0.0, 0.7), "adversary of λ", beside),)

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Distances and decisions of each adversary, as lists in the order of the strengths."""
        index, adversaries = observation.batch.index, self.models["adversary"]
        attention = torch.stack([one.attention(index, observation.mask) for one in adversaries], 1)
        probabilities = torch.stack([one.distributions(index) for one in adversaries], 1)
        tvd = total_variation_distance(probabilities, observation.probabilities.unsqueeze(1)) * self.scale
        return {
            "jsd": jensen_shannon_divergence(attention, observation.attention.unsqueeze(1)).tolist(),
            "tvd": tvd.tolist(),
            "prediction_adversary": probabilities.argmax(-1).tolist(),
        }
