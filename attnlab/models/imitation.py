"""What a model-consistent adversary is trained to do."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnlab.data.batch import Batch
from attnlab.functional.definition import Definition, check_definition
from attnlab.functional.imitation import imitation_loss
from attnlab.functional.prediction import class_probabilities

if TYPE_CHECKING:
    from attnlab.models.sequence_classifier import SequenceClassifier


class Imitation:
    """Give the predictions of another model with other attention; labels do not count (Wiegreffe & Pinter 2019).

    Args:
        strength: λ, what a nat of divergence from the base model's attention is worth in total variation distance.
        total_variation: See :func:`attnlab.functional.imitation.imitation_loss`.
        weighting: ``paper`` sums over the instances; ``published_code`` multiplies the sum by that of the weights that
            the batch's instances have in the loss of labels (of positive ones N/N_pos − 1, of negative ones 1).

    Raises:
        ValueError: an option is none of those.
    """

    def __init__(self, strength: float, total_variation: Definition = "paper", weighting: Definition = "paper") -> None:
        check_definition("total_variation", total_variation)
        check_definition("weighting", weighting)
        if strength < 0:
            raise ValueError(f"strength={strength}: must not be negative")
        self.strength = strength
        self.total_variation = total_variation
        self.weighting = weighting

    def __call__(self, model: "SequenceClassifier", batch: Batch) -> Tensor:
        """Loss summed over a batch that brings the base model's attention and predictions.

        Raises:
            ValueError: it does not.
        """
        if batch.given is None or batch.given_probabilities is None:
            raise ValueError("an adversary needs the attention and predictions of a base model with each batch")
        encoded = model.encode(batch)
        attention = model.attend(encoded)
        probabilities = class_probabilities(model.decode(encoded, attention))
        base = (batch.given_probabilities, batch.given)
        loss = imitation_loss(probabilities, attention, *base, self.strength, self.total_variation).sum()
        return loss if self.weighting == "paper" else loss * _weights(batch, model.pos_weight).sum()


def _weights(batch: Batch, positive: float | None) -> Tensor:
    """What each instance (B,) weighs in the loss of labels."""
    return torch.where(batch.labels == 1, 1.0 if positive is None else positive, 1.0)
