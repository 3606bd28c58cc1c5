"""The data of an instance browser: an index that is read at once, and parts that are read when they are looked at."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.site.embedding import pack, write_part
from attnlab.report.site.joining import Column, Joined

PART_TOKENS = 30_000
"""Tokens of a part, at least: a megabyte or so of scores."""

EXCERPT = 140
"""Characters of a text that the list shows."""

BETWEEN_TOKENS = "\x1f"

TITLES = {
    "attention": "Attention",
    "gradient": "Gradient × input",
    "leave_one_out": "Leave-one-out",
    "adversary": "Strongest adversarial attention",
}
"""Headings of scores; others go by the name of their column."""


def write_instances(joined: Joined, folder: Path) -> dict[str, Any]:
    """Write the scripts that a browser of these instances loads.

    Args:
        joined: The instances.
        folder: Where they go.

    Returns:
        What the page has to know before it loads anything: classes, scores, columns, and where each part starts.
    """
    folder.mkdir(parents=True)
    starts = part_starts(joined.lengths)
    scores, columns = _ordered(joined.scores), [_with_kind(c) for c in [*joined.columns, *_largest(joined)]]
    write_part(folder / "index.js", _index(joined, columns))
    offsets = np.concatenate([[0], joined.lengths.cumsum()])
    flat = [_flat(score.values, joined.lengths) for score in scores]
    for part, (start, end) in enumerate(zip(starts, [*starts[1:], len(joined.lengths)], strict=True)):
        write_part(folder / f"text-{part}.js", _text(joined.base.slice(start, end - start)))
        tokens = slice(offsets[start], offsets[end])
        write_part(folder / f"scores-{part}.js", [pack(values[tokens]) for values in flat])
    return {
        "classes": joined.classes,
        "unit": joined.unit,
        "count": len(joined.lengths),
        "starts": starts,
        "scores": [
            {"protocol": s.protocol, "name": s.name, "title": TITLES.get(s.name, s.name.replace("_", " "))}
            for s in scores
        ],
        "columns": [{"protocol": c.protocol, "name": c.name, "kind": kind} for c, kind in columns],
        "rationale": "rationale" in joined.base.column_names,
    }


def part_starts(lengths: np.ndarray) -> list[int]:
    """First instance of each part."""
    part = (lengths.cumsum() - lengths) // PART_TOKENS
    return [int(start) for start in np.unique(part, return_index=True)[1]]


def _ordered(scores: Iterable[Column]) -> list[Column]:
    known = list(TITLES)
    return sorted(scores, key=lambda s: (known.index(s.name) if s.name in known else len(known), s.protocol))


def _largest(joined: Joined) -> Iterator[Column]:
    """What the deletion of a single token changes at most."""
    for score in joined.scores:
        if score.name == "leave_one_out" and len(joined.lengths):
            starts = joined.lengths.cumsum() - joined.lengths
            largest = np.maximum.reduceat(_flat(score.values, joined.lengths), starts)
            yield Column(score.protocol, "largest_change", pa.array(largest.astype(float)))


def _with_kind(column: Column) -> tuple[Column, str]:
    kind = column.values.type
    if pa.types.is_boolean(kind):
        return column, "flag"
    return column, "number" if pa.types.is_integer(kind) or pa.types.is_floating(kind) else "text"


def _index(joined: Joined, columns: Iterable[tuple[Column, str]]) -> dict[str, Any]:
    base = joined.base
    words = pc.binary_join(base["tokens"], " ")
    content = {
        "id": [str(name) for name in base["id"].to_pylist()],
        "excerpt": pc.utf8_slice_codeunits(words, 0, EXCERPT).to_pylist(),
        **{name: pack(_numbers(base[name])) for name in ("label", "prediction", "max_attention")},
        "length": pack(joined.lengths),
        "columns": [c.values.to_pylist() if kind == "text" else pack(_numbers(c.values)) for c, kind in columns],
    }
    if "probabilities" in base.column_names:
        content["probabilities"] = pack(base["probabilities"].combine_chunks().flatten())
    return content


def _numbers(values: Any) -> np.ndarray:  # noqa: ANN401 - pyarrow has no types
    numbers: np.ndarray = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _flat(values: Any, lengths: np.ndarray) -> np.ndarray:  # noqa: ANN401 - pyarrow has no types
    """Scores of all tokens in a row, NaN for instances that have none."""
    there = values.is_valid().to_numpy(zero_copy_only=False)
    flat = np.full(int(lengths.sum()), np.nan, dtype=np.float32)
    flat[np.repeat(there, lengths)] = values.drop_null().flatten().to_numpy(zero_copy_only=False)
    return flat


def _text(rows: pa.Table) -> dict[str, Any]:
    """Tokens of each instance in one string, and the positions of its rationale."""
    content = {"tokens": pc.binary_join(rows["tokens"], BETWEEN_TOKENS).to_pylist()}
    if "rationale" in rows.column_names:
        content["rationale"] = rows["rationale"].to_pylist()
    return content
