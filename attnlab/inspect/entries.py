"""Entries of a store, read quickly; what cannot be read is named and left out."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from attnlab.errors import StoreError
from attnlab.store import Store
from attnlab.store.entry import Entry, read_entry
from attnlab.store.store import Kind

KEY = re.compile(r"[0-9a-f]{20}")


def keys(store: Store, kind: Kind) -> list[str]:
    """Keys of whole entries, sorted."""
    return sorted(name for name in _names(store.root / kind) if KEY.fullmatch(name))


def foreign(store: Store, kind: Kind) -> list[Path]:
    """What stands among the entries and is none."""
    return sorted(store.root / kind / name for name in _names(store.root / kind) if not KEY.fullmatch(name))


def read_entries(store: Store, kind: Kind) -> tuple[dict[str, Entry], list[str]]:
    """All entries by key, and a line about each that could not be read."""
    entries, problems = {}, []
    for key in keys(store, kind):
        try:
            entries[key] = read_entry(kind, store.path(kind, key))
        except StoreError as error:
            problems.append(str(error))
    problems += [f"{path} is not an entry of the store" for path in foreign(store, kind)]
    return entries, problems


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            yield from [entry.name for entry in found]
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error.strerror}") from error
