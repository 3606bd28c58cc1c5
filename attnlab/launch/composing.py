"""Composing the many cells of a sweep, of which most differ in values alone."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, open_dict

from attnlab.config.composing import chosen_options, to_plain
from attnlab.config.overrides import group_choices

Composed = tuple[dict[str, Any], dict[str, str]]
"""A resolved configuration, and the option chosen in each group."""


class Composing:
    """Composes cells: Hydra once for each set of group choices, and values on top, as Hydra itself applies them.

    Args:
        load: From overrides to Hydra's configuration, its own part included.
        loader: Hydra's, which knows the groups.
    """

    def __init__(self, load: Callable[[list[str]], DictConfig], loader: ConfigLoader) -> None:
        self.load = load
        self.loader = loader
        self.bases: dict[tuple[str, ...], DictConfig] = {}
        self.plain: dict[tuple[str, ...], Composed] = {}

    def compose(self, overrides: Sequence[str]) -> Composed:
        """A cell."""
        choices = tuple(group_choices(overrides, self.loader))
        values = [override for override in overrides if override not in choices]
        config = copy.deepcopy(self._base(choices))
        ConfigLoaderImpl._apply_overrides_to_config(OverridesParser.create().parse_overrides(values), config)
        return _plain(config)

    def defaults(self, overrides: Sequence[str]) -> Composed:
        """A cell from its group choices alone."""
        choices = tuple(group_choices(overrides, self.loader))
        if choices not in self.plain:
            self.plain[choices] = _plain(copy.deepcopy(self._base(choices)))
        return self.plain[choices]

    def _base(self, choices: tuple[str, ...]) -> DictConfig:
        if choices not in self.bases:
            self.bases[choices] = self.load(list(choices))
        return self.bases[choices]


def _plain(config: DictConfig) -> Composed:
    choices = chosen_options(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return to_plain(config), choices
