"""A run that shows what is on the disk already, made in a process that neither trained nor measured."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from attnlab.wandb.content import Content, use_training_steps
from attnlab.wandb.identity import Identity
from attnlab.wandb.offline import PushedRuns
from attnlab.wandb.start import Destination, finishing, start

NOT_OF_THIS_PROCESS = {
    "x_disable_stats": True,
    "x_disable_meta": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "disable_git": True,
    "disable_code": True,
}
"""W&B would note the load, machine, packages and commit of this process, which neither trained nor measured."""


def mirror(
    identity: Identity,
    destination: Destination,
    written: PushedRuns,
    content: Callable[[], Content],
    curves: bool = False,
) -> bool:
    """Show something, unless it was shown offline before; online, what the run lacks is added.

    Args:
        identity: Of the run; it has an id.
        destination: Where it goes.
        written: Offline runs, those of earlier pushes among them.
        content: Reads what the run holds; called before anything is started, and only where it is needed.
        curves: Whether it is drawn over optimiser steps.

    Returns:
        False where it was there.

    Raises:
        StoreError: what is to be shown is damaged; nothing was shown of it.
        UnreachableError: W&B did not start, take or finish the run.
    """
    if destination.mode == "online":
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            _log(identity, destination, Path(scratch), content(), curves)
        return True
    key = str(identity.id)
    if written.has(key, destination.path):
        return False
    found = content()
    written.clear(key)
    _log(identity, destination, written.folder, found, curves)
    written.mark(key, destination.path)
    return True


def _log(identity: Identity, destination: Destination, folder: Path, content: Content, curves: bool) -> None:
    with finishing(start(identity, destination, folder, **NOT_OF_THIS_PROCESS)) as started:
        if started is not None:
            if curves:
                use_training_steps(started)
            content.log_missing(started)
