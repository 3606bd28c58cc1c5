"""Plain text for terminals and pipes. Rich takes seconds for thousands of rows."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

MISSING = "–"


def columns(header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> str:
    """Aligned columns.

    Args:
        header: Names of the columns.
        rows: Cells as text.
        right: Columns that are aligned to the right.
    """
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    marks = [">" if name in right else "<" for name in header]
    form = "  ".join(f"{{:{mark}{width}}}" for mark, width in zip(marks, widths, strict=True))
    return "\n".join(form.format(*line).rstrip() for line in lines)


def value_text(value: Any) -> str:  # noqa: ANN401 - any plain value
    """A value as the user would type it in a filter."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(map(value_text, value))}]"
    return str(value)


def file_name(text: str) -> str:
    """A name as a file or an anchor: what a shell or a file system may trip over becomes one underscore."""
    return re.sub(r"[^\w.=-]+", "_", text).strip("_")


def seconds_text(seconds: float | None) -> str:
    """``0.4 s``, ``12 s``, ``3 min``, ``1 h 20 min``, ``2 d 3 h``."""
    if seconds is None:
        return MISSING
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(minutes / 60)
    return f"{hours // 24} d {hours % 24} h"


def size_text(size: float) -> str:
    """``12 kB``, ``3.4 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if size >= 10 or unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def warn(lines: Sequence[str], what: str = "skipped", shown: int = 10) -> None:
    """Tell on the error output what was left out."""
    for line in lines[:shown]:
        print(f"{what}: {line}", file=sys.stderr)
    if len(lines) > shown:
        print(f"{what}: {len(lines) - shown} more", file=sys.stderr)
