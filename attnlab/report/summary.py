"""Records to a summary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.spec import Statistic
from attnlab.report.statistics import OF_CLASS, STATISTICS, element


def summarise(records: pa.Table, statistics: Sequence[Statistic], classes: Sequence[str]) -> dict[str, Any]:
    """Statistics over the instances that could be measured, overall and by predicted class.

    Args:
        records: One row per instance; ``excluded`` gives the reason where it could not be measured.
        statistics: What to compute.
        classes: Names of the classes, in the order of their numbers.

    Returns:
        ``n`` instances, ``measured``, ``excluded`` (count by reason), and for each statistic ``all`` and
        ``by_prediction`` (by class name; classes that were never predicted are left out). A statistic of columns with a
        value for each class has ``by_class`` beside an empty ``by_prediction``.

    Raises:
        ValueError: a measured instance has no value in a column that a statistic uses.
    """
    measured = measured_records(records)
    reasons = Counter(reason for reason in records["excluded"].to_pylist() if reason is not None)
    by_class = {name: measured.filter(pc.equal(measured["prediction"], c)) for c, name in enumerate(classes)}
    return {
        "n": records.num_rows,
        "measured": measured.num_rows,
        "excluded": dict(sorted(reasons.items())),
        "statistics": {
            s.name: _each_class(s, measured, classes) if s.by_class else _describe(s, measured, by_class)
            for s in statistics
        },
    }


def of_each_class(statistic: Mapping[str, Any]) -> Mapping[str, float]:
    """Values of a summarised statistic by class: by predicted class, or of each class where it has one for each."""
    values: Mapping[str, float] = statistic["by_prediction"] or statistic.get("by_class", {})
    return values


def measured_records(records: pa.Table) -> pa.Table:
    """The rows without a reason for exclusion."""
    return records.filter(pc.is_null(records["excluded"]))


def _describe(statistic: Statistic, measured: pa.Table, by_class: dict[str, pa.Table]) -> dict[str, Any]:
    rows = _counted(measured, statistic)
    groups = {name: _counted(group, statistic) for name, group in by_class.items()} if statistic.by_prediction else {}
    return {
        **_computed(statistic, rows),
        "by_prediction": {name: _value(statistic, group) for name, group in groups.items() if group.num_rows},
    }


def _each_class(statistic: Statistic, measured: pa.Table, classes: Sequence[str]) -> dict[str, Any]:
    rows = _counted(measured, statistic)
    if statistic.how in OF_CLASS:
        each = {name: OF_CLASS[statistic.how](rows, statistic, c) for c, name in enumerate(classes) if rows.num_rows}
        return {**_computed(statistic, rows), "by_prediction": {}, "by_class": each}
    return _by_class(statistic, rows, classes)


def _by_class(statistic: Statistic, rows: pa.Table, classes: Sequence[str]) -> dict[str, Any]:
    names = [name for name in (statistic.column, statistic.other) if name]
    every = pa.table({name: pc.list_flatten(rows[name]) for name in names})
    each = {c: pa.table({name: pc.list_element(rows[name], c) for name in names}) for c in range(len(classes))}
    return {
        **_computed(statistic, every),
        "n": rows.num_rows,
        "by_prediction": {},
        "by_class": {classes[c]: _value(statistic, table) for c, table in each.items() if rows.num_rows},
    }


def _computed(statistic: Statistic, rows: pa.Table) -> dict[str, Any]:
    return {
        "description": statistic.description,
        "higher_is_better": statistic.higher_is_better,
        "n": rows.num_rows,
        "all": _value(statistic, rows) if rows.num_rows else float("nan"),
    }


def _value(statistic: Statistic, rows: pa.Table) -> float:
    return STATISTICS[statistic.how](rows, statistic)


def _counted(records: pa.Table, statistic: Statistic) -> pa.Table:
    rows = records.filter(records[statistic.where]) if statistic.where else records
    return element(rows, statistic)
