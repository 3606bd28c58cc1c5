"""One line per epoch where no progress bar is shown."""

import logging

import lightning as L

log = logging.getLogger("attnlab.training")


class EpochLines(L.Callback):
    """Logs the metrics of each epoch, once the model has logged all of them."""

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Tell of the epoch before."""
        self._tell(trainer)

    def on_train_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Tell of the last epoch."""
        self._tell(trainer)

    def _tell(self, trainer: L.Trainer) -> None:
        metrics = {k: float(v) for k, v in trainer.callback_metrics.items()}
        if metrics:
            text = "  ".join(f"{name} {value:.4f}" for name, value in sorted(metrics.items()))
            log.info("epoch %d  %s", trainer.current_epoch, text)
