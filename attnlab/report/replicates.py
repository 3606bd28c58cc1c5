"""Statistics over resampled instances, by the names of :mod:`attnlab.report.statistics`.

Each is written as a function of weighted sums over instances, where the weight says how often an instance was drawn.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.resampling import Floats
from attnlab.report.spec import Statistic
from attnlab.report.statistics import average_ranks, distributions, element, pair, removals, values


class Sums(NamedTuple):
    """A statistic as a function of weighted sums.

    Attributes:
        columns: What is summed, (n, k).
        finish: The statistic from the sums (r, k) and the weights (n, r), to (r,).
    """

    columns: Floats
    finish: Callable[[Floats, Floats], Floats]


def prepare(counts: "Counted", statistics: Iterable[Statistic]) -> dict[str, Sums]:
    """Statistics as functions of sums over all instances, also the excluded: how many can be measured is itself drawn.

    Args:
        counts: The records.
        statistics: What to prepare; those that cannot be resampled are left out.

    Raises:
        ValueError: a measured instance has no value.
    """
    prepared: dict[str, Sums] = {}
    for statistic in statistics:
        place, rows = counts.of(statistic)
        if not rows.num_rows:
            continue
        if statistic.how == "median":
            prepared[statistic.name] = _median(values(rows, statistic.column), np.flatnonzero(place), len(place))
        elif statistic.how in SUMS:
            small = SUMS[statistic.how](rows, statistic)
            columns = np.zeros((len(place), small.columns.shape[1]), dtype=np.float32)
            columns[place] = small.columns
            prepared[statistic.name] = Sums(columns, _without_weights(small.finish))
    return prepared


def _without_weights(finish: Callable[[Floats], Floats]) -> Callable[[Floats, Floats], Floats]:
    return lambda sums, weights: finish(sums)


class Counted:
    """Which instances of some records statistics are over.

    Args:
        records: One row per instance.
    """

    def __init__(self, records: pa.Table) -> None:
        self.records = records
        self._measured: np.ndarray = pc.is_null(records["excluded"]).to_numpy()
        self._found: dict[str | None, tuple[np.ndarray, pa.Table]] = {}

    def of(self, statistic: Statistic) -> tuple[np.ndarray, pa.Table]:
        """Whether each instance counts, (n,) of bool, and the records of those that do."""
        name = statistic.where
        if name not in self._found:
            place = self._measured
            if name is not None:
                place = place & pc.fill_null(self.records[name], False).to_numpy().astype(bool)
            self._found[name] = place, self.records.filter(pa.array(place))
        place, rows = self._found[name]
        return place, element(rows, statistic)


def replicate(prepared: Sequence[Mapping[str, Sums]], blocks: Iterable[Floats]) -> list[dict[str, Floats]]:
    """Each statistic in each replicate, (replicates,), of records that are drawn alike, such as those of several seeds.

    Args:
        prepared: What :func:`prepare` made of each.
        blocks: Weights (n, r) as :meth:`attnlab.report.resampling.Resampling.instances` gives them.
    """
    named = [(position, name, sums) for position, own in enumerate(prepared) for name, sums in own.items()]
    parts: list[dict[str, list[Floats]]] = [{name: [] for name in own} for own in prepared]
    if not named:
        return [{} for _ in prepared]
    columns = np.concatenate([sums.columns for *_, sums in named], axis=1).T
    ends = np.cumsum([sums.columns.shape[1] for *_, sums in named])[:-1]
    for weights in blocks:
        found = np.split((columns @ weights).T.astype(np.float64), ends, axis=1)
        # A replicate may draw no counted instance, or none of a class: it has no value, as the statistic has none.
        with np.errstate(divide="ignore", invalid="ignore"):
            for (position, name, sums), own in zip(named, found, strict=True):
                parts[position][name].append(sums.finish(own, weights))
    return [{name: np.concatenate(found) for name, found in own.items()} for own in parts]


def _median(column: Floats, places: np.ndarray, n: int) -> Sums:
    """Median of the drawn instances.

    Only ranks near the middle can become the median, within six standard deviations of the draw; the weights below
    them are summed at once.

    Args:
        column: Values of the counted instances, (m,).
        places: Their places among all instances, (m,).
        n: All instances.
    """
    order = np.argsort(column, kind="stable")
    column, places = column[order], places[order]
    m = len(column)
    reach = int(3 * np.sqrt(m)) + 2
    low, high = max(m // 2 - reach, 0), min(m // 2 + reach, m)
    ends = np.zeros((n, 2), dtype=np.float32)
    ends[places[:low], 0], ends[places, 1] = 1, 1

    def finish(sums: Floats, weights: Floats) -> Floats:
        below, total = sums[:, 0].astype(np.float32), sums[:, 1].astype(np.float32)
        within = weights[places[low:high]].cumsum(0)
        within += below
        # With an even number of draws the median is the mean of two.
        ranks = np.floor((total + 1) / 2), np.floor(total / 2) + 1
        found = [column[np.minimum(low + (within < rank).sum(0), m - 1)] for rank in ranks]
        return np.where(total > 0, (found[0] + found[1]) / 2, np.nan)

    return Sums(ends, finish)


def _ratio(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1])


class Small(NamedTuple):
    """The same over the counted instances alone; ``finish`` needs no weights."""

    columns: Floats
    finish: Callable[[Floats], Floats]


def _average(column: Floats) -> Small:
    return Small(np.stack([column, np.ones(len(column))], 1), _ratio)


def _mean(records: pa.Table, statistic: Statistic) -> Small:
    return _average(values(records, statistic.column))


def _std(records: pa.Table, statistic: Statistic) -> Small:
    column = values(records, statistic.column)
    # Sums are in single precision: squares of small numbers are, those of a large mean would not be exact enough.
    centred = column - column.mean()

    def finish(sums: Floats) -> Floats:
        n = sums[:, 2]
        return np.asarray(np.sqrt(np.maximum(sums[:, 1] / n - (sums[:, 0] / n) ** 2, 0)))

    return Small(np.stack([centred, centred**2, np.ones(len(column))], 1), finish)


def _share(records: pa.Table, statistic: Statistic) -> Small:
    column = values(records, statistic.column)
    if statistic.at_least is not None:
        column = column >= statistic.at_least
    elif statistic.at_most is not None:
        column = column <= statistic.at_most
    return _average(column.astype(np.float64))


def _accuracy(records: pa.Table, statistic: Statistic) -> Small:
    return _average((values(records, statistic.column) == values(records, "label")).astype(np.float64))


def _f1(records: pa.Table, statistic: Statistic) -> Small:
    predicted, label = values(records, statistic.column), values(records, "label")
    classes = np.union1d(predicted, label)
    if classes.max(initial=0) <= 1:
        classes = np.array([1.0])
    columns = []
    for c in classes:
        columns += [2.0 * ((predicted == c) & (label == c)), 1.0 * (predicted == c) + (label == c)]
    return Small(np.stack(columns, 1), lambda sums: np.asarray((sums[:, ::2] / sums[:, 1::2]).mean(1)))


def _auc(records: pa.Table, statistic: Statistic) -> Small:
    """To first order in the weights, by each instance's placement among those of the other class (DeLong 1988)."""
    scores, label = distributions(records, statistic.column), values(records, "label")
    classes = np.unique(label).astype(int) if scores.shape[1] > 2 else [1]
    pieces, areas = zip(*(_placements(scores[:, c], label == c) for c in classes), strict=True)

    def finish(sums: Floats) -> Floats:
        sums = sums.reshape(len(sums), -1, 4)
        each = sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3] - np.array(areas)
        return np.asarray(each.mean(1))

    return Small(np.concatenate(pieces, 1), finish)


def _placements(scores: Floats, positive: np.ndarray) -> tuple[Floats, float]:
    ranks, placement = average_ranks(scores), np.full(len(scores), np.nan)
    n, m = int(positive.sum()), int((~positive).sum())
    if n and m:
        placement[positive] = (ranks[positive] - average_ranks(scores[positive])) / m
        placement[~positive] = 1 - (ranks[~positive] - average_ranks(scores[~positive])) / n
    area = float(placement[positive].mean()) if n and m else float("nan")
    up, down = positive.astype(np.float64), (~positive).astype(np.float64)
    return np.stack([placement * up, up, placement * down, down], 1), area


def _fewer(records: pa.Table, statistic: Statistic) -> Small:
    first, second = removals(records, statistic)
    some = np.isfinite(first) | np.isfinite(second)
    return Small(np.stack([(first < second) & some, some], 1).astype(np.float64), _ratio)


def _gain(of: Callable[[pa.Table, Statistic], Small]) -> Callable[[pa.Table, Statistic], Small]:
    """What a statistic of ``column`` has over the same of ``other``."""

    def gain(records: pa.Table, statistic: Statistic) -> Small:
        first, second = (of(records, replace(statistic, column=name)) for name in pair(statistic))
        width = first.columns.shape[1]
        return Small(
            np.concatenate([first.columns, second.columns], 1),
            lambda sums: first.finish(sums[:, :width]) - second.finish(sums[:, width:]),
        )

    return gain


SUMS: dict[str, Callable[[pa.Table, Statistic], Small]] = {
    "mean": _mean,
    "std": _std,
    "share": _share,
    "accuracy": _accuracy,
    "f1": _f1,
    "auc": _auc,
    "accuracy_gain": _gain(_accuracy),
    "f1_gain": _gain(_f1),
    "auc_gain": _gain(_auc),
    "fewer": _fewer,
}
"""The median is computed apart. A p-value, ``sign_test``, is no estimate; ``magnitude``, ``larger`` and ``curve_area``,
over lists of values, have no interval either."""


def instance_values(counts: Counted, statistic: Statistic) -> Floats | None:
    """What a statistic averages, one value per instance, NaN where it does not count; None where it is no average.

    Returns:
        (n,)
    """
    if statistic.how not in ("mean", "median", "share", "accuracy"):
        return None
    place, rows = counts.of(statistic)
    column = np.full(len(place), np.nan)
    if rows.num_rows:
        how = "mean" if statistic.how == "median" else statistic.how
        column[place] = SUMS[how](rows, statistic).columns[:, 0]
    return column
