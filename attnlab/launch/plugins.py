"""What attnlab adds to Hydra: its launcher, its sweeper, and the config groups of ``sweeps/``."""

import importlib
import sys
from types import ModuleType

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.search_path_plugin import SearchPathPlugin

from attnlab.config.location import sweeps_directory
from attnlab.launch.launcher import SweepLauncher
from attnlab.launch.sweeper import PlanningSweeper

MODULE = "hydra_plugins.attnlab"
"""Hydra takes plugins of this package alone; classes are registered under it, so that no such folder is needed."""


class SweepsSearchPath(SearchPathPlugin):
    """Makes the folders of ``sweeps/`` known as config groups, such as ``+cluster=slurm``."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Look there after everything else."""
        search_path.append(provider="attnlab", path=f"file://{sweeps_directory()}")


def register_plugins() -> None:
    """Make them known to Hydra, for checkouts, editable installs and wheels alike."""
    classes = (SweepLauncher, PlanningSweeper, SweepsSearchPath)
    module = _importable_module()
    for plugin in classes:
        plugin.__module__ = MODULE
        setattr(module, plugin.__name__, plugin)
        Plugins.instance().register(plugin)
    nodes = {"hydra/launcher": {"_target_": f"{MODULE}.{SweepLauncher.__name__}"}, "hydra/sweeper": _sweeper_node()}
    for group, node in nodes.items():
        ConfigStore.instance().store(group=group, name="attnlab", node=node, provider="attnlab")


def _sweeper_node() -> dict[str, object]:
    return {"_target_": f"{MODULE}.{PlanningSweeper.__name__}", "max_batch_size": None, "params": None}


def _importable_module() -> ModuleType:
    """Hydra looks classes up by their names, in a package that need not be installed."""
    try:
        package = importlib.import_module("hydra_plugins")
    except ImportError:
        package = ModuleType("hydra_plugins")
        package.__path__ = []
        sys.modules[package.__name__] = package
    module = sys.modules.setdefault(MODULE, ModuleType(MODULE))
    package.attnlab = module  # type: ignore[attr-defined]
    return module
