"""Statistics over resampled instances, by the names of :mod:`attnlab.report.statistics`.

Each is written as a function of weighted sums over instances, where the weight says how often an instance was drawn.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.resampling import Floats
from attnlab.report.spec import Statistic
from attnlab.report.statistics import removals, values


class Sums(NamedTuple):
    """A statistic as a function of weighted sums.

    Attributes:
        columns: What is summed, (n, k) over the counted instances.
        finish: The statistic from the sums, (r, k) to (r,).
    """

    columns: Floats
    finish: Callable[[Floats], Floats]


def replicate(records: pa.Table, statistics: Sequence[Statistic], blocks: Iterable[Floats]) -> dict[str, Floats]:
    """Each statistic in each replicate, (replicates,); statistics that cannot be resampled are left out.

    Args:
        records: One row per instance, the excluded ones too: how many can be measured is itself drawn.
        statistics: What to compute.
        blocks: Weights (r, n) as :meth:`attnlab.report.resampling.Resampling.instances` gives them.

    Raises:
        ValueError: a measured instance has no value.
    """
    sums: dict[str, Sums] = {}
    medians: dict[str, tuple[Floats, np.ndarray]] = {}
    for statistic in statistics:
        place = counted(records, statistic)
        rows = records.filter(pa.array(place))
        if statistic.how == "median" and rows.num_rows:
            medians[statistic.name] = values(rows, statistic.column), np.flatnonzero(place)
        elif statistic.how in SUMS and rows.num_rows:
            small = SUMS[statistic.how](rows, statistic)
            columns = np.zeros((len(place), small.columns.shape[1]), dtype=np.float32)
            columns[place] = small.columns
            sums[statistic.name] = Sums(columns, small.finish)
    parts: dict[str, list[Floats]] = {name: [] for name in (*sums, *medians)}
    for weights in blocks:
        for name, found in _block(sums, weights).items():
            parts[name].append(found)
        for name, (column, places) in medians.items():
            parts[name].append(weighted_median(column, places, weights))
    return {name: np.concatenate(found) for name, found in parts.items()}


def counted(records: pa.Table, statistic: Statistic) -> np.ndarray:
    """Which instances a statistic is over, (n,) of bool."""
    measured: np.ndarray = pc.is_null(records["excluded"]).to_numpy()
    if statistic.where is None:
        return measured
    where: np.ndarray = pc.fill_null(records[statistic.where], False).to_numpy().astype(bool)
    both: np.ndarray = measured & where
    return both


def _block(sums: dict[str, Sums], weights: Floats) -> dict[str, Floats]:
    if not sums:
        return {}
    found = (weights @ np.concatenate([s.columns for s in sums.values()], axis=1)).astype(np.float64)
    ends = np.cumsum([s.columns.shape[1] for s in sums.values()])[:-1]
    # A replicate may draw no counted instance, or none of a class: it has no value, as the statistic has none.
    with np.errstate(divide="ignore", invalid="ignore"):
        pieces = zip(sums.items(), np.split(found, ends, axis=1), strict=True)
        return {name: s.finish(piece) for (name, s), piece in pieces}


def weighted_median(column: Floats, places: np.ndarray, weights: Floats) -> Floats:
    """Median of the drawn instances in each replicate, (r,).

    Only ranks near the middle can become the median, within six standard deviations of the draw; the weights below
    them are summed at once.

    Args:
        column: Values of the counted instances, (m,).
        places: Their places among all instances, (m,).
        weights: How often each instance is drawn, (r, n).
    """
    order = np.argsort(column, kind="stable")
    column, places = column[order], places[order]
    m = len(column)
    reach = int(3 * np.sqrt(m)) + 2
    low, high = max(m // 2 - reach, 0), min(m // 2 + reach, m)
    ends = np.zeros((weights.shape[1], 2), dtype=np.float32)
    ends[places[:low], 0], ends[places, 1] = 1, 1
    below, total = (weights @ ends).T.astype(np.float64)
    within = below[:, None] + weights[:, places[low:high]].cumsum(1)
    ranks = np.floor((total + 1) / 2), np.floor(total / 2) + 1
    found = [column[np.minimum(low + (within < rank[:, None]).sum(1), m - 1)] for rank in ranks]
    return np.where(total > 0, (found[0] + found[1]) / 2, np.nan)


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _average(column: Floats) -> Sums:
    return Sums(np.stack([column, np.ones(len(column))], 1), _ratio)


def _mean(records: pa.Table, statistic: Statistic) -> Sums:
    return _average(values(records, statistic.column))


def _std(records: pa.Table, statistic: Statistic) -> Sums:
    column = values(records, statistic.column)
    # Sums are in single precision: squares of small numbers are, those of a large mean would not be exact enough.
    centred = column - column.mean()

    def finish(sums: Floats) -> Floats:
        n = sums[:, 2]
        return np.asarray(np.sqrt(np.maximum(sums[:, 1] / n - (sums[:, 0] / n) ** 2, 0)))

    return Sums(np.stack([centred, centred**2, np.ones(len(column))], 1), finish)


def _share(records: pa.Table, statistic: Statistic) -> Sums:
    column = values(records, statistic.column)
    if statistic.at_least is not None:
        column = column >= statistic.at_least
    elif statistic.at_most is not None:
        column = column <= statistic.at_most
    return _average(column.astype(np.float64))


def _accuracy(records: pa.Table, statistic: Statistic) -> Sums:
    return _average((values(records, statistic.column) == values(records, "label")).astype(np.float64))


def _f1(records: pa.Table, statistic: Statistic) -> Sums:
    predicted, label = values(records, statistic.column), values(records, "label")
    classes = np.union1d(predicted, label)
    if classes.max(initial=0) <= 1:
        classes = np.array([1.0])
    columns = []
    for c in classes:
        columns += [2.0 * ((predicted == c) & (label == c)), 1.0 * (predicted == c) + (label == c)]
    return Sums(np.stack(columns, 1), lambda sums: np.asarray((sums[:, ::2] / sums[:, 1::2]).mean(1)))


def _auc(records: pa.Table, statistic: Statistic) -> Sums:
    """To first order in the weights, by each instance's placement among those of the other class (DeLong 1988)."""
    scores, label = np.stack(records[statistic.column].to_numpy()), values(records, "label")
    classes = range(scores.shape[1]) if scores.shape[1] > 2 else [1]
    pieces, areas = zip(*(_placements(scores[:, c], label == c) for c in classes), strict=True)

    def finish(sums: Floats) -> Floats:
        sums = sums.reshape(len(sums), -1, 4)
        each = sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3] - np.array(areas)
        return np.asarray(each.mean(1))

    return Sums(np.concatenate(pieces, 1), finish)


def _placements(scores: Floats, positive: np.ndarray) -> tuple[Floats, float]:
    from scipy.stats import rankdata

    ranks, placement = rankdata(scores), np.full(len(scores), np.nan)
    n, m = int(positive.sum()), int((~positive).sum())
    if n and m:
        placement[positive] = (ranks[positive] - rankdata(scores[positive])) / m
        placement[~positive] = 1 - (ranks[~positive] - rankdata(scores[~positive])) / n
    area = float(placement[positive].mean()) if n and m else float("nan")
    up, down = positive.astype(np.float64), (~positive).astype(np.float64)
    return np.stack([placement * up, up, placement * down, down], 1), area


def _fewer(records: pa.Table, statistic: Statistic) -> Sums:
    first, second = removals(records, statistic)
    some = np.isfinite(first) | np.isfinite(second)
    return Sums(np.stack([(first < second) & some, some], 1).astype(np.float64), _ratio)


SUMS: dict[str, Callable[[pa.Table, Statistic], Sums]] = {
    "mean": _mean,
    "std": _std,
    "share": _share,
    "accuracy": _accuracy,
    "f1": _f1,
    "auc": _auc,
    "fewer": _fewer,
}
"""The median is computed apart; a p-value, ``sign_test``, is no estimate and has no interval."""


def instance_values(records: pa.Table, statistic: Statistic) -> Floats | None:
    """What a statistic averages, one value per instance, NaN where it does not count; None where it is no average.

    Returns:
        (n,)
    """
    if statistic.how not in ("mean", "median", "share", "accuracy"):
        return None
    place = counted(records, statistic)
    column = np.full(len(place), np.nan)
    if place.any():
        rows = records.filter(pa.array(place))
        how = "mean" if statistic.how == "median" else statistic.how
        column[place] = SUMS[how](rows, statistic).columns[:, 0]
    return column
