"""Records of several protocols on one model, joined by instance."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.errors import StoreError
from attnlab.report.site.layout import Measured
from attnlab.results import read_records

EVERYWHERE = frozenset({"index", "id", "split", "label", "prediction", "length", "max_attention"})
"""Columns that all protocols record alike."""

TEXT = frozenset({"tokens", "rationale", "probabilities"})
"""Columns that the page shows in their own way."""


@dataclass(frozen=True)
class Column:
    """Values of a protocol, one per instance or, for scores, one per token.

    Attributes:
        protocol: Its name.
        name: Column of the records.
        values: Arrow column in the order of the base; null where the instance is not in the protocol's records.
    """

    protocol: str
    name: str
    values: Any


@dataclass(frozen=True)
class Joined:
    """Instances of a split as all protocols saw them.

    Attributes:
        base: Records that carry the tokens.
        lengths: Tokens of each instance, (N,).
        unit: What the tokens are, such as ``sentences``.
        scores: One value per token each.
        columns: One value per instance each.
        classes: Names of the classes.
    """

    base: pa.Table
    lengths: np.ndarray
    unit: str
    scores: list[Column]
    columns: list[Column]
    classes: list[str]


def join(measured: Measured, problems: list[str]) -> Joined | None:
    """All records of a model, in the order of those that carry tokens; None where none does.

    Args:
        measured: Results of one model on one split.
        problems: Gets a line about each result that cannot be read and is left out.
    """
    tables, classes, units = {}, {}, {}
    for protocol, cell in measured.cells.items():
        try:
            tables[protocol] = _checked(read_records(cell.folder), cell.folder / "records.parquet")
            specification = cell.specification
            classes[protocol] = [str(name) for name in specification["classes"]]
            units[protocol] = str(specification.get("unit", "tokens"))
        except StoreError as error:
            tables.pop(protocol, None)
            problems.append(str(error))
        except (KeyError, TypeError) as error:
            tables.pop(protocol, None)
            problems.append(f"{cell.folder / 'specification.json'} is damaged ({error!r})")
    with_text = [protocol for protocol, table in tables.items() if "tokens" in table.column_names]
    if not with_text:
        return None
    first = with_text[0]
    base = tables[first]
    lengths = pc.list_value_length(base["tokens"]).to_numpy()
    scores: list[Column] = []
    columns: list[Column] = []
    for protocol, table in tables.items():
        for column in _columns(protocol, _in_order_of(base, table)):
            if not pa.types.is_list(column.values.type):
                columns.append(column)
            elif _is_per_token(column.values, lengths):
                scores.append(column)
    return Joined(base, lengths, units[first], scores, columns, classes[first])


def _checked(table: pa.Table, path: Path) -> pa.Table:
    missing = (EVERYWHERE | {"excluded"}) - set(table.column_names)
    if missing:
        raise StoreError(f"{path} has no column {', '.join(sorted(missing))}: not records of this version")
    if not all(pa.types.is_integer(table.schema.field(name).type) for name in ("label", "prediction", "length")):
        raise StoreError(f"{path} has labels that are no numbers: not records of this version")
    if "tokens" in table.column_names and (
        table.schema.field("tokens").type != pa.list_(pa.string()) or table["tokens"].null_count
    ):
        raise StoreError(f"{path} has tokens that are no lists of words: not records of this version")
    return table.combine_chunks()


def _in_order_of(base: pa.Table, table: pa.Table) -> pa.Table:
    if table is base or table["id"].equals(base["id"]):
        return table
    return table.take(pc.index_in(base["id"], value_set=table["id"]))


def _columns(protocol: str, table: pa.Table) -> Sequence[Column]:
    names = [name for name in table.column_names if name not in EVERYWHERE | TEXT]
    return [Column(protocol, name, table[name].combine_chunks()) for name in names]


def _is_per_token(values: Any, lengths: np.ndarray) -> bool:  # noqa: ANN401 - pyarrow has no types
    if not pa.types.is_floating(values.type.value_type):
        return False
    own = pc.list_value_length(values).to_numpy(zero_copy_only=False)
    return bool(np.all(np.isnan(own) | (own == lengths)))
