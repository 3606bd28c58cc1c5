"""Types of overridden values, checked against the defaults that they replace.

Hydra accepts ``seed=abc``; the value would fail hours later, or never. The default of each key tells its type, so no
schema has to be kept in step with the configuration files.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from attnlab.errors import ConfigError

SEVERAL_TYPES = frozenset({"trainer.devices", "trainer.val_check_interval"})
"""Keys whose library documents several types."""


def check_types(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Compare a composed configuration with the same one without value overrides.

    Args:
        config: As the job has it, plain containers.
        defaults: Composed from the same group choices, without value overrides.

    Raises:
        ConfigError: a value is of another type than its default.
    """
    for key, value, default in _leaves(config, defaults, ""):
        if key not in SEVERAL_TYPES and not _fits(value, default):
            example = "" if isinstance(default, Mapping) else f" (as the default {default!r})"
            raise ConfigError(f"{key}={value}: expected {_kind(default)}{example}, not {_kind(value)}")


def _leaves(config: Mapping[str, Any], defaults: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any, Any]]:
    for name in config.keys() & defaults.keys():
        value, default = config[name], defaults[name]
        if isinstance(value, Mapping) and isinstance(default, Mapping):
            yield from _leaves(value, default, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value, default


def _fits(value: Any, default: Any) -> bool:  # noqa: ANN401 - any plain value
    if value is None or default is None:
        return True
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(default, str):
        return not isinstance(value, list | Mapping)
    return isinstance(value, type(default))


def _kind(value: Any) -> str:  # noqa: ANN401 - any plain value
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text", list: "a list"}
    return names.get(type(value), "a group of keys")
