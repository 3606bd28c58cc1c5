"""What a model-consistent adversary is trained to do."""

from typing import TYPE_CHECKING, get_args

from torch import Tensor

from attnlab.data.batch import Batch
from attnlab.functional.imitation import TotalVariation, imitation_loss
from attnlab.functional.prediction import class_probabilities

if TYPE_CHECKING:
    from attnlab.models.sequence_classifier import SequenceClassifier


class Imitation:
    """Give the predictions of another model with other attention; labels do not count (Wiegreffe & Pinter 2019).

    Args:
        strength: λ, what a nat of divergence from the base model's attention is worth in total variation distance.
        total_variation: See :func:`attnlab.functional.imitation.imitation_loss`.

    Raises:
        ValueError: an option is none of those.
    """

    def __init__(self, strength: float, total_variation: TotalVariation = "paper") -> None:
        if total_variation not in get_args(TotalVariation):
            raise ValueError(f"total_variation={total_variation}: choose one of {', '.join(get_args(TotalVariation))}")
        if strength < 0:
            raise ValueError(f"strength={strength}: must not be negative")
        self.strength = strength
        self.total_variation = total_variation

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
        return imitation_loss(probabilities, attention, *base, self.strength, self.total_variation).sum()
