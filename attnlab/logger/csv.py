"""Records and summaries as CSV files."""

from pathlib import Path

from attnlab.job import Job
from attnlab.logger.mirror import NoMirror
from attnlab.report.flat import flat_table
from attnlab.results import Result


class CsvMirror(NoMirror):
    """Writes ``<protocol>.csv`` (one row per instance) and ``<protocol>.summary.csv`` into the run folder."""

    def further(self) -> NoMirror:
        """The folder holds the job's own results."""
        return NoMirror()

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Write both files."""
        import pyarrow as pa
        import pyarrow.csv

        from attnlab.report.summary import of_each_class  # it loads pyarrow, which a start would wait for

        pyarrow.csv.write_csv(flat_table(result.records), folder / f"{result.protocol}.csv")
        rows = [
            {"statistic": name, "group": group, "value": value}
            for name, statistic in result.summary["statistics"].items()
            for group, value in {"all": statistic["all"], **of_each_class(statistic)}.items()
        ]
        if rows:
            pyarrow.csv.write_csv(pa.Table.from_pylist(rows), folder / f"{result.protocol}.summary.csv")
