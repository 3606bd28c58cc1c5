"""Rank correlation of attention with gradient × input (Jain & Wallace 2019, section 4.1)."""

from typing import ClassVar, Literal

import lightning as L
import torch
from torch import Tensor

from attnlab.functional.prediction import class_probabilities
from attnlab.functional.rank_correlation import kendall_tau
from attnlab.protocols.exclusion import correlation_reasons
from attnlab.protocols.protocol import Column, Observation, Protocol
from attnlab.report.spec import Figure, Histogram, Statistic


class GradientCorrelation(Protocol):
    """Kendall's tau between attention and the gradient importance of each token.

    Importance is |Σ_d ∂p/∂e_td · e_td|, the gradient of the output with respect to a one-hot input, with attention
    treated as a constant. It is not normalised: ranks do not change.

    Args:
        model: A trained model.
        target: Whose probability is differentiated: the ``predicted`` class or the ``gold`` one. With two classes
            both give the same importance.
    """

    requires: ClassVar[frozenset[str]] = frozenset({"token_gradients"})
    statistics: ClassVar[tuple[Statistic, ...]] = (
        Statistic("tau", "tau", description="Kendall's tau-b, attention against gradient", belief=(0.0, 1.0)),
        Statistic("tau_std", "tau", how="std", description="its standard deviation over instances"),
        Statistic("significant", "p_value", how="share", description="share with p <= .05", at_most=0.05),
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Histogram("tau", column="tau", xlabel="Kendall's τ, attention and gradient", range=(-1.0, 1.0), bins=30),
    )

    def __init__(self, model: L.LightningModule, target: Literal["predicted", "gold"] = "predicted") -> None:
        super().__init__(model)
        if target not in ("predicted", "gold"):
            raise ValueError(f"target must be 'predicted' or 'gold', not {target!r}")
        self.target = target

    def measure(self, observation: Observation) -> dict[str, Column]:
        """Gradient importance per token, and its rank correlation with attention."""
        classes = observation.prediction if self.target == "predicted" else observation.batch.labels
        importance = gradient_importance(observation, classes)
        tau, p_value = kendall_tau(observation.attention, importance, observation.mask)
        return {
            "tau": tau,
            "p_value": p_value,
            "gradient": importance,
            "excluded": correlation_reasons(observation.length, tau, observation.unit),
        }


def gradient_importance(observation: Observation, classes: Tensor) -> Tensor:
    """|gradient × input| of each token for the probability of one class per instance, (B, T).

    Attention is held constant; the gradient reaches the embeddings through the encoder only.
    """
    model = observation.model
    # cuDNN refuses the backward pass of a recurrent layer in evaluation mode.
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        embedded = model.embed(observation.batch).detach().requires_grad_(True)
        encoded = model.encode(observation.batch, embedded)
        probabilities = class_probabilities(model.decode(encoded, observation.attention.detach()))
        chosen = probabilities.gather(-1, classes.unsqueeze(-1)).sum()
        (gradient,) = torch.autograd.grad(chosen, embedded)
    return (gradient * embedded).sum(-1).abs().detach()
