"""Task metrics from class distributions."""

import torch
from torch import Tensor
from torchmetrics import MetricCollection
from torchmetrics.classification import (
    BinaryAccuracy,
    BinaryAUROC,
    BinaryF1Score,
    MulticlassAccuracy,
    MulticlassAUROC,
    MulticlassF1Score,
)
from torchmetrics.utilities import dim_zero_cat


class _PositiveColumn(MetricCollection):
    """Binary metrics fed with the (B, 2) distributions that everything else uses."""

    def update(self, probabilities: Tensor, labels: Tensor) -> None:  # type: ignore[override]
        super().update(probabilities[:, 1], labels)


class _OccurringAUROC(MulticlassAUROC):
    """Macro over the classes that occur: torchmetrics counts the area of one that does not as zero."""

    def __init__(self, num_classes: int) -> None:
        super().__init__(num_classes, average="none")

    def compute(self) -> Tensor:  # type: ignore[override]
        areas: Tensor = super().compute()
        return areas[torch.unique(dim_zero_cat(self.target))].mean()


def classification_metrics(num_classes: int, prefix: str) -> MetricCollection:
    """Accuracy, F1 (of class 1, or macro) and area under the ROC curve (macro over classes that occur).

    Args:
        num_classes: Number of classes, two or more.
        prefix: Put before each name, such as ``val/``.

    Returns:
        Metrics named ``accuracy``, ``f1``, ``auroc``, updated with distributions (B, C) and labels (B,).
    """
    if num_classes == 2:
        return _PositiveColumn(
            {"accuracy": BinaryAccuracy(), "f1": BinaryF1Score(), "auroc": BinaryAUROC()},
            prefix=prefix,
            compute_groups=False,
        )
    return MetricCollection(
        {
            "accuracy": MulticlassAccuracy(num_classes, average="micro"),
            "f1": MulticlassF1Score(num_classes, average="macro"),
            "auroc": _OccurringAUROC(num_classes),
        },
        prefix=prefix,
        compute_groups=False,
    )
