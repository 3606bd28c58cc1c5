"""Columns and statistics of another model's predictions beside those of the measured one."""

from torch import Tensor

from attnlab.functional.divergence import total_variation_distance
from attnlab.protocols.protocol import Column, Observation
from attnlab.report.spec import Statistic

TASK = (("f1", "prediction", "f1"), ("accuracy", "prediction", "accuracy"), ("auroc", "probabilities", "auc"))
"""Metrics of the task: name, column and function."""


def compared_columns(name: str, probabilities: Tensor, observation: Observation) -> dict[str, Column]:
    """Another distribution (B, C) over the classes, its decision, and its distance from the model's."""
    prediction = probabilities.argmax(-1)
    return {
        f"probabilities_{name}": probabilities.tolist(),
        f"prediction_{name}": prediction,
        f"correct_{name}": prediction == observation.batch.labels,
        f"tvd_{name}": total_variation_distance(probabilities, observation.probabilities),
    }


def own_columns(observation: Observation) -> dict[str, Column]:
    """What the others are compared with."""
    return {
        "probabilities": observation.probabilities.tolist(),
        "correct": observation.prediction == observation.batch.labels,
    }


def own_statistics() -> tuple[Statistic, ...]:
    """The model's own metrics of the task."""
    return tuple(
        Statistic(name, column, how=how, higher_is_better=True, by_prediction=False) for name, column, how in TASK
    )


def compared_statistics(name: str, label: str) -> tuple[Statistic, ...]:
    """Another's metrics of the task, and how far its predictions lie from the model's own.

    Args:
        name: Of the columns.
        label: What the other is, in a few words.
    """
    metrics = [
        Statistic(f"{metric}_{name}", f"{column}_{name}", how, label, higher_is_better=True, by_prediction=False)
        for metric, column, how in TASK
    ]
    return (*metrics, Statistic(f"tvd_{name}", f"tvd_{name}", description=f"change of the prediction, {label}"))


def gain_statistics(name: str, label: str) -> tuple[Statistic, ...]:
    """How far another's metrics of the task lie above the model's own, and whether accuracies differ by chance."""
    gains = [
        Statistic(
            f"{metric}_gain_{name}",
            f"{column}_{name}",
            how=f"{how}_gain",
            description=f"{metric}, {label} − own",
            by_prediction=False,
            other=column,
        )
        for metric, column, how in TASK
    ]
    test = Statistic(
        f"p_value_{name}",
        f"correct_{name}",
        how="sign_test",
        description="exact McNemar test of the two accuracies",
        by_prediction=False,
        other="correct",
    )
    return (*gains, test)
