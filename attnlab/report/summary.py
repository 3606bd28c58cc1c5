"""Records to a summary."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.spec import Statistic
from attnlab.report.statistics import STATISTICS


def summarise(records: pa.Table, statistics: Sequence[Statistic], classes: Sequence[str]) -> dict[str, Any]:
    """Statistics over the instances that could be measured, overall and by predicted class.

    Args:
        records: One row per instance; ``excluded`` gives the reason where it could not be measured.
        statistics: What to compute.
        classes: Names of the classes, in the order of their numbers.

    Returns:
        ``n`` instances, ``measured``, ``excluded`` (count by reason), and for each statistic ``all`` and
        ``by_prediction`` (by class name; classes that were never predicted are left out).

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
        "statistics": {s.name: _describe(s, measured, by_class) for s in statistics},
    }


def measured_records(records: pa.Table) -> pa.Table:
    """The rows without a reason for exclusion."""
    return records.filter(pc.is_null(records["excluded"]))


def _describe(statistic: Statistic, measured: pa.Table, by_class: dict[str, pa.Table]) -> dict[str, Any]:
    compute = STATISTICS[statistic.how]
    rows = _counted(measured, statistic)
    groups = {name: _counted(group, statistic) for name, group in by_class.items()} if statistic.by_prediction else {}
    return {
        "description": statistic.description,
        "higher_is_better": statistic.higher_is_better,
        "n": rows.num_rows,
        "all": compute(rows, statistic) if rows.num_rows else float("nan"),
        "by_prediction": {name: compute(group, statistic) for name, group in groups.items() if group.num_rows},
    }


def _counted(records: pa.Table, statistic: Statistic) -> pa.Table:
    return records.filter(records[statistic.where]) if statistic.where else records
