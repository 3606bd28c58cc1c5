"""Columns of raw tables as ids, texts, label values and rationales."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def column_named(table: "pa.Table", name: str, key: str, split: str) -> "pa.ChunkedArray":
    """A column of a split.

    Raises:
        DataError: there is none of that name; the message names the configuration key and what there is.
    """
    if name not in table.column_names:
        present = ", ".join(table.column_names)
        raise DataError(f"{key}: the {split} split has no column {name!r}; it has {present}")
    return table[name]


def renamed(table: "pa.Table", names: Mapping[str, str]) -> "pa.Table":
    """A table whose columns have the names that a mapping gives them."""
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def plain_strings(column: "pa.ChunkedArray") -> "pa.Array":
    """Values as strings, whole floats as integers (pandas writes labels beside a gap as 1.0), nulls as ''."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = column.combine_chunks()
    if pa.types.is_floating(array.type) and pc.all(pc.equal(array, pc.floor(array))).as_py():
        array = array.cast(pa.int64())
    return pc.fill_null(array.cast(pa.string()), "")


def joined_text(table: "pa.Table", names: str | Sequence[str], key: str, split: str) -> "pa.Array":
    """A text column, or several joined by a space; nulls count as nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = [names] if isinstance(names, str) else names
    columns = [column_named(table, name, key, split).cast(pa.large_string()) for name in names]
    space = pa.scalar(" ", pa.large_string())
    return pc.binary_join_element_wise(*columns, space, null_handling="skip").combine_chunks()


def identifiers(table: "pa.Table", name: str, split: str) -> "pa.Array":
    """Ids as strings, or the name of the split and the row number.

    Raises:
        DataError: an id occurs twice, or the named column is missing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if name == "id" and name not in table.column_names:
        numbers = pa.array(range(len(table)), pa.int64()).cast(pa.string())
        return pc.binary_join_element_wise(split, numbers, "-")
    ids = plain_strings(column_named(table, name, "data.source.id", split))
    counts = pc.value_counts(ids)
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        example = repeated[0]["values"].as_py()
        raise DataError(
            f"data.source.id: {len(repeated)} ids occur more than once in the {split} split, such as {example!r};"
            f" make column {name!r} unique or name another"
        )
    return ids


def rationales(table: "pa.Table") -> "pa.ChunkedArray":
    """Positions of the tokens that decide the label."""
    import pyarrow as pa

    try:
        return table["rationale"].cast(pa.list_(pa.int64()))
    except pa.ArrowInvalid as error:
        raise DataError("data: column 'rationale' must hold lists of token positions") from error
