"""Formats of tables; a new one is a function from a sheet to text."""

from collections.abc import Callable

from attnlab.report.formats.csv import to_csv
from attnlab.report.formats.latex import to_latex
from attnlab.report.formats.markdown import to_markdown
from attnlab.report.formats.terminal import to_terminal
from attnlab.report.sheet import Sheet

FORMATS: dict[str, Callable[[Sheet], str]] = {
    "terminal": to_terminal,
    "markdown": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
}

__all__ = ["ENDINGS", "FORMATS", "to_terminal"]

ENDINGS = {".md": "markdown", ".csv": "csv", ".tex": "latex", ".txt": "terminal"}
"""Format that a file's name asks for."""
