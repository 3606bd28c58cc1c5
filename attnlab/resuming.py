"""Checkpoints inside a training, so that an interrupted one goes on instead of starting again."""

import logging
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import Checkpoint, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger

from attnlab.store.document import read_json, write_json

log = logging.getLogger(__name__)


class Resumption(Checkpoint):
    """Keeps the whole state of a training at the end of an epoch, and gives it back.

    A training that goes on from it makes the same model as one that was never interrupted: the trainer's state, every
    random generator, the best epoch so far and the curve are all of the same moment. What is kept appears by a rename,
    so that a process killed while writing leaves the state before. Of several processes, the first decides and writes,
    and each keeps generators of its own.

    Args:
        folder: Of the training; ``epoch-<n>`` in it are what is kept.
        seconds: Training time between two of them, at least.
        best: Keeps the weights of the best epoch.
        curve: Keeps the metrics of each epoch.
    """

    def __init__(self, folder: Path, seconds: float, best: ModelCheckpoint, curve: CSVLogger) -> None:
        self.folder = folder
        self.seconds = seconds
        self.best = best
        self.curve = curve
        self.draft = folder / "next"
        self.spent = 0.0
        self.start = self.last = time.perf_counter()
        self.due = False
        self.generators: list[dict[str, Any]] | None = None
        self.rates: dict[str, Any] = {}

    @property
    def elapsed(self) -> float:
        """Seconds of training, those before an interruption included."""
        return self.spent + time.perf_counter() - self.start

    def restore(self, processes: int) -> Path | None:
        """Bring the best epoch and the curve back.

        Args:
            processes: That train together.

        Returns:
            The checkpoint for the trainer; None when the training starts from the beginning.
        """
        shutil.rmtree(self.draft, ignore_errors=True)
        for kept in sorted(self.folder.glob("epoch-*"), reverse=True):
            try:
                torch.load(kept / "last.ckpt", map_location="cpu", weights_only=True)
                state = read_json(kept / "state.json")
                if state["processes"] != processes:
                    raise ValueError(f"it is of {state['processes']} processes, not of {processes}")
                files = [kept / f"generators-{rank}.pt" for rank in range(processes)]
                generators = [torch.load(file, weights_only=True) for file in files]
                self.rates = torch.load(kept / "rates.pt", weights_only=True)
                self._restore_files(kept, state)
            except Exception as error:
                log.warning("%s cannot be read and is left out: %s", kept, " ".join(str(error).split())[:160])
                continue
            self.generators = generators
            log.info("training goes on after epoch %d", state["epoch"] + 1)
            return kept / "last.ckpt"
        return None

    def _restore_files(self, kept: Path, state: dict[str, Any]) -> None:
        writer = self.curve.experiment  # makes its folder
        shutil.copyfile(kept / "best.ckpt", Path(str(self.best.dirpath), state["best"]))
        shutil.copyfile(kept / "metrics.csv", writer.metrics_file_path)
        writer.metrics_keys = Path(writer.metrics_file_path).read_text("utf-8").splitlines()[0].split(",")
        self.spent = state["seconds"]

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Write the trainer's state, which the first batch of the next epoch completes."""
        self.due = trainer.strategy.broadcast(time.perf_counter() - self.last >= self.seconds)
        if self.due:
            self.draft.mkdir(parents=True, exist_ok=True)
            trainer.save_checkpoint(self.draft / "last.ckpt", weights_only=False)

    def on_train_batch_start(
        self,
        trainer: L.Trainer,
        pl_module: L.LightningModule,
        batch: Any,  # noqa: ANN401 - Lightning's signature
        batch_idx: int,
    ) -> None:
        """Set or keep the generators, once the epoch before was logged and the loader has drawn its seed."""
        if batch_idx:
            return
        if self.generators is not None:
            _set_generators(self.generators[trainer.global_rank])
            _set_rates(trainer, self.rates)
            self.generators = None
        elif self.due:
            self.due = False
            torch.save(_generators(), self.draft / f"generators-{trainer.global_rank}.pt")
            trainer.strategy.barrier()
            if trainer.is_global_zero:
                torch.save(_rates(trainer), self.draft / "rates.pt")
                self._keep(trainer.current_epoch - 1, trainer.world_size)

    def _keep(self, epoch: int, processes: int) -> None:
        best = Path(self.best.best_model_path)
        shutil.copyfile(best, self.draft / "best.ckpt")
        self.curve.save()
        shutil.copyfile(self.curve.experiment.metrics_file_path, self.draft / "metrics.csv")
        seconds = round(self.elapsed, 3)
        state = {"epoch": epoch, "best": best.name, "seconds": seconds, "processes": processes}
        write_json(self.draft / "state.json", state)
        before = list(self.folder.glob("epoch-*"))
        os.rename(self.draft, self.folder / f"epoch-{epoch:06d}")
        for kept in before:
            shutil.rmtree(kept)
        self.last = time.perf_counter()


def _rates(trainer: L.Trainer) -> dict[str, Any]:
    """Learning rates and what decides them: Lightning's schedulers step after the trainer's state was written."""
    return {
        "schedulers": [config.scheduler.state_dict() for config in trainer.lr_scheduler_configs],
        "rates": [[group["lr"] for group in optimizer.param_groups] for optimizer in trainer.optimizers],
    }


def _set_rates(trainer: L.Trainer, state: dict[str, Any]) -> None:
    for config, kept in zip(trainer.lr_scheduler_configs, state["schedulers"], strict=True):
        config.scheduler.load_state_dict(kept)
    for optimizer, rates in zip(trainer.optimizers, state["rates"], strict=True):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


def _generators() -> dict[str, Any]:
    """State of every global generator, as tensors and plain values."""
    name, keys, *rest = np.random.get_state()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [name, torch.from_numpy(np.asarray(keys).astype(np.int64)), *rest],
        "python": random.getstate(),
    }


def _set_generators(state: dict[str, Any]) -> None:
    torch.set_rng_state(state["torch"])
    if state["cuda"]:
        torch.cuda.set_rng_state_all(state["cuda"])
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))
    version, internal, gauss = state["python"]
    random.setstate((version, tuple(internal), gauss))
