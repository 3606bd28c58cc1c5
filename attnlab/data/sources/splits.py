"""Splits that depend on ids and a seed alone: not on the order of rows, nor on a library's generator."""

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

SPLITS = ("train", "validation", "test")

SPLIT_WORDS = {
    "train": "train",
    "training": "train",
    "dev": "validation",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "trial": "validation",
    "test": "test",
}


def split_of(name: str) -> str | None:
    """The split that a file or folder name tells, if any: ``stsa.binary.dev`` is validation."""
    words = re.split(r"[^a-z]+", name.lower())
    found = {SPLIT_WORDS[word] for word in words if word in SPLIT_WORDS}
    return found.pop() if len(found) == 1 else None


def parted(raw: "Mapping[str, pa.Table]", column: str) -> "dict[str, pa.Table]":
    """Rows by the split that a column tells, such as TRAIN, TRIAL and TEST; tables without the column stay as they are.

    Raises:
        DataError: a value tells no split.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not any(column in table.column_names for table in raw.values()):
        return dict(raw)
    table = pa.concat_tables(raw.values(), promote_options="permissive")
    parts: dict[str, pa.Table] = {}
    for value in table[column].unique().to_pylist():
        split = split_of(str(value))
        if split is None:
            raise DataError(f"data.source.split_column={column}: {value!r} is no split such as train, dev or test")
        parts[split] = table.filter(pc.equal(table[column], value))
    return parts


def carve(
    pool: "pa.Table", fractions: Mapping[str, float], seed: int, stratify: bool = False, group: str | None = None
) -> "dict[str, pa.Table]":
    """Take splits out of a pool of rows.

    Args:
        pool: Rows with id, text and label.
        fractions: Share of the pool that each new split takes; the rest is ``train``.
        seed: Decides which rows.
        stratify: Take the share from each class.
        group: Rows that stay together: None, ``text`` or ``document``.

    Returns:
        The new splits and ``train``, each in the order of the pool.
    """
    import pyarrow as pa

    strata: list[list[int]] = [list(range(len(pool)))]
    if stratify:
        labels = pool["label"].to_pylist()
        strata = [[row for row in strata[0] if labels[row] == label] for label in sorted(set(labels))]
    keys = _keys(pool, group)
    parts: dict[str, list[int]] = {name: [] for name in (*fractions, "train")}
    for rows in strata:
        _deal(rows, keys, fractions, seed, parts)
    return {name: pool.take(pa.array(sorted(rows), pa.int64())) for name, rows in parts.items()}


def balanced(pool: "pa.Table", seed: int) -> "pa.Table":
    """As many rows of each class as the rarest has, in the order of the pool.

    Args:
        pool: Rows with id and label.
        seed: Decides which rows.
    """
    import pyarrow as pa

    by_class: dict[int, list[int]] = {}
    for row, label in enumerate(pool["label"].to_pylist()):
        by_class.setdefault(label, []).append(row)
    keys = _keys(pool, None)
    fewest = min(map(len, by_class.values()), default=0)
    # Not the draw that deals rows to splits: the rows that are kept would all be dealt to the first of them.
    drawn = {
        label: sorted(rows, key=lambda row: _draw(f"{seed}:balance", keys[row])) for label, rows in by_class.items()
    }
    kept = sorted(row for rows in drawn.values() for row in rows[:fewest])
    return pool.take(pa.array(kept, pa.int64()))


def _keys(pool: "pa.Table", group: str | None) -> list[str]:
    if group == "text":
        return [str(text) for text in pool["text"].to_pylist()]
    ids = [str(identifier) for identifier in pool["id"].to_pylist()]
    if group is None:
        return ids
    if not all("_" in identifier for identifier in ids):
        raise DataError("data.source.group=document needs ids of the form DOCUMENT_SENTENCE; use group=null")
    return [identifier.rpartition("_")[0] for identifier in ids]


def _deal(
    rows: list[int], keys: list[str], fractions: Mapping[str, float], seed: int, parts: dict[str, list[int]]
) -> None:
    order = sorted(rows, key=lambda row: (_draw(seed, keys[row]), row))
    start = 0
    for name, fraction in fractions.items():
        end = min(start + int(len(rows) * fraction + 0.5), len(order))
        while start < end < len(order) and keys[order[end]] == keys[order[end - 1]]:
            end += 1
        parts[name] += order[start:end]
        start = end
    parts["train"] += order[start:]


def _draw(seed: int | str, key: str) -> bytes:
    return hashlib.sha256(f"{seed}:{key}".encode()).digest()
