"""What an entry of the store is, in one small JSON file: listing thousands of entries reads nothing else.

``entry.json`` says nothing that the entry's other files do not say; where it is missing it is made from them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attnlab.errors import StoreError
from attnlab.store.document import read_json, read_yaml, write_json
from attnlab.store.store import Kind

ENTRY = "entry.json"

ABOUT = frozenset({"protocol", "model_key", "models", "choices"})
"""What a result's configuration file says beside the configuration."""

Entry = dict[str, Any]
"""``choices``, ``seed``, ``config``, ``seconds``, ``time``, and ``value`` with what it is the value of: ``statistic``
of a result, ``selected_by`` of a model."""


def write_entry(kind: Kind, folder: Path, choices: Mapping[str, str] | None = None) -> None:
    """Sum up an entry whose other files are written."""
    write_json(folder / ENTRY, describe(kind, folder, choices), indent=None)


def read_entry(kind: Kind, folder: Path) -> Entry:
    """Read ``entry.json``, or what it would be.

    Raises:
        StoreError: a file of the entry is damaged.
    """
    try:
        text = (folder / ENTRY).read_bytes()
    except FileNotFoundError:
        return describe(kind, folder)
    except OSError as error:
        raise StoreError(f"{folder / ENTRY} cannot be read ({error.strerror})") from error
    try:
        entry: Entry = json.loads(text)
        if isinstance(entry["config"], dict) and isinstance(entry["choices"], dict) and "seed" in entry:
            return entry
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{folder / ENTRY} is damaged ({error}); remove {folder} and run again") from error
    raise StoreError(f"{folder / ENTRY} is damaged; remove {folder} and run again")


def describe(kind: Kind, folder: Path, choices: Mapping[str, str] | None = None) -> Entry:
    """Sum up an entry from its configuration, summary and provenance.

    Args:
        kind: ``models`` or ``results``.
        folder: The entry.
        choices: Option chosen in each group, where the configuration file does not say.

    Raises:
        StoreError: a file of the entry is missing or damaged.
    """
    config = read_yaml(folder / "config.yaml")
    provenance = read_json(folder / "provenance.json")
    try:
        own = _result(folder, config) if kind == "results" else _model(folder)
        return {
            "choices": dict(choices or config.get("choices") or {}),
            "seed": config["seed"],
            "seconds": provenance.get("seconds"),
            "time": provenance["time"],
            **own,
            "config": {key: value for key, value in config.items() if key not in ABOUT},
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{folder} is not an entry of the store: {error!r} is missing") from error


def _result(folder: Path, config: Mapping[str, Any]) -> Entry:
    statistics = read_json(folder / "summary.json")["statistics"]
    name = next(iter(statistics), None)
    return {
        "protocol": config["protocol"],
        "model_key": config["model_key"],
        "models": config.get("models") or [config["model_key"]],
        "split": config["split"],
        "statistic": name,
        "value": statistics[name]["all"] if name is not None else None,
    }


def _model(folder: Path) -> Entry:
    training = read_json(folder / "training.json")
    return {
        "selected_by": training["selected_by"],
        "value": training["best"],
        "epochs": training["epochs"],
        "seconds": training["seconds"],
    }
