"""Plain values to and from JSON and YAML files, never anything executable."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from attnlab.errors import StoreError

# The parser in C is ten times as fast where it was built; both make plain values only.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def write_json(path: Path, content: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write plain values; NaN is written as null, since JSON has none."""
    path.write_text(json.dumps(_finite(content), indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read what :func:`write_json` wrote.

    Raises:
        StoreError: the file is missing or is not JSON.
    """
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read ({error}); remove {path.parent} and run again") from error
    return content


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values in the order given."""
    path.write_text(yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True), encoding="utf-8")


def read_yaml(path: Path) -> dict[str, Any]:
    """Read what :func:`write_yaml` wrote.

    Raises:
        StoreError: the file is missing or is not YAML.
    """
    try:
        content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise StoreError(f"{path} cannot be read ({error}); remove {path.parent} and run again") from error
    return content


def _finite(value: Any) -> Any:  # noqa: ANN401 - any plain value
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and value != value else value
