"""How far attention can move each prediction at all."""

from typing import ClassVar

import torch

from attnlab.functional import leverage
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Band, Figure, Statistic


class AttentionLeverage(Protocol):
    """Range of the prediction over all possible attentions, exact for a linear readout.

    Attention can only reach the convex hull of the per-token logits. Where that hull is small, or lies on one side of
    the decision, attention is not what the prediction depends on, whatever its weights are.

    Args:
        model: A trained model with a linear readout.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"linear_readout"})
    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("range", "range", description="highest − lowest reachable probability"),
        Statistic(
            "flippable",
            "flippable",
            how="share",
            description="share that some attention would flip",
            belief=(0.0, 1.0),
        ),
        Statistic("lowest", "lowest", description="lowest reachable probability of the class"),
        Statistic("highest", "highest", description="highest reachable probability of the class"),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Band("leverage", column="probability", low="lowest", high="highest", ylabel="probability of class"),
    )

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Reachable probabilities of class 1 (two classes) or of the predicted class (more)."""
        mask = observation.mask
        two = observation.probabilities.shape[-1] == 2
        target = torch.ones_like(observation.prediction) if two else observation.prediction
        found = leverage.attention_leverage(observation.token_logits, mask, target, observation.prediction)
        return {
            "probability": observation.probabilities.gather(-1, target.unsqueeze(-1)).squeeze(-1),
            "lowest": found.lowest,
            "highest": found.highest,
            "range": found.highest - found.lowest,
            "flippable": found.flippable,
            "gap": found.gap,
        }
