"""A job: one resolved configuration, and the keys of what it needs and makes. Nothing here imports torch."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError, IncompatibleError
from attnlab.further import OUTPUTS, Declaration, Declarer
from attnlab.store import Store, model_key, result_key
from attnlab.store.key import TRAINER_INDIFFERENT

SPLITS = ("train", "validation", "test")

GROUP_INDIFFERENT = frozenset(
    {"seed", "paths", "logger", "protocols", "launcher", "cluster", "dry_run", "resume_seconds"}
)
"""What jobs of one group may differ in: the seed, and what decides no result but by the protocol's own key."""


@dataclass(frozen=True)
class Source:
    """Another model whose outputs a model is trained on.

    Attributes:
        jobs: Records the outputs, by split.
        protocol: What records them.
        column: The column that is imposed as attention.
    """

    jobs: "Mapping[str, Job]"
    protocol: str
    column: str


@dataclass(frozen=True)
class Job:
    """What one process does: train (or find) a model, and measure it by some protocols.

    Attributes:
        config: Resolved configuration as plain containers, with absolute paths.
        choices: The option chosen in each config group, such as ``{"data": "movie", "model": "bilstm"}``.
        store: Where models and results live.
        model_key: Key of the model.
        result_keys: Key of each protocol's result, by protocol name.
        further: Jobs that record what further models say of the split, by protocol and the name that it gives them.
        source: Whose outputs the model is trained on, where it is a further model that needs them.
    """

    config: dict[str, Any]
    choices: dict[str, str]
    store: Store
    model_key: str
    result_keys: dict[str, str]
    further: Mapping[str, "Mapping[str, list[Job]]"] = field(default_factory=dict)
    source: Source | None = None

    @classmethod
    def from_config(cls, config: Mapping[str, Any], choices: Mapping[str, str], source: Source | None = None) -> "Job":
        """Check what can be checked without torch, and compute the keys.

        Raises:
            ConfigError: there is no protocol, no such split, or a declaration of models is malformed.
            IncompatibleError: a protocol needs further models at another level than the last.
            DataError: a local file that the configuration names cannot be read.
        """
        config = {**config, "protocols": config.get("protocols") or {}}
        if not config["protocols"]:
            raise ConfigError("protocol=[] measures nothing; name one or more, such as protocol=[permutation]")
        if config["split"] not in SPLITS:
            raise ConfigError(f"split={config['split']}: choose one of {', '.join(SPLITS)}")
        paths = {name: str(Path(path).expanduser().absolute()) for name, path in config["paths"].items()}
        config["paths"] = paths
        model = model_key(config)
        declarer = Declarer(config, choices)
        further = {name: _jobs(declarer.of_protocol(name), model) for name in config["protocols"]}
        several = [name for name, others in further.items() if any(others.values())]
        if config.get("level") and several:
            raise IncompatibleError(
                f"protocol {several[0]} compares the last attention layers of several models; leave level out"
            )
        results = {
            name: result_key(config, name, model, {one: [j.model_key for j in jobs] for one, jobs in others.items()})
            for name, others in further.items()
        }
        return cls(config, dict(choices), Store(paths["store"]), model, results, further, source)

    @property
    def cell(self) -> str:
        """The job without its seed, for grouping: ``movie-bilstm-additive-random``."""
        return cell_name(self.choices)

    @property
    def group(self) -> str:
        """The same for all seeds of a job and for no other job: the cell, and a hash of what it leaves out."""
        return group_name(self.config, self.choices)

    @property
    def missing(self) -> list[str]:
        """Protocols whose result the store does not have."""
        return [name for name, key in self.result_keys.items() if not self.store.has("results", key)]

    def all_further(self) -> "Iterator[Job]":
        """Every job that this one needs, those that others need first; the same job may occur more than once."""
        beside = [job for others in self.further.values() for jobs in others.values() for job in jobs]
        for job in [*(self.source.jobs.values() if self.source else ()), *beside]:
            yield from job.all_further()
            yield job

    @property
    def models(self) -> list[str]:
        """Keys of all models that the results need, the job's own first."""
        return list(dict.fromkeys([self.model_key, *(job.model_key for job in self.all_further())]))

    @property
    def untrained(self) -> list["Job"]:
        """The jobs, this one among them, whose models have to be trained for what is missing; one for each model."""
        if not self.missing:
            return []
        beside = [job for name in self.missing for jobs in self.further[name].values() for job in jobs]
        needed = [*(self.source.jobs.values() if self.source else ()), *beside]
        found = {job.model_key: job for other in needed for job in other.untrained}
        if not self.store.has("models", self.model_key):
            found.setdefault(self.model_key, self)
        return list(found.values())


def _jobs(declared: Mapping[str, list[Declaration]], own: str) -> dict[str, list[Job]]:
    """The jobs of declarations; one of several that is the job's own model is no further one."""
    made = {name: [_job(declaration) for declaration in several] for name, several in declared.items()}
    return {name: [job for job in jobs if len(jobs) == 1 or job.model_key != own] for name, jobs in made.items()}


def _job(declaration: Declaration, split: str | None = None, output: str = "attention") -> Job:
    """The job that records an output of a declared model on a split, that of the configuration if none is named."""
    protocol, _, options = OUTPUTS[output]
    if "seed" in options:
        options = {**options, "seed": declaration.config["seed"]}
    config = {**declaration.config, "protocols": {protocol: options}, "level": None}
    config["split"] = split or config["split"]
    source = None
    if declaration.source is not None:
        of, taken = declaration.source
        name, column, _ = OUTPUTS[taken]
        source = Source({split: _job(of, split, taken) for split in SPLITS}, name, column)
        config["given"] = {"model": source.jobs["train"].model_key, "output": taken}
    return Job.from_config(config, declaration.choices, source)


def cell_name(choices: Mapping[str, str]) -> str:
    """What was chosen, without the seed: ``movie-bilstm-additive-random``."""
    names = ("data", "model", "model/attention", "vectors", "level")
    return "-".join(choices[name] for name in names if choices.get(name))


def group_name(config: Mapping[str, Any], choices: Mapping[str, str]) -> str:
    """The cell's name and a hash of all else in its configuration but the seed: see :attr:`Job.group`."""
    apart = {k: v for k, v in config.items() if k not in GROUP_INDIFFERENT}
    apart["trainer"] = {k: v for k, v in config["trainer"].items() if k not in TRAINER_INDIFFERENT}
    text = json.dumps(_without_seed(apart), sort_keys=True, default=str)
    return f"{cell_name(choices)}-{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _without_seed(config: Any) -> Any:  # noqa: ANN401 - any plain value
    """The configuration without every key that repeats the seed; keys as text, since labels may be both."""
    if isinstance(config, dict):
        return {str(key): _without_seed(value) for key, value in config.items() if key != "seed"}
    return config
