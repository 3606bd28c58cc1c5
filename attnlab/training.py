"""Train one model to an entry of the store."""

import logging
import shutil
import sys
import time
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
from attnlab.store.document import write_json
from attnlab.store.provenance import provenance

if TYPE_CHECKING:
    from attnlab.data import TextDataModule

log = logging.getLogger(__name__)

UNHELPFUL_WARNINGS = (
    ".*is smaller than the logging interval.*",
    ".*You defined a `validation_step` but have no `val_dataloader`.*",
    ".*does not have many workers.*",  # loaders read memory-mapped arrays; workers would only add start-up
    r".*isinstance\(treespec, LeafSpec\).*",  # Lightning's own use of a deprecated name
)


def train(
    config: Mapping[str, Any], data: "TextDataModule", folder: Path, loggers: Sequence[Logger] = ()
) -> L.LightningModule:
    """Train a model and fill a store entry with it.

    Args:
        config: The job's resolved configuration, as plain containers.
        data: The data module, set up.
        folder: Draft of the entry.
        loggers: Lightning loggers beside the entry's own CSV file.

    Returns:
        The model with the weights of its best epoch on the dev set, in evaluation mode.
    """
    task = {"vocab_size": data.vocab_size, "num_classes": data.num_classes, "pos_weight": data.pos_weight}
    L.seed_everything(config["seed"], workers=True, verbose=False)
    model = build_model(config["model"], task)
    coverage = load_vectors(config["vectors"], data, model)
    scratch = folder / "scratch"
    best = ModelCheckpoint(
        dirpath=scratch,
        filename="best",
        monitor=config["selection"]["monitor"],
        mode=config["selection"]["mode"],
        save_weights_only=True,
    )
    csv = CSVLogger(scratch, name="", version="")
    callbacks = [instantiate(c, f"callbacks.{name}") for name, c in config["callbacks"].items() if c]
    trainer = build_trainer(config["trainer"], [csv, *loggers], [best, EpochLines(), *callbacks])
    start = time.perf_counter()
    trainer.fit(model, train_dataloaders=data.train_dataloader(), val_dataloaders=data.val_dataloader())
    seconds = time.perf_counter() - start
    model.load_state_dict(torch.load(best.best_model_path, weights_only=True)["state_dict"])
    save_model(folder, model, config, task)
    data.tokenizer.save(str(folder / "tokenizer.json"))
    write_json(
        folder / "training.json",
        {
            "selected_by": config["selection"]["monitor"],
            "on_split": "validation",
            "best": float(best.best_model_score) if best.best_model_score is not None else None,
            "epochs": trainer.current_epoch,
            "seconds": round(seconds, 3),
            "vector_coverage": coverage,
            "classes": list(data.classes),
            "counts": data.counts,
        },
    )
    write_json(folder / "provenance.json", provenance())
    shutil.move(scratch / "metrics.csv", folder / "metrics.csv")
    shutil.rmtree(scratch)
    return model.eval()


def load_vectors(config: Mapping[str, Any], data: "TextDataModule", model: L.LightningModule) -> float | None:
    """Give the model its pretrained word vectors, if the configuration names any.

    Returns:
        Share of the vocabulary that was found; None for random vectors.
    """
    vectors = instantiate(config, "vectors")
    matrix = vectors.matrix(data.vocabulary)
    if matrix is None:
        return None
    with torch.no_grad():
        model.embedding.weight.copy_(matrix)  # type: ignore[union-attr, operator]
    log.info("word vectors found for %.1f %% of the vocabulary", 100 * vectors.coverage)
    return float(vectors.coverage)


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
