"""What a mirror of the store does."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.job import Job
from attnlab.results import Result

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger


class NoMirror:
    """Shows nothing beyond the store; the base of the other mirrors."""

    @contextlib.contextmanager
    def opened(self, job: Job, folder: Path) -> "Iterator[NoMirror]":
        """The mirror to use for a job, closed with its outcome when the block ends."""
        yield self

    @contextlib.contextmanager
    def training(self, job: Job, folder: Path) -> "Iterator[list[Logger]]":
        """Loggers for a training run, closed with its outcome when the block ends."""
        yield []

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Show a finished result."""

    def further(self) -> "NoMirror":
        """The mirror for models that a job only needs in order to measure its own."""
        return self
