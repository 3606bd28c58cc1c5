"""From logits to distributions, for one logit (binary) and for several (multi-class)."""

import torch
from torch import Tensor


def class_probabilities(logits: Tensor) -> Tensor:
    """Distribution over the classes.

    Args:
        logits: (..., 1) for a binary task with one logit, else (..., C).

    Returns:
        (..., 2) for one logit (negative, positive), else (..., C); each sums to 1.
    """
    if logits.shape[-1] == 1:
        # sigmoid(-x) rather than 1 - sigmoid(x): exact where the prediction saturates.
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], dim=-1)
    return torch.softmax(logits, dim=-1)


def predicted_class(logits: Tensor) -> Tensor:
    """Index of the most probable class, (...); a tie of a single logit goes to class 0."""
    if logits.shape[-1] == 1:
        return (logits[..., 0] > 0).long()
    return logits.argmax(-1)


def positive_margin(logits: Tensor) -> Tensor:
    """Log-odds of class 1 for a task with two classes, (...).

    Args:
        logits: (..., 1) or (..., 2).

    Raises:
        ValueError: more than two classes have no single margin.
    """
    if logits.shape[-1] == 1:
        return logits[..., 0]
    if logits.shape[-1] == 2:
        return logits[..., 1] - logits[..., 0]
    raise ValueError(f"a margin needs one logit or two, not {logits.shape[-1]}")
