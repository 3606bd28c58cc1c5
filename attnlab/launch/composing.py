"""Composing the many cells of a sweep, of which most differ in values alone."""

import copy
from collections.abc import Callable, Sequence

from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from attnlab.config.composing import Composed, without_hydra
from attnlab.config.overrides import group_choices, is_group


class Composing:
    """Composes cells: Hydra once for each set of group choices, and values on top, as Hydra itself applies them.

    Args:
        load: From overrides to Hydra's configuration, its own part included.
        loader: Hydra's, which knows the groups.
    """

    def __init__(self, load: Callable[[list[str]], DictConfig], loader: ConfigLoader) -> None:
        self.load = load
        self.is_group = is_group(loader)
        self.bases: dict[tuple[str, ...], DictConfig] = {}
        self.plain: dict[tuple[str, ...], Composed] = {}

    def compose(self, overrides: Sequence[str]) -> Composed:
        """A cell."""
        choices = self._choices(overrides)
        values = [override for override in overrides if override not in choices]
        config = self._base(choices)
        ConfigLoaderImpl._apply_overrides_to_config(OverridesParser.create().parse_overrides(values), config)
        return without_hydra(config)

    def defaults(self, overrides: Sequence[str]) -> Composed:
        """A cell from its group choices alone, whose values tell the types."""
        choices = self._choices(overrides)
        if choices not in self.plain:
            self.plain[choices] = without_hydra(self._base(choices))
        return self.plain[choices]

    def _choices(self, overrides: Sequence[str]) -> tuple[str, ...]:
        return tuple(group_choices(overrides, self.is_group))

    def _base(self, choices: tuple[str, ...]) -> DictConfig:
        """A copy of what Hydra makes of group choices."""
        if choices not in self.bases:
            self.bases[choices] = self.load(list(choices))
        return copy.deepcopy(self.bases[choices])
