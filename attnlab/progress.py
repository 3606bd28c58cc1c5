"""One line per epoch where no progress bar is shown."""

import logging

import lightning as L

log = logging.getLogger("attnlab.training")


class EpochLines(L.Callback):
    """Logs the dev metrics after each epoch."""

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        """Log one line."""
        metrics = {k: float(v) for k, v in trainer.callback_metrics.items()}
        text = "  ".join(f"{name} {value:.4f}" for name, value in sorted(metrics.items()))
        log.info("epoch %d  %s", trainer.current_epoch + 1, text)
