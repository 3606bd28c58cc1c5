"""Overrides in Hydra's grammar."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any


def is_group(loader: Any) -> Callable[[str], bool]:  # noqa: ANN401 - Hydra's ConfigLoader
    """Whether a key chooses an option of a group, or says where options are; each key is looked up once."""
    return cache(lambda key: key == "hydra.searchpath" or bool(loader.get_group_options(key)))


def group_choices(overrides: Sequence[str], chooses: Callable[[str], bool]) -> list[str]:
    """Those overrides that choose, rather than set a value.

    Args:
        overrides: In Hydra's grammar.
        chooses: Tells a key that chooses; see :func:`is_group`.
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = OverridesParser.create().parse_overrides(list(overrides))
    return [str(o.input_line) for o in parsed if o.input_line and chooses(o.key_or_group)]
