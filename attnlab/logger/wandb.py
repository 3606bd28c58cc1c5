"""Weights & Biases as a mirror of the store."""

import contextlib
import hashlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attnlab.config.location import do_without_home
from attnlab.errors import ConfigError
from attnlab.job import Job
from attnlab.logger.csv import flat_table
from attnlab.logger.mirror import NoMirror
from attnlab.results import Result

if TYPE_CHECKING:
    from lightning.pytorch.loggers import Logger
    from wandb import Run

log = logging.getLogger(__name__)

TAG_LENGTH = 64
"""W&B refuses longer tags."""

MODES = ("offline", "online", "disabled")


class WandbMirror(NoMirror):
    """One W&B run for the training and one for each protocol, grouped by the job without its seed.

    Run ids are store keys, so that a run is continued and never doubled. W&B that cannot be reached never stops a job:
    the store holds everything, and a warning says what was not shown.

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
        mode: Literal["offline", "online", "disabled"] = "offline",
        project: str = "attnlab",
        entity: str | None = None,
        tags: Sequence[str] = (),
        max_rows: int = 1000,
        init_timeout: float = 30.0,
    ) -> None:
        if mode not in MODES:
            raise ConfigError(f"logger.mode={mode}: choose one of {', '.join(MODES)}")
        if mode == "online" and not _has_key():
            raise ConfigError("logger.mode=online needs an account: run `wandb login`, or set WANDB_API_KEY")
        self.mode, self.project, self.entity = mode, project, entity
        self.tags, self.max_rows = list(tags), max_rows
        self.init_timeout = init_timeout
        self._unreachable = False

    @contextlib.contextmanager
    def training(self, job: Job, folder: Path) -> "Iterator[list[Logger]]":
        """A Lightning logger that streams the training curves."""
        from lightning.pytorch.loggers import WandbLogger

        with self._run(job, job.model_key, "train", folder) as run:
            yield [WandbLogger(experiment=run)] if run is not None else []

    def publish(self, job: Job, result: Result, folder: Path) -> None:
        """Log summary metrics, the first rows of the records, and the figures of a result."""
        with self._run(job, job.result_keys[result.protocol], result.protocol, folder) as run:
            if run is not None:
                self._log(run, result)

    @contextlib.contextmanager
    def _run(self, job: Job, key: str, job_type: str, folder: Path) -> "Iterator[Run | None]":
        """A W&B run, finished with the outcome of the block; None where W&B cannot start."""
        run = self._start(job, key, job_type, folder)
        exit_code = 1
        try:
            yield run
            exit_code = 0
        finally:
            if run is not None:
                run.finish(exit_code=exit_code)

    def _start(self, job: Job, key: str, job_type: str, folder: Path) -> "Run | None":
        if self._unreachable:
            return None  # waited for once is enough
        do_without_home()
        import wandb

        try:
            return wandb.init(
                mode=self.mode,
                project=self.project,
                entity=self.entity,
                id=key,
                resume="allow" if self.mode == "online" else None,
                group=job.group,
                job_type=job_type,
                name=f"{job.cell}-seed{job.config['seed']}-{job_type}",
                tags=[short_tag(tag) for tag in [*job.choices.values(), *self.tags] if tag],
                config=flatten(job.config),
                dir=folder,
                reinit="create_new",
                settings=wandb.Settings(console="off", silent=True, init_timeout=self.init_timeout),
            )
        except Exception as error:  # W&B raises many kinds, and none of them may stop a job
            log.warning("W&B did not start (%s); results are in the store", str(error).splitlines()[0])
            self._unreachable = True
            return None

    def _log(self, run: "Run", result: Result) -> None:
        import wandb

        statistics = result.summary["statistics"]
        run.summary.update({f"{result.protocol}/{name}": s["all"] for name, s in statistics.items()})
        run.summary.update({f"{result.protocol}/measured": result.summary["measured"]})
        rows = flat_table(result.records.slice(0, self.max_rows))
        table = wandb.Table(columns=rows.column_names, data=[list(row.values()) for row in rows.to_pylist()])
        figures = {f"{result.protocol}/{path.stem}": wandb.Image(str(path)) for path in result.figures}
        run.log({f"{result.protocol}/records": table, **figures})


def short_tag(tag: str) -> str:
    """A tag that W&B accepts: long ones are cut and end in a hash of the whole."""
    if len(tag) <= TAG_LENGTH:
        return tag
    return f"{tag[: TAG_LENGTH - 9]}-{hashlib.sha256(tag.encode()).hexdigest()[:8]}"


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys joined by dots, as W&B filters and groups by them."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{name}."))
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _has_key() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    import netrc

    try:
        host = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai").split("//")[-1]
        return netrc.netrc().authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
