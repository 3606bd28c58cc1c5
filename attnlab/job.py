"""A job: one resolved configuration, and the keys of what it needs and makes. Nothing here imports torch."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError
from attnlab.store import Store, model_key, result_key
from attnlab.store.key import TRAINER_INDIFFERENT

SPLITS = ("train", "validation", "test")

GROUP_INDIFFERENT = frozenset(
    {"seed", "paths", "logger", "protocols", "launcher", "cluster", "dry_run", "resume_seconds"}
)
"""What jobs of one group may differ in: the seed, and what decides no result but by the protocol's own key."""


@dataclass(frozen=True)
class Job:
    """What one process does: train (or find) a model, and measure it by some protocols.

    Attributes:
        config: Resolved configuration as plain containers, with absolute paths.
        choices: The option chosen in each config group, such as ``{"data": "movie", "model": "bilstm"}``.
        store: Where models and results live.
        model_key: Key of the model.
        result_keys: Key of each protocol's result, by protocol name.
    """

    config: dict[str, Any]
    choices: dict[str, str]
    store: Store
    model_key: str
    result_keys: dict[str, str]

    @classmethod
    def from_config(cls, config: Mapping[str, Any], choices: Mapping[str, str]) -> "Job":
        """Check what can be checked without torch, and compute the keys.

        Raises:
            ConfigError: there is no protocol, or no such split.
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
        results = {name: result_key(config, name, model) for name in config["protocols"]}
        return cls(config, dict(choices), Store(paths["store"]), model, results)

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
