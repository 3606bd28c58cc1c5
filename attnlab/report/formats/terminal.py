"""A table for people at a terminal, with rich."""

import io

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from attnlab.inspect.text import MISSING, columns
from attnlab.report.sheet import Sheet

PLAIN_FROM = 200
"""Rows from which the table is plain text: rich takes seconds for thousands."""

UNLIMITED = 10_000


def to_terminal(sheet: Sheet, colour: bool = False) -> str:
    """Title, table and notes.

    Args:
        sheet: What to show.
        colour: Whether escape codes may be used; what is bold has a star where not.
    """
    if len(sheet.rows) >= PLAIN_FROM:
        return _plain(sheet)
    table = Table(box=SIMPLE_HEAD)
    table.padding, table.pad_edge = (0, 1, 0, 0), False
    for column in sheet.columns:
        table.add_column(column.name, justify="right" if column.right else "left", no_wrap=True)
    for position, row in enumerate(sheet.rows):
        parts = [Text(_mark(entry.text, entry.bold, colour), "bold" if entry.bold else "") for entry in row]
        table.add_row(*parts, end_section=position + 1 in sheet.sections)
    # The terminal wraps what is too wide; rich would cut it.
    out = Console(file=io.StringIO(), width=UNLIMITED, force_terminal=colour, record=True)
    out.print(table)
    notes = "".join(f"{note}\n" for note in sheet.notes)
    title = f"\x1b[1m{sheet.title}\x1b[0m" if colour else sheet.title
    lines = "\n".join(line.rstrip() for line in out.export_text(styles=colour).splitlines()).strip("\n")
    return f"{title}\n\n{lines}\n{notes}"


def _plain(sheet: Sheet) -> str:
    header = [column.name for column in sheet.columns]
    rows = ([_mark(entry.text, entry.bold, False) for entry in row] for row in sheet.rows)
    right = [column.name for column in sheet.columns if column.right]
    return "\n".join([sheet.title, columns(header, rows, right), *sheet.notes, ""])


def _mark(text: str | None, bold: bool, colour: bool) -> str:
    if text is None:
        return MISSING
    return text if colour or not bold else f"*{text}"
