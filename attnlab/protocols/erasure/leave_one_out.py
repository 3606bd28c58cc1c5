"""Rank correlation of attention with the effect of deleting each token (Jain & Wallace 2019, section 4.1)."""

from typing import ClassVar

import lightning as L
import torch
from torch import Tensor

from attnlab.functional.divergence import total_variation_distance
from attnlab.functional.prediction import class_probabilities
from attnlab.functional.rank_correlation import kendall_tau
from attnlab.protocols.exclusion import correlation_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Figure, Histogram, Statistic


class LeaveOneOut(Protocol):
    """Kendall's tau between attention and the change of the prediction when a token is deleted.

    The token is taken out of the sequence, which is then encoded and attended anew; the change is the total variation
    distance of the predicted distributions. Where attention goes to sentences, a sentence is deleted.

    Args:
        model: A trained model whose attention follows from the tokens.
        token_budget: Tokens encoded at once; bounds memory, changes no result. With more than some ten thousand a
            CPU spends its time on fresh memory.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"content_attention"})
    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("tau", "tau", description="Kendall's tau-b, attention against leave-one-out", belief=(0.0, 1.0)),
        Statistic("tau_std", "tau", how="std", description="its standard deviation over instances"),
        Statistic("significant", "p_value", how="share", description="share with p <= .05", at_most=0.05),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Histogram("tau", column="tau", xlabel="Kendall's τ, attention and leave-one-out", range=(-1.0, 1.0), bins=30),
    )

    def __init__(self, model: L.LightningModule, token_budget: int = 2**13) -> None:
        super().__init__(model)
        self.token_budget = token_budget

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Change of prediction per deleted token, and its rank correlation with attention."""
        effect = self._deletion_effect(observation)
        tau, p_value = kendall_tau(observation.attention, effect, observation.mask)
        return {
            "tau": tau,
            "p_value": p_value,
            "leave_one_out": effect,
            "excluded": correlation_reasons(observation.length, tau, observation.unit),
        }

    def _deletion_effect(self, observation: Observation) -> Tensor:
        # A single token cannot be deleted: nothing would be left to attend to.
        rows, positions = (observation.mask & (observation.length > 1).unsqueeze(1)).nonzero(as_tuple=True)
        effect = torch.zeros_like(observation.attention)
        size = max(1, self.token_budget // observation.mask.shape[1])
        for i in range(0, len(rows), size):
            row, position = rows[i : i + size], positions[i : i + size]
            encoded = observation.model.encode_without(observation.batch, observation.encoded, row, position)
            logits = observation.model.decode(encoded, observation.model.attend(encoded))
            change = total_variation_distance(class_probabilities(logits), observation.probabilities[row])
            effect[row, position] = change
        return effect
