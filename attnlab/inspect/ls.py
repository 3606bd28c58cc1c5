"""``attnlab ls``: what the store has."""

import argparse
import difflib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.errors import ConfigError
from attnlab.inspect.entries import read_entries
from attnlab.inspect.places import default_store
from attnlab.inspect.text import MISSING, columns, seconds_text, value_text, warn
from attnlab.store import Store
from attnlab.store.entry import Entry

NAMES = {"attention": "model/attention"}
"""Short names of groups."""

SHORT_KEY = 12
"""Digits of a key that are shown."""


class Row(NamedTuple):
    """An entry and its key."""

    key: str
    entry: Entry


def main(arguments: Sequence[str]) -> int:
    """List models or results."""
    options = _parser().parse_intermixed_args(arguments)
    store = Store(options.store or default_store())
    entries, problems = read_entries(store, options.kind)
    rows = matching([Row(*item) for item in entries.items()], options.filters)
    rows.sort(key=_order)
    if options.json:
        print(json.dumps([{"key": row.key, **row.entry} for row in rows], ensure_ascii=False))
    elif rows:
        print(table(options.kind, rows))
        print(f"\n{len(rows)} of {len(entries)} {options.kind} in {store.root / options.kind}")
    else:
        print(f"none of {len(entries)} {options.kind} in {store.root / options.kind}")
    warn(problems)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="attnlab ls", description="List what the store has.")
    parser.add_argument("kind", choices=["models", "results"])
    parser.add_argument(
        "filters",
        nargs="*",
        metavar="key=value",
        help="data=sst,imdb  seed=0  protocol=permutation  trainer.max_epochs=8  key=3fa2: any key of a configuration",
    )
    parser.add_argument("--store", type=Path, help="folder of the store (default: outputs/store)")
    parser.add_argument("--json", action="store_true", help="everything that is known, as one JSON list")
    return parser


def matching(rows: Sequence[Row], filters: Iterable[str]) -> list[Row]:
    """Rows that pass all filters.

    Args:
        rows: Entries.
        filters: ``key=value`` or ``key=value,value``; the key is a group, a column, or the path of a configuration key.

    Raises:
        ConfigError: a filter is malformed, or no entry has its key.
    """
    found = list(rows)
    for text in filters:
        name, equals, wanted = text.partition("=")
        if not equals:
            raise ConfigError(f"{text}: filters are key=value")
        values = {row.key: lookup(row, name) for row in rows}
        if rows and all(value is _ABSENT for value in values.values()):
            raise ConfigError(f"{name}: no entry has such a key{_suggestion(name, rows[0])}")
        fits = _key_test(wanted) if name == "key" else _value_test(wanted)
        found = [row for row in found if values[row.key] is not _ABSENT and fits(value_text(values[row.key]))]
    return found


_ABSENT: Any = object()


def lookup(row: Row, name: str) -> Any:  # noqa: ANN401 - any plain value
    """Value of a group, a column or a configuration key of an entry."""
    key, entry = row
    if name == "key":
        return key
    group = NAMES.get(name, name)
    if group in entry["choices"]:
        return entry["choices"][group]
    value: Any = entry if name in entry else entry["config"]
    for part in name.split("."):
        if not isinstance(value, dict) or part not in value:
            return _ABSENT
        value = value[part]
    return value


def _key_test(wanted: str) -> Callable[[str], bool]:
    starts = tuple(wanted.split(","))
    return lambda text: text.startswith(starts)


def _value_test(wanted: str) -> Callable[[str], bool]:
    alternatives = {wanted, *([] if wanted.startswith("[") else wanted.split(","))}
    return lambda text: text in alternatives


def _suggestion(name: str, row: Row) -> str:
    known = ["key", *NAMES, *row.entry["choices"], *row.entry, *_paths(row.entry["config"])]
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


def _paths(config: dict[str, Any], prefix: str = "") -> list[str]:
    names = []
    for key, value in config.items():
        names.append(f"{prefix}{key}")
        if isinstance(value, dict):
            names += _paths(value, f"{prefix}{key}.")
    return names


def _order(row: Row) -> tuple[str, ...]:
    choices = row.entry["choices"]
    names = [str(choices.get(group, "")) for group in ("data", "model", "model/attention", "vectors")]
    return (*names, str(row.entry.get("protocol", "")), f"{row.entry['seed']:>12}", row.key)


def table(kind: str, rows: Sequence[Row]) -> str:
    """Rows as text."""
    own = ("split", "protocol", "statistic") if kind == "results" else ("selected_by", "epochs")
    header = ("key", "data", "model", "attention", "vectors", "seed", *own, "value", "seconds", "date")
    return columns(header, (_cells(row, own) for row in rows), right=("seed", "epochs", "value", "seconds"))


def _cells(row: Row, own: Sequence[str]) -> list[str]:
    entry = row.entry
    chosen = [str(entry["choices"].get(g, MISSING)) for g in ("data", "model", "model/attention", "vectors")]
    value = entry.get("value")
    return [
        row.key[:SHORT_KEY],
        *chosen,
        str(entry["seed"]),
        *(str(entry.get(name, MISSING)) for name in own),
        f"{value:.4f}" if isinstance(value, int | float) else MISSING,
        seconds_text(entry.get("seconds")),
        str(entry.get("time", MISSING))[:16].replace("T", " "),
    ]
