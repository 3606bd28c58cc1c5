"""Hydra's launcher for ``-m``: plans the sweep, runs what is missing, tells what became of it."""

import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.utils import JobReturn, JobStatus, configure_log, setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from attnlab.config.composing import composer, load_with_hydra, without_hydra
from attnlab.launch.composing import Composing
from attnlab.launch.engine import Ending
from attnlab.launch.plan import make_plan
from attnlab.launch.pool import fork_server
from attnlab.launch.scoping import without_others_options
from attnlab.launch.sweep import run_sweep, show_plan
from attnlab.wandb.agent import refuse_several_jobs


class SweepLauncher(Launcher):
    """Runs the jobs of a sweep, each in a process of its own."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what Hydra hands over."""
        self.context = hydra_context
        self.config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run a batch of jobs.

        Exits with 1 when not all cells are done, and with 130 or 143 when interrupted.
        """
        setup_globals()
        configure_log(self.config.hydra.hydra_logging, self.config.hydra.verbose)
        options, _ = without_hydra(self.config.copy())
        folder = Path(str(self.config.hydra.sweep.dir)).absolute()
        planned = Composing(self._load, self.context.config_loader)
        code = _plan_and_run(without_others_options(job_overrides), planned, folder, options)
        if code:
            sys.exit(code)
        returned = JobReturn()
        returned.status = JobStatus.COMPLETED
        returned.return_value = None
        return [returned] * len(job_overrides)

    def _load(self, overrides: list[str]) -> DictConfig:
        return self.context.config_loader.load_sweep_config(self.config, overrides)


def launch_jobs(jobs: Sequence[Sequence[str]], folder: Path) -> int:
    """Run jobs that are given as overrides, as ``-m`` does.

    Args:
        jobs: Overrides of each job.
        folder: The sweep's folder.

    Returns:
        Exit code: 0 when every cell is done.
    """
    with composer() as compose:
        options, _ = compose(jobs[0])
        composing = Composing(load_with_hydra, GlobalHydra.instance().config_loader())
        return _plan_and_run(jobs, composing, folder, options)


def _plan_and_run(jobs: Sequence[Sequence[str]], composing: Composing, folder: Path, options: Mapping[str, Any]) -> int:
    if options["dry_run"]:
        plan = make_plan(jobs, composing.compose, composing.defaults)
        show_plan(plan)
        return 1 if plan.impossible else 0
    refuse_several_jobs()
    local = not options.get("cluster")
    plan = make_plan(jobs, composing.compose, composing.defaults, on_work=fork_server if local else lambda: None)
    with _signals_raise():
        return 1 if run_sweep(plan, folder, options) is Ending.INCOMPLETE else 0


class _signals_raise:  # noqa: N801 - used as a function
    """A block in which SIGTERM ends the sweep as Ctrl-C does, with its children."""

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGTERM, self._raise)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGTERM, self.before)

    @staticmethod
    def _raise(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)
