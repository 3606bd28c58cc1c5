"""Keys: the hash of the resolved configuration that determines a thing, and of nothing else."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from attnlab.data.fingerprint import fingerprint

MODEL_VERSION = 1
"""Raised when the same configuration trains another model than before."""

RESULT_VERSION = 2
"""Raised when the same configuration gives other records than before."""

TRAINER_INDIFFERENT = frozenset(
    {
        # Where and how loudly a model is trained, not what it becomes. The number of devices is not here: it
        # changes the effective batch.
        "accelerator",
        "default_root_dir",
        "enable_checkpointing",
        "enable_model_summary",
        "enable_progress_bar",
        "limit_test_batches",
        "log_every_n_steps",
        "num_sanity_val_steps",
        "profiler",
    }
)

PROTOCOL_INDIFFERENT = frozenset({"token_budget"})
"""Options that bound memory and change no record."""


def model_key(config: Mapping[str, Any]) -> str:
    """Key of the trained model that a job needs.

    Args:
        config: The job's resolved configuration, as plain containers.

    Returns:
        20 hexadecimal digits.

    Raises:
        DataError: a local file that the configuration names cannot be read.
    """
    trainer = {k: v for k, v in config["trainer"].items() if k not in TRAINER_INDIFFERENT}
    return _digest(
        {
            "version": MODEL_VERSION,
            "data": fingerprint(config["data"]),
            "vectors": fingerprint(config["vectors"]),
            "model": config["model"],
            "trainer": trainer,
            "selection": config["selection"],
            "callbacks": config["callbacks"],
            "seed": config["seed"],
            # The model on whose outputs this one is trained.
            **({"given": config["given"]} if config.get("given") else {}),
        }
    )


def result_key(
    config: Mapping[str, Any], protocol: str, model: str, further: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Key of one protocol's result on one model.

    Args:
        config: The job's resolved configuration, as plain containers.
        protocol: Name under ``protocols``.
        model: Key of the trained model.
        further: Keys of the further models that the protocol declares, by its name for them.

    Returns:
        20 hexadecimal digits.
    """
    indifferent = PROTOCOL_INDIFFERENT | {"models"}  # they count by their keys
    options = {k: v for k, v in config["protocols"][protocol].items() if k not in indifferent}
    return _digest(
        {
            "version": RESULT_VERSION,
            "model": model,
            "protocol": options,
            **({"further": further} if further else {}),
            "split": config["split"],
            **({"level": config["level"]} if config.get("level") else {}),
            # Numbers depend on the precision that they are measured in.
            "precision": config["trainer"].get("precision"),
        }
    )


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]
