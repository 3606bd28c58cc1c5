"""One description of a table, which every format is written from."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

USUAL_SPLIT = "test"
"""Which split a table does not have to name."""


@dataclass(frozen=True)
class Entry:
    """What stands in a row and column.

    Attributes:
        text: As it is read; None where there is nothing.
        values: The same as plain values, one for each of the column's fields.
        bold: Whether it stands out.
    """

    text: str | None
    values: tuple[Any, ...]
    bold: bool = False


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: As it is read.
        fields: Names of its values in a table of data.
        right: Whether numbers are aligned.
    """

    name: str
    fields: tuple[str, ...]
    right: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table.

    Attributes:
        title: What it is.
        columns: Columns.
        rows: One entry per column.
        sections: Rows before which a new section starts.
        notes: Lines under it.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Entry]]
    sections: frozenset[int] = frozenset()
    notes: Sequence[str] = field(default=())

    def unless_all(self, name: str, value: str) -> Self:
        """Without a column where all its entries are the same, expected word; the sheet itself otherwise."""
        at = next(i for i, column in enumerate(self.columns) if column.name == name)
        if any(row[at].text != value for row in self.rows):
            return self
        columns = [*self.columns[:at], *self.columns[at + 1 :]]
        return replace(self, columns=columns, rows=[[*row[:at], *row[at + 1 :]] for row in self.rows])


def text(value: str | None) -> Entry:
    """A word."""
    return Entry(value, (value,))


def number(value: float | None, form: str = ".3f", bold: bool = False) -> Entry:
    """A number; nothing where it is missing or undefined."""
    missing = value is None or value != value
    return Entry(None, (None,)) if missing else Entry(f"{value:{form}}", (value,), bold)


def span(low: float | None, high: float | None, form: str = ".3f") -> Entry:
    """An interval."""
    if low is None or high is None or low != low or high != high:
        return Entry(None, (None, None))
    return Entry(f"[{low:{form}}, {high:{form}}]", (low, high))
