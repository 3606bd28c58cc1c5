"""Records and summaries as CSV files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from attnlab.job import Job
from attnlab.logger.mirror import NoMirror
from attnlab.report.summary import of_each_class
from attnlab.results import Result


class CsvMirror(NoMirror):
    """Writes ``<protocol>.csv`` (one row per instance) and ``<protocol>.summary.csv`` into the run folder."""

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Write both files."""
        pyarrow.csv.write_csv(flat_table(result.records), folder / f"{result.protocol}.csv")
        rows = [
            {"statistic": name, "group": group, "value": value}
            for name, statistic in result.summary["statistics"].items()
            for group, value in {"all": statistic["all"], **of_each_class(statistic)}.items()
        ]
        if rows:
            pyarrow.csv.write_csv(pa.Table.from_pylist(rows), folder / f"{result.protocol}.summary.csv")


def flat_table(records: pa.Table) -> pa.Table:
    """Records with lists joined by spaces, since CSV and W&B tables have no lists."""
    for position, field in enumerate(records.schema):
        if pa.types.is_list(field.type):
            texts = [None if row is None else " ".join(map(_short, row)) for row in records[field.name].to_pylist()]
            records = records.set_column(position, field.name, pa.array(texts, pa.string()))
    return records


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
