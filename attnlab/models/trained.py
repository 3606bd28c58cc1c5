"""A trained model on disk: tensors (safetensors), plain values (YAML, JSON) and the tokenizer. Never unpickled."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lightning as L
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from attnlab.errors import StoreError
from attnlab.instantiate import instantiate
from attnlab.store.document import read_yaml, write_yaml

WEIGHTS = "weights.safetensors"


def build_model(config: Mapping[str, Any], task: Mapping[str, Any]) -> L.LightningModule:
    """An untrained model.

    Args:
        config: The ``model`` part of a configuration.
        task: What the data set decides: ``vocab_size``, ``num_classes``, ``pos_weight``.

    Raises:
        ConfigError: an option of the model is unknown or refused.
    """
    model: L.LightningModule = instantiate(config, "model", **task)
    return model


def save_model(folder: Path, model: L.LightningModule, config: Mapping[str, Any], task: Mapping[str, Any]) -> None:
    """Write weights, configuration and task of a trained model."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)
    write_yaml(folder / "config.yaml", config)
    write_yaml(folder / "task.yaml", task)


def load_model(folder: Path | str) -> L.LightningModule:
    """A trained model in evaluation mode, on the CPU.

    Args:
        folder: An entry of the store, such as ``outputs/store/models/1f0c…``.

    Raises:
        StoreError: something in the folder is missing or damaged.

    Example:
        >>> model = load_model("outputs/store/models/1f0c…")  # doctest: +SKIP
    """
    folder = Path(folder)
    config, task = read_yaml(folder / "config.yaml"), read_yaml(folder / "task.yaml")
    model = build_model(config["model"], task)
    try:
        model.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, SafetensorError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise StoreError(f"{folder / WEIGHTS} is damaged ({reason}); remove {folder} and run again") from error
    return model.eval()
