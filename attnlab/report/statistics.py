"""Statistics over the measured instances of a result, by name.

Each takes the records (an Arrow table without excluded rows) and the :class:`~attnlab.report.spec.Statistic`, and
returns a number; NaN where it is not defined, such as an area under the curve with a single class.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.spec import Statistic


def values(records: pa.Table, column: str) -> np.ndarray:
    """A column as float64, (N,).

    Raises:
        ValueError: a measured instance has no value; it would be averaged away in silence.
    """
    array: np.ndarray = records[column].to_numpy().astype(np.float64)
    if np.isnan(array).any():
        raise ValueError(f"column {column}: {int(np.isnan(array).sum())} measured instances have no value")
    return array


def distributions(records: pa.Table, column: str) -> np.ndarray:
    """A column of lists that all have the same length, (N, C)."""
    flat: np.ndarray = records[column].combine_chunks().flatten().to_numpy().reshape(records.num_rows, -1)
    return flat


def element(records: pa.Table, statistic: Statistic) -> pa.Table:
    """The records with one value of each list in the statistic's column, where it asks for a place in lists."""
    if statistic.element is None:
        return records
    place, one = (
        records.column_names.index(statistic.column),
        pc.list_element(records[statistic.column], statistic.element),
    )
    return records.set_column(place, statistic.column, one)


def mean(records: pa.Table, statistic: Statistic) -> float:
    """Arithmetic mean."""
    return float(values(records, statistic.column).mean())


def magnitude(records: pa.Table, statistic: Statistic) -> float:
    """Mean of absolute values."""
    return float(np.abs(values(records, statistic.column)).mean())


def std(records: pa.Table, statistic: Statistic) -> float:
    """Population standard deviation over instances, as Jain & Wallace report it."""
    return float(values(records, statistic.column).std())


def median(records: pa.Table, statistic: Statistic) -> float:
    """Median over instances."""
    return float(np.median(values(records, statistic.column)))


def share(records: pa.Table, statistic: Statistic) -> float:
    """Share of instances that are true, or at least ``at_least``, or at most ``at_most``."""
    column = values(records, statistic.column)
    if statistic.at_least is not None:
        return float((column >= statistic.at_least).mean())
    if statistic.at_most is not None:
        return float((column <= statistic.at_most).mean())
    return float(column.mean())


def accuracy(records: pa.Table, statistic: Statistic) -> float:
    """Share of instances whose ``column`` is their label."""
    return float((values(records, statistic.column) == values(records, "label")).mean())


def accuracy_gain(records: pa.Table, statistic: Statistic) -> float:
    """Accuracy of ``column`` less that of ``other``."""
    return _gain(accuracy, records, statistic)


def f1(records: pa.Table, statistic: Statistic) -> float:
    """F1 of class 1 where the labels are 0 and 1, else the mean over the classes."""
    predicted, label = values(records, statistic.column), values(records, "label")
    classes = np.union1d(predicted, label)
    if classes.max(initial=0) <= 1:
        return _f1_of(1, predicted, label)
    return float(np.mean([_f1_of(c, predicted, label) for c in classes]))


def f1_gain(records: pa.Table, statistic: Statistic) -> float:
    """F1 of ``column`` less that of ``other``."""
    return _gain(f1, records, statistic)


def f1_by_class(records: pa.Table, statistic: Statistic, c: int) -> float:
    """F1 of one class against all others."""
    return _f1_of(c, values(records, statistic.column), values(records, "label"))


def _gain(of: Callable[[pa.Table, Statistic], float], records: pa.Table, statistic: Statistic) -> float:
    column, other = pair(statistic)
    return of(records, replace(statistic, column=column)) - of(records, replace(statistic, column=other))


def _f1_of(c: float, predicted: np.ndarray, label: np.ndarray) -> float:
    hits = ((predicted == c) & (label == c)).sum()
    total = (predicted == c).sum() + (label == c).sum()
    return float(2 * hits / total) if total else float("nan")


def auc(records: pa.Table, statistic: Statistic) -> float:
    """Area under the ROC curve of a column of distributions; for more than two, the mean over classes that occur."""
    scores = distributions(records, statistic.column)
    label = values(records, "label")
    if scores.shape[1] == 2:
        return _auc_of(1, scores[:, 1], label)
    return float(np.mean([_auc_of(c, scores[:, c], label) for c in np.unique(label).astype(int)]))


def auc_gain(records: pa.Table, statistic: Statistic) -> float:
    """Area under the ROC curve of ``column`` less that of ``other``."""
    return _gain(auc, records, statistic)


def _auc_of(c: int, scores: np.ndarray, label: np.ndarray) -> float:
    """Mann–Whitney U over the number of pairs; ties count half."""
    positive = label == c
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return float("nan")
    return float((average_ranks(scores)[positive].sum() - n * (n + 1) / 2) / (n * m))


def average_ranks(column: np.ndarray) -> np.ndarray:
    """Ranks from 1, (N,); equal values share the mean of theirs, as in ``scipy.stats``, which is slow to load."""
    _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
    ranks: np.ndarray = counts.cumsum() - (counts - 1) / 2
    return ranks[place]


def fewer(records: pa.Table, statistic: Statistic) -> float:
    """Share of instances in which ``column`` needs fewer removals than ``other``; where neither ever flips, none."""
    first, second = _some_removals(records, statistic)
    return float((first < second).mean()) if len(first) else float("nan")


def larger(records: pa.Table, statistic: Statistic) -> float:
    """Share in which ``column`` is farther from zero than ``other``; equal ones count half."""
    first, second = (np.abs(values(records, name)) for name in pair(statistic))
    return float((first > second).mean() + 0.5 * (first == second).mean())


def sign_test(records: pa.Table, statistic: Statistic) -> float:
    """Two-sided p of the sign test over instances in which ``column`` and ``other`` differ."""
    from scipy.stats import binomtest

    first, second = _some_removals(records, statistic)
    less, more = int((first < second).sum()), int((first > second).sum())
    return float(binomtest(less, less + more).pvalue) if less + more else 1.0


def curve_area(records: pa.Table, statistic: Statistic) -> float:
    """Mean height over [0, ln 2] of the curve through the origin and the means at each place of two columns of lists.

    Points are joined in the order of ``other``; beyond the last the curve stays as high as there.
    """
    x, y = place_means(records, pair(statistic)[1]), place_means(records, statistic.column)
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    x, y = np.concatenate([[0.0], x, [max(math.log(2), x[-1])]]), np.concatenate([[0.0], y, y[-1:]])
    return float(np.trapezoid(y, x) / x[-1])


def place_means(records: pa.Table, column: str) -> np.ndarray:
    """Means over instances at each place of a column of lists of equal length, (K,)."""
    means: np.ndarray = np.stack(records[column].to_numpy()).astype(np.float64).mean(0)
    return means


def removals(records: pa.Table, statistic: Statistic) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of removal counts, (N,) each; an order that never flips needs infinitely many."""
    first, second = (values(records, name) for name in pair(statistic))
    return np.where(first < 0, np.inf, first), np.where(second < 0, np.inf, second)


def _some_removals(records: pa.Table, statistic: Statistic) -> tuple[np.ndarray, np.ndarray]:
    """The same without instances that neither order flips."""
    first, second = removals(records, statistic)
    some = np.isfinite(first) | np.isfinite(second)
    return first[some], second[some]


def pair(statistic: Statistic) -> tuple[str, str]:
    """The two columns that a statistic compares.

    Raises:
        ValueError: it names one alone.
    """
    if statistic.other is None:
        raise ValueError(f"statistic {statistic.name} compares with no other column")
    return statistic.column, statistic.other


STATISTICS: dict[str, Callable[[pa.Table, Statistic], float]] = {
    function.__name__: function
    for function in (
        *(mean, magnitude, std, median, share, accuracy, f1, auc, accuracy_gain, f1_gain, auc_gain),
        *(fewer, larger, sign_test, curve_area),
    )
}
"""A new kind of statistic is one function here."""

OF_CLASS: dict[str, Callable[[pa.Table, Statistic, int], float]] = {"f1": f1_by_class}
"""Statistics that have a value for each class of their own."""
