"""SLURM's queue, by its own commands; accounting (``sacct``) is not needed."""

import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Queued:
    """A job that SLURM knows.

    Attributes:
        state: As SLURM names it, such as PENDING or RUNNING.
        reason: Why it waits, such as Priority or Dependency.
    """

    state: str
    reason: str

    @property
    def runs(self) -> bool:
        """Whether it has a node."""
        return self.state in ("RUNNING", "COMPLETING", "CONFIGURING")


def queue() -> dict[str, Queued] | None:
    """The user's jobs by id, ``12`` or ``12_3``; None where SLURM does not answer."""
    listed = _call("squeue", "--me", "--noheader", "--array", "--format=%i|%T|%r")
    if listed is None:
        return None
    rows = (line.split("|") for line in listed.splitlines() if line.count("|") >= 2)
    return {row[0].strip(): Queued(row[1].strip(), row[2].strip()) for row in rows}


def cancel(jobs: Iterable[str]) -> None:
    """Take jobs out of the queue and end those that run; those that ended already are left alone."""
    names = sorted(set(jobs))
    if names:
        _call("scancel", *names)


def largest_array(default: int = 1001) -> int:
    """How many tasks an array may have."""
    told = re.search(r"MaxArraySize\s*=\s*(\d+)", _call("scontrol", "show", "config") or "")
    return max(int(told.group(1)) - 1 if told else default - 1, 1)


def _call(*command: str) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
