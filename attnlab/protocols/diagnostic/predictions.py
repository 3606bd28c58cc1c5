"""Predictions and attention of the unchanged model: the task metrics, and the tokens that reports show."""

from typing import ClassVar

from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Statistic


class Predictions(Protocol):
    """Records tokens, the attention over them, gold rationales where there are some, and class probabilities.

    Every other protocol's records are joined with these by instance id, and ``data.attention`` takes them as imposed
    weights.
    """

    with_text: ClassVar[bool] = True
    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("accuracy", "prediction", how="accuracy", higher_is_better=True, by_prediction=False),
        Statistic("f1", "prediction", how="f1", higher_is_better=True, by_prediction=False),
        Statistic("auroc", "probabilities", how="auc", higher_is_better=True, by_prediction=False),
        Statistic("max_attention", "max_attention", description="largest weight of an instance"),
    )

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Class probabilities (as a list) and attention per token."""
        return {
            "probabilities": observation.probabilities.tolist(),
            "attention": observation.attention,
        }
