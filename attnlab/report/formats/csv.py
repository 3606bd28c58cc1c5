"""Comma-separated values: numbers in full, missing ones empty, intervals in two columns."""

import csv
import io

from attnlab.report.sheet import Sheet


def to_csv(sheet: Sheet) -> str:
    """A header and one line per row; neither title nor notes, so that any reader takes it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for column in sheet.columns for name in column.fields])
    for row in sheet.rows:
        writer.writerow(["" if value is None else value for entry in row for value in entry.values])
    return out.getvalue()
