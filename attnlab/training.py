"""Train one model to an entry of the store."""

import csv
import logging
import math
import shutil
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, Logger

from attnlab.instantiate import instantiate
from attnlab.models.trained import build_model, save_model
from attnlab.progress import EpochLines
from attnlab.resuming import Resumption
from attnlab.store.document import write_json
from attnlab.store.provenance import provenance

if TYPE_CHECKING:
    from attnlab.data import TextDataModule

log = logging.getLogger(__name__)

UNHELPFUL_WARNINGS = (
    ".*is smaller than the logging interval.*",
    ".*You defined a `validation_step` but have no `val_dataloader`.*",
    ".*Checkpoint directory .* exists and is not empty.*",  # the best epoch of an interrupted training
    ".*does not have many workers.*",  # loaders read memory-mapped arrays; workers would only add start-up
    ".*The `srun` command is available on your system but is not used.*",
    ".*No positive samples in targets.*",  # a class that does not occur in the dev set, which no average counts
    r".*isinstance\(treespec, LeafSpec\).*",  # Lightning's own use of a deprecated name
)


def train(
    config: Mapping[str, Any], data: "TextDataModule", folder: Path, unfinished: Path, loggers: Sequence[Logger] = ()
) -> L.LightningModule:
    """Train a model and fill a store entry with it.

    Args:
        config: The job's resolved configuration, as plain containers.
        data: The data module, set up.
        folder: Draft of the entry.
        unfinished: Where a training that was interrupted left its checkpoints, and this one keeps its own.
        loggers: Lightning loggers beside the entry's own CSV file.

    Returns:
        The model with the weights of its best epoch on the dev set, in evaluation mode.
    """
    task = {"vocab_size": data.vocab_size, "num_classes": data.num_classes, "pos_weight": data.pos_weight}
    L.seed_everything(config["seed"], workers=True, verbose=False)
    model = build_model(config["model"], task)
    coverage = load_vectors(config["vectors"], data, model)
    scratch = unfinished / "now"
    shutil.rmtree(scratch, ignore_errors=True)
    best = ModelCheckpoint(
        dirpath=scratch,
        filename="best",
        monitor=config["selection"]["monitor"],
        mode=config["selection"]["mode"],
        save_weights_only=True,
        # The training loss is known after the validation that would else be the moment.
        save_on_train_epoch_end=True if config["selection"]["monitor"].startswith("train/") else None,
    )
    curve = CSVLogger(scratch, name="", version="")
    callbacks = [instantiate(c, f"callbacks.{name}") for name, c in config["callbacks"].items() if c]
    own: list[Logger] = [curve] if is_distributed(config["trainer"]) else [curve, *loggers]
    seconds = math.inf if config["resume_seconds"] is None else config["resume_seconds"]
    resumption = Resumption(unfinished, seconds, best, curve)
    callbacks = [best, EpochLines(), *callbacks, resumption]
    trainer = build_trainer(config["trainer"], own, callbacks, default_root_dir=str(scratch))
    trainer.fit(
        model,
        train_dataloaders=data.train_dataloader(),
        val_dataloaders=data.val_dataloader(),
        ckpt_path=resumption.restore(trainer.num_devices * trainer.num_nodes),
        weights_only=True,
    )
    model.load_state_dict(torch.load(best.best_model_path, map_location="cpu", weights_only=True)["state_dict"])
    csv_file = scratch / "metrics.csv"
    save_model(folder, model, config, task)
    data.tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "training.json",
        {
            "selected_by": config["selection"]["monitor"],
            "on_split": "validation",
            **_best_epoch(csv_file, **config["selection"]),
            "seconds": round(resumption.elapsed, 3),
            "vector_coverage": coverage,
            "classes": list(data.classes),
            "counts": data.counts,
        },
    )
    write_json(folder / "provenance.json", provenance())
    shutil.move(csv_file, folder / "metrics.csv")
    shutil.rmtree(unfinished)
    return model.eval()


def _best_epoch(metrics: Path, monitor: str, mode: str) -> dict[str, float | int]:
    """Which epoch was best, its value, and how many there were, from the logged metrics.

    The Trainer's own memory of it stays in the processes of a distributed run.
    """
    with metrics.open(newline="", encoding="utf-8") as handle:
        rows = [(float(r[monitor]), int(r["epoch"])) for r in csv.DictReader(handle) if r.get(monitor)]
    value, epoch = (max if mode == "max" else min)(rows, key=lambda row: row[0])
    return {"best": value, "best_epoch": epoch + 1, "epochs": len(rows)}


def load_vectors(config: Mapping[str, Any], data: "TextDataModule", model: L.LightningModule) -> float | None:
    """Give the model its pretrained word vectors, if the configuration names any.

    Returns:
        Share of the vocabulary that was found; None for random vectors.
    """
    vectors = instantiate(config, "vectors")
    matrix = vectors.matrix(data.vocabulary, data.corpus)
    if matrix is None:
        return None
    with torch.no_grad():
        model.embedding.weight.copy_(matrix)  # type: ignore[union-attr, operator]
    log.info("word vectors found for %.1f %% of the vocabulary", 100 * vectors.coverage)
    return float(vectors.coverage)


def is_distributed(options: Mapping[str, Any]) -> bool:
    """Whether a Trainer with these options uses several processes on this machine."""
    devices = options.get("devices", 1)
    several = (
        len(devices) > 1 if isinstance(devices, Sequence) and not isinstance(devices, str) else devices not in (1, "1")
    )
    return several and options.get("strategy", "auto") in ("auto", "ddp", "ddp_spawn")


def build_trainer(
    config: Mapping[str, Any],
    loggers: Sequence[Logger] | bool,
    callbacks: Sequence[L.Callback],
    **overrides: Any,  # noqa: ANN401 - options of Lightning's Trainer
) -> L.Trainer:
    """Lightning's Trainer without what slows small models down or fills logs.

    Args:
        config: The ``trainer`` part of a configuration.
        loggers: Loggers, or False.
        callbacks: Callbacks.
        overrides: Options that the caller decides.

    Raises:
        ConfigError: an option is unknown or refused, such as a device that is not there.
    """
    _quiet()
    options = {**config, **overrides}
    if is_distributed(options):
        # Lightning's default would run the whole command again in every process, each with a store of its own mind;
        # spawned processes do the training or the measuring alone.
        options["strategy"] = "ddp_spawn"
    if options.get("enable_progress_bar") is None:
        options["enable_progress_bar"] = sys.stderr.isatty()
    trainer: L.Trainer = instantiate(options, "trainer", logger=loggers or False, callbacks=list(callbacks))
    return trainer


def _quiet() -> None:
    """Silence advice that does not apply here."""
    logging.getLogger("lightning.pytorch.utilities.rank_zero").setLevel(logging.WARNING)
    logging.getLogger("lightning.pytorch.accelerators.cuda").setLevel(logging.WARNING)
    for message in UNHELPFUL_WARNINGS:
        warnings.filterwarnings("ignore", message=message)
