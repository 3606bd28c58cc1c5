"""``attnlab wandb cell``: one job of a W&B sweep whose parameter ``cell`` holds the overrides of a job."""

import os
import shlex
import sys
from collections.abc import Sequence
from typing import NoReturn

from attnlab.errors import ConfigError

PARAMETER = "cell="


def main(arguments: Sequence[str]) -> NoReturn:
    """Become ``attnlab`` with the overrides of the cell."""
    command = [sys.executable, "-m", "attnlab", *job_overrides(arguments)]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def job_overrides(arguments: Sequence[str]) -> list[str]:
    """Overrides of the job.

    Args:
        arguments: Overrides, one of them ``cell=`` and the overrides of a job as a shell would read them.

    Raises:
        ConfigError: there is no cell, or it cannot be read.
    """
    if not any(argument.startswith(PARAMETER) for argument in arguments):
        raise ConfigError("attnlab wandb cell is what `wandb agent` runs; it needs cell='key=value …'")
    overrides = []
    for argument in arguments:
        if not argument.startswith(PARAMETER):
            overrides.append(argument)
            continue
        try:
            overrides += shlex.split(argument.removeprefix(PARAMETER))
        except ValueError as error:
            raise ConfigError(f"{argument}: {error}") from error
    return overrides
