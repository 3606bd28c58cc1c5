"""From overrides to a resolved configuration in plain containers."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from attnlab.config.location import cache_directory, config_directory
from attnlab.errors import ConfigError

if TYPE_CHECKING:
    from omegaconf import DictConfig


Composed = tuple[dict[str, Any], dict[str, str]]
"""A resolved configuration, and the option chosen in each group."""


def register_resolvers() -> None:
    """Make ``${attnlab.…}`` known to OmegaConf."""
    from omegaconf import OmegaConf

    OmegaConf.register_new_resolver("attnlab.cache_dir", cache_directory, replace=True)


def compose(overrides: Sequence[str] = ()) -> Composed:
    """Compose a job's configuration outside the command line, for notebooks, benchmarks and tests.

    Args:
        overrides: In Hydra's grammar, such as ``["data=planted", "seed=3"]``.

    Returns:
        The resolved configuration, and the option chosen in each group; both are what :class:`attnlab.job.Job` takes.
    """
    with composer() as compose_one:
        return compose_one(overrides)


@contextlib.contextmanager
def composer() -> "Iterator[Callable[[Sequence[str]], Composed]]":
    """What :func:`compose` does, for many jobs: Hydra starts once."""
    import hydra

    from attnlab.launch.plugins import register_plugins

    register_resolvers()
    register_plugins()

    with hydra.initialize_config_dir(str(config_directory()), version_base="1.3"):
        yield lambda overrides: without_hydra(load_with_hydra(overrides))


def load_with_hydra(overrides: Sequence[str]) -> "DictConfig":
    """Hydra's configuration, its own part included; Hydra must have been started."""
    import hydra

    return hydra.compose("config", overrides=list(overrides), return_hydra_config=True)


def without_hydra(config: "DictConfig") -> Composed:
    """A job from Hydra's configuration, whose own part is taken out of it."""
    from omegaconf import open_dict

    choices = chosen_options(config.hydra.runtime.choices)
    with open_dict(config):
        del config["hydra"]
    return to_plain(config), choices


def chosen_options(choices: Any) -> dict[str, str]:  # noqa: ANN401 - a mapping of Hydra's
    """Hydra's record of group choices, without its own groups and those left empty."""
    return {str(k): str(v) for k, v in choices.items() if v and not str(k).startswith("hydra")}


def to_plain(config: "DictConfig") -> dict[str, Any]:
    """Resolve a composed configuration.

    Raises:
        ConfigError: it is not a group of keys.
    """
    from omegaconf import OmegaConf

    container = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    if not isinstance(container, dict):
        raise ConfigError("the configuration is not a group of keys")
    return {str(key): value for key, value in container.items()}
