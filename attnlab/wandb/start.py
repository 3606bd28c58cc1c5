"""Starting and finishing W&B runs."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from attnlab.config.location import do_without_home
from attnlab.errors import ConfigError
from attnlab.wandb.identity import Identity

if TYPE_CHECKING:
    from wandb import Run

Mode = Literal["offline", "online", "disabled"]

MODES = get_args(Mode)


class UnreachableError(Exception):
    """W&B did not start, take or finish a run."""


@contextlib.contextmanager
def asking(what: str) -> Iterator[None]:
    """A block that asks something of W&B, which raises many kinds of errors.

    Args:
        what: What is asked, for the message.

    Raises:
        UnreachableError: whatever W&B raised.
    """
    try:
        yield
    except Exception as error:
        text = str(error).strip()
        reason = text.splitlines()[0] if text else type(error).__name__
        raise UnreachableError(f"W&B did not {what} ({reason})") from error


@dataclass(frozen=True)
class Destination:
    """Where runs go.

    Attributes:
        mode: ``offline``, ``online`` or ``disabled``.
        project: W&B project.
        entity: W&B user or team; the account's default when not given.
        init_timeout: Seconds to wait for a server that does not answer.
    """

    mode: Mode = "offline"
    project: str = "attnlab"
    entity: str | None = None
    init_timeout: float = 30.0

    def check(self, option: str) -> None:
        """Refuse what cannot work.

        Args:
            option: What the user typed before the mode, for messages.

        Raises:
            ConfigError: there is no such mode, or ``online`` without an account.
        """
        if self.mode not in MODES:
            raise ConfigError(f"{option}{self.mode}: choose one of {', '.join(MODES)}")
        if self.mode == "online" and not _has_key():
            raise ConfigError(f"{option}online needs an account: run `wandb login`, or set WANDB_API_KEY")

    @property
    def path(self) -> str:
        """The project with its entity, as W&B's addresses have it."""
        return f"{self.entity}/{self.project}" if self.entity else self.project


def start(identity: Identity, destination: Destination, folder: Path, **settings: Any) -> "Run":  # noqa: ANN401
    """Start a run.

    Args:
        identity: What it is known by. Without an id, the agent of a W&B sweep decides id and project.
        destination: Where it goes.
        folder: Where W&B keeps its files, under ``wandb/``.
        settings: More of ``wandb.Settings``.

    Raises:
        UnreachableError: W&B cannot be reached, or refuses something.
    """
    do_without_home()
    import wandb

    own = identity.id is not None
    with asking("start a run"):
        return wandb.init(
            mode=destination.mode,
            project=destination.project if own else None,
            entity=destination.entity if own else None,
            id=identity.id,
            resume="allow" if own and destination.mode == "online" else None,
            group=identity.group,
            job_type=identity.job_type,
            name=identity.name,
            tags=identity.tags,
            config=dict(identity.config),
            dir=folder,
            reinit="create_new",
            settings=wandb.Settings(console="off", silent=True, init_timeout=destination.init_timeout, **settings),
        )


@contextlib.contextmanager
def finishing(run: "Run | None") -> "Iterator[Run | None]":
    """Finish a run with the outcome of the block, however it ends; W&B would else show it as running, or as crashed.

    Raises:
        UnreachableError: W&B did not finish the run of a block that ended well.
    """
    try:
        yield run
    except BaseException:
        if run is not None:
            with contextlib.suppress(Exception):
                run.finish(exit_code=1)
        raise
    if run is not None:
        with asking("finish a run"):
            run.finish(exit_code=0)


def _has_key() -> bool:
    if os.environ.get("WANDB_API_KEY"):
        return True
    import netrc

    try:
        host = os.environ.get("WANDB_BASE_URL", "https://api.wandb.ai").split("//")[-1]
        return netrc.netrc().authenticators(host) is not None
    except (OSError, netrc.NetrcParseError):
        return False
