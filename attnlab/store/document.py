"""Plain values to and from JSON and YAML files, never anything executable."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from attnlab.errors import StoreError

# The parser and emitter in C are ten times as fast where they were built; all keep to plain values.
_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: type[yaml.SafeDumper] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def write_json(path: Path, content: Mapping[str, Any], indent: int | None = 2) -> None:
    """Write plain values; NaN is written as null, since JSON has none."""
    path.write_text(json.dumps(_finite(content), indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read what :func:`write_json` wrote.

    Raises:
        StoreError: the file is missing, or is not a JSON object.
    """
    return _read(path, json.loads)


def write_yaml(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values in the order given."""
    text = yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def read_yaml(path: Path) -> dict[str, Any]:
    """Read what :func:`write_yaml` wrote.

    Raises:
        StoreError: the file is missing, or is not a YAML mapping of plain values.
    """
    return _read(path, lambda text: yaml.load(text, Loader=_Loader))


def _read(path: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    remedy = f"remove {path.parent} and run again"
    try:
        content = parse(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise StoreError(f"{path} cannot be read ({str(error).splitlines()[0]}); {remedy}") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path} is damaged: it holds no mapping; {remedy}")
    return content


def _finite(value: Any) -> Any:  # noqa: ANN401 - any plain value
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and value != value else value
