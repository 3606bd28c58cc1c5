"""What sets configurations apart that are called the same."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ABSENT = object()


def differences(configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each configuration, the values in which not all of them agree: ``trainer.max_epochs=2 draws=100``."""
    flat = [dict(_leaves(configuration)) for configuration in configurations]
    paths = dict.fromkeys(path for leaves in flat for path in leaves)
    differing = [path for path in paths if any(one.get(path, _ABSENT) != flat[0].get(path, _ABSENT) for one in flat)]
    return [" ".join(f"{path}={one[path]}" for path in differing if path in one) for one in flat]


def _leaves(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, content in value.items():
        path = f"{prefix}{key}"
        if isinstance(content, Mapping) and content:
            yield from _leaves(content, f"{path}.")
        else:
            yield path, content


def without_seeds(value: Any) -> Any:  # noqa: ANN401 - any plain value
    """A configuration without every key that repeats the seed."""
    if isinstance(value, Mapping):
        return {key: without_seeds(content) for key, content in value.items() if key != "seed"}
    return value
