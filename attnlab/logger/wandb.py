"""Weights & Biases as a mirror of the store."""

import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.job import Job
from attnlab.logger.mirror import NoMirror
from attnlab.logger.trial import Trial
from attnlab.results import Result
from attnlab.wandb.agent import in_sweep, trial_identity
from attnlab.wandb.content import result_content, use_training_steps
from attnlab.wandb.identity import TRAINING, Identity, identify
from attnlab.wandb.start import Destination, Mode, UnreachableError, finishing, start

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger
    from wandb import Run

log = logging.getLogger(__name__)


class WandbMirror(NoMirror):
    """One W&B run for the training and one for each protocol, grouped by the job without its seed.

    Run ids are store keys, so that a run is continued and never doubled. W&B that cannot be reached never stops a job:
    the store holds everything, and a warning says what was not shown. Under the agent of a W&B sweep, everything goes
    to the agent's run instead (:mod:`attnlab.wandb.agent`).

    Args:
        mode: ``offline``, ``online`` or ``disabled``.
        project: W&B project.
        entity: W&B user or team; the account's default when not given.
        tags: Tags added to those of the job.
        max_rows: Rows of the records table that are logged.
        init_timeout: Seconds to wait for a server that does not answer; then the job goes on without W&B.

    Raises:
        ConfigError: there is no such mode, or ``online`` without an account.
    """

    def __init__(
        self,
        mode: Mode = "offline",
        project: str = "attnlab",
        entity: str | None = None,
        tags: Sequence[str] = (),
        max_rows: int = 1000,
        init_timeout: float = 30.0,
    ) -> None:
        self.destination = Destination(mode, project, entity, init_timeout)
        self.destination.check("logger.mode=")
        self.tags, self.max_rows = list(tags), max_rows
        self._unreachable = False

    @contextlib.contextmanager
    def opened(self, job: Job, folder: Path) -> Iterator[NoMirror]:
        """This mirror; under the agent of a W&B sweep, one that shows the whole job in the agent's run."""
        if not in_sweep() or self.destination.mode == "disabled":
            yield self
            return
        if self.destination.mode == "offline":
            log.warning("this job belongs to a W&B sweep, which sees it only with logger.mode=online")
        with self._run(trial_identity(job, self.tags), folder) as run:
            if run is None:
                yield self
                return
            use_training_steps(run)
            trial = Trial(run, self.max_rows)
            yield trial
            trial.complete(job)

    @contextlib.contextmanager
    def training(self, job: Job, folder: Path) -> "Iterator[list[Logger]]":
        """A Lightning logger that streams the training curves."""
        from lightning.pytorch.loggers import WandbLogger

        with self._run(identify(job, job.model_key, TRAINING, self.tags), folder) as run:
            if run is not None:
                use_training_steps(run)
            yield [WandbLogger(experiment=run)] if run is not None else []

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Log summary metrics, the first rows of the records, and the figures of a result."""
        content = result_content(result, self.max_rows)
        key = job.result_keys[result.protocol]
        with self._run(identify(job, key, result.protocol, self.tags), folder) as run:
            if run is not None:
                content.log_missing(run)

    @contextlib.contextmanager
    def _run(self, identity: Identity, folder: Path) -> "Iterator[Run | None]":
        """A W&B run, finished with the outcome of the block; None where W&B cannot start."""
        try:
            with finishing(self._start(identity, folder)) as run:
                yield run
        except UnreachableError as error:
            self._warn(error)

    def _start(self, identity: Identity, folder: Path) -> "Run | None":
        if self._unreachable:
            return None  # waited for once is enough
        try:
            return start(identity, self.destination, folder)
        except UnreachableError as error:
            self._warn(error)
            return None

    def _warn(self, error: UnreachableError) -> None:
        """W&B must not stop a job."""
        log.warning("%s; results are in the store, and `attnlab wandb push` shows them later", error)
        self._unreachable = True
