"""Overrides in Hydra's grammar."""

from collections.abc import Sequence
from typing import Any


def group_choices(overrides: Sequence[str], loader: Any) -> list[str]:  # noqa: ANN401 - Hydra's ConfigLoader
    """Those overrides that choose an option of a group, or say where options are, rather than set a value."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parsed = OverridesParser.create().parse_overrides(list(overrides))
    return [str(o.input_line) for o in parsed if o.input_line and _chooses(o.key_or_group, loader)]


def _chooses(key: str, loader: Any) -> bool:  # noqa: ANN401 - Hydra's ConfigLoader
    return key == "hydra.searchpath" or bool(loader.get_group_options(key))
