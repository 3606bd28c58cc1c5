"""Records as a flat table."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def flat_table(records: "pa.Table") -> "pa.Table":
    """Records with lists joined by spaces, since CSV and W&B tables have no lists."""
    import pyarrow as pa

    for position, field in enumerate(records.schema):
        if pa.types.is_list(field.type):
            texts = [None if row is None else " ".join(map(_short, row)) for row in records[field.name].to_pylist()]
            records = records.set_column(position, field.name, pa.array(texts, pa.string()))
    return records


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
