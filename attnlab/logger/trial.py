"""A whole job in the one run that the agent of a W&B sweep asks for."""

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.job import Job
from attnlab.logger.mirror import NoMirror
from attnlab.results import Result
from attnlab.wandb.content import Content, result_content, training_content
from attnlab.wandb.start import UnreachableError

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger
    from wandb import Run


log = logging.getLogger(__name__)


class Trial(NoMirror):
    """Shows a whole job in the run of a W&B sweep's agent.

    Args:
        run: The agent's run.
        max_rows: Rows of the records tables that are logged.
    """

    def __init__(self, run: "Run", max_rows: int) -> None:
        self.run = run
        self.max_rows = max_rows
        self._streamed = False
        self._published: set[str] = set()

    @contextlib.contextmanager
    def training(self, job: Job, folder: Path) -> "Iterator[list[Logger]]":
        """A Lightning logger that streams the training curves, so that a sweep can stop a bad run early."""
        from lightning.pytorch.loggers import WandbLogger

        from attnlab.training import is_distributed

        self._streamed = not is_distributed(job.config["trainer"])
        yield [WandbLogger(experiment=self.run)] if self._streamed else []

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Log a result."""
        self._log(result_content(result, self.max_rows))
        self._published.add(result.protocol)

    def further(self) -> NoMirror:
        """The run holds one model's curve, the job's own."""
        return NoMirror()

    def complete(self, job: Job) -> None:
        """Log what the store had already: the sweep wants its metric from every run."""
        if not self._streamed:
            self._log(training_content(job.store.path("models", job.model_key)))
        for name, key in job.result_keys.items():
            if name not in self._published:
                self._log(result_content(Result(name, job.store.path("results", key)), self.max_rows))

    def _log(self, content: Content) -> None:
        try:
            content.log_all(self.run)
        except UnreachableError as error:
            log.warning("%s; results are in the store", error)  # and the job goes on
