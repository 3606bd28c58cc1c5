"""A table as GitHub's Markdown."""

from collections.abc import Iterable

from attnlab.inspect.text import MISSING
from attnlab.report.sheet import Entry, Sheet


def to_markdown(sheet: Sheet) -> str:
    """Title in bold, the table, notes as a list."""
    rule = ["--:" if column.right else "---" for column in sheet.columns]
    lines = [f"**{_escape(sheet.title)}**", ""]
    lines += [_line(_escape(column.name) for column in sheet.columns), _line(rule)]
    lines += [_line(_entry(entry) for entry in row) for row in sheet.rows]
    if sheet.notes:
        lines += ["", *(f"- {_escape(note)}" for note in sheet.notes)]
    return "\n".join(lines) + "\n"


def _line(parts: Iterable[str]) -> str:
    return f"| {' | '.join(parts)} |"


def _entry(entry: Entry) -> str:
    if entry.text is None:
        return MISSING
    escaped = _escape(entry.text)
    return f"**{escaped}**" if entry.bold else escaped


def _escape(text: str) -> str:
    for mark in ("\\", "|", "*", "_", "<", "`"):
        text = text.replace(mark, f"\\{mark}")
    return text
