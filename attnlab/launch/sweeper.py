"""Hydra's grammar of ``-m``, with every cell composed once, by the launcher's plan."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf


class PlanningSweeper(Sweeper):
    """What Hydra's basic sweeper does, without composing each cell to see whether that works.

    The plan composes them anyway, and what cannot be composed ends the sweep before anything runs.

    Args:
        max_batch_size: Cells that are planned together; all of them when not given.
        params: Overrides to sweep over, those of the command line come on top.
    """

    def __init__(self, max_batch_size: int | None = None, params: Mapping[str, str] | None = None) -> None:
        self.max_batch_size = max_batch_size
        self.params = params or {}

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what Hydra hands over."""
        self.context = hydra_context
        self.config = config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Any:  # noqa: ANN401 - Hydra's signature
        """Launch every combination of the overrides."""
        # Hydra loads its own plugins anew when it starts, after this module was imported.
        from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

        assert self.config is not None  # Hydra calls setup first
        assert self.launcher is not None
        parser = OverridesParser.create(config_loader=self.context.config_loader)
        overrides = parser.parse_overrides([*(f"{key}={value}" for key, value in self.params.items()), *arguments])
        folder = Path(str(self.config.hydra.sweep.dir))
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        batches: Sequence[Sequence[Sequence[str]]] = BasicSweeper.split_arguments(overrides, self.max_batch_size)
        returned, first = [], 0
        for batch in batches:
            returned.append(self.launcher.launch(batch, initial_job_idx=first))
            first += len(batch)
        return returned
