"""What a run is in W&B: its id, group, job type, name, tags and configuration."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.job import Job

TAG_LENGTH = 64
"""W&B refuses longer tags."""

HOUSEKEEPING = frozenset({"launcher", "local", "logger", "paths"})
"""Groups that say how a job is run and shown, not what it is."""

TRAINING = "train"
"""Job type of a training; that of a measurement is its protocol."""


@dataclass(frozen=True)
class Identity:
    """What W&B knows a run by.

    Attributes:
        id: A key of the store, so that a run is continued and never doubled; None where W&B's agent decides it.
        group: The same for all seeds of a job.
        job_type: ``train`` or the protocol.
        name: What a person reads; None lets W&B name it.
        tags: No longer than W&B takes.
        config: Flat configuration.
    """

    id: str | None
    group: str
    job_type: str
    name: str | None
    tags: tuple[str, ...]
    config: Mapping[str, Any]


def identify(job: Job, key: str, job_type: str, tags: Sequence[str] = ()) -> Identity:
    """The run of a training or of a measurement.

    Args:
        job: The job that made it.
        key: Of the model or result.
        job_type: ``train`` or the protocol.
        tags: Added to the options that the job chose.
    """
    name = f"{job.cell}-seed{job.config['seed']}-{job_type}"
    return Identity(key, job.group, job_type, name, run_tags(job, tags), run_config(job))


def run_tags(job: Job, tags: Sequence[str] = ()) -> tuple[str, ...]:
    """The options that a job chose, and more, each once."""
    chosen = [option for option in _choices(job).values() if option != "default"]
    return tuple(dict.fromkeys(short_tag(tag) for tag in [*chosen, *tags] if tag))


def run_config(job: Job) -> dict[str, Any]:
    """The chosen options and every value, flat; without ``logger``, since how a thing is shown is no part of it."""
    return {**_choices(job), **flatten({key: value for key, value in job.config.items() if key != "logger"})}


def _choices(job: Job) -> dict[str, str]:
    """Option of each group that says what a job is; ``data/common@data`` and the like are parts of others."""
    return {group: option for group, option in job.choices.items() if group not in HOUSEKEEPING and "@" not in group}


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
