"""The single-sequence family: embed, encode, attend, read out."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import lightning as L
import torch
from torch import Tensor, nn

from attnlab.data.batch import Batch
from attnlab.functional.deletion import delete_positions
from attnlab.functional.prediction import class_probabilities
from attnlab.metrics.classification import classification_metrics
from attnlab.nn.encoded import Encoded
from attnlab.nn.readout import LinearReadout, QueryReadout


class SequenceClassifier(L.LightningModule):
    """Text classifier with a single attention layer (Jain & Wallace 2019, section 2).

    Args:
        encoder: Builds the encoder from the embedding size.
        attention: Builds the attention mechanism from the size of the hidden states.
        optimizer: Builds the optimizer from parameter groups.
        vocab_size: Number of token ids; id 0 is padding.
        num_classes: Number of classes; two are read out as one logit.
        embedding_dim: Size of the embeddings.
        pos_weight: Weight of the positive class in the loss of a binary task; published runs use N/N_pos − 1.
        dropout: Share of the context vector that is dropped in training.
        scheduler: Builds a learning rate scheduler from the optimizer; it sees dev accuracy after each epoch.
        initialise: Gives parameters their first values; PyTorch's own when not given.
        objective: Summed loss of a batch in training; that of the labels when not given.

    Raises:
        ValueError: fewer than two classes.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"single", "folded_readout", "linear_readout", "token_gradients"})
    requires: ClassVar[frozenset[str]] = frozenset({"single"})
    unit: ClassVar[str] = "tokens"
    """What attention goes to."""

    monitored: ClassVar[tuple[str, ...]] = ("val/auroc", "val/accuracy", "val/f1", "val/loss", "train/loss")

    def __init__(
        self,
        encoder: Callable[[int], nn.Module],
        attention: Callable[[int], nn.Module],
        optimizer: Callable[[Iterable[dict[str, Any]]], torch.optim.Optimizer],
        vocab_size: int,
        num_classes: int,
        embedding_dim: int = 300,
        pos_weight: float | None = None,
        dropout: float = 0.0,
        scheduler: Callable[[torch.optim.Optimizer], Any] | None = None,
        initialise: Callable[[nn.Module], None] | None = None,
        objective: "Callable[[SequenceClassifier, Batch], Tensor] | None" = None,
    ) -> None:
        super().__init__()
        if num_classes < 2:
            raise ValueError(f"a classifier needs two classes or more, not {num_classes}")
        outputs = 1 if num_classes == 2 else num_classes
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.encoder = encoder(embedding_dim)
        hidden_size: int = self.encoder.output_size  # type: ignore[assignment]
        self.attention = attention(hidden_size)
        self.readout: LinearReadout | QueryReadout = LinearReadout(hidden_size, outputs, dropout)
        self.build_optimizer = optimizer
        self.build_scheduler = scheduler
        self.pos_weight = pos_weight
        self.objective = objective
        self.validation_metrics = classification_metrics(num_classes, prefix="val/")
        if initialise is not None:
            initialise(self)

    def embed(self, batch: Batch) -> Tensor:
        """Embedded tokens (B, T, E)."""
        embedded: Tensor = self.embedding(batch.ids)
        return embedded

    def encode(self, batch: Batch, embedded: Tensor | None = None) -> Encoded:
        """Hidden states of a batch, from its tokens or from given embeddings of them (B, T, E)."""
        embedded = self.embed(batch) if embedded is None else embedded
        return self.read(embedded, batch.mask, batch.lengths, batch.given)

    def read(self, embedded: Tensor, mask: Tensor, lengths: Tensor, given: Tensor | None = None) -> Encoded:
        """Hidden states from embeddings (B, T, E), content positions (B, T) and lengths (B,)."""
        return Encoded(self.encoder(embedded, mask, lengths), mask, given=given, embedded=embedded)

    def encode_without(self, batch: Batch, encoded: Encoded, rows: Tensor, positions: Tensor) -> Encoded:
        """Hidden states of one copy of ``rows[n]`` for each n, without the content position ``positions[n]``.

        Args:
            batch: B instances.
            encoded: What :meth:`encode` made of them.
            rows: (N,) row numbers.
            positions: (N,) content positions of rows that have others.

        Returns:
            N instances of T − 1 positions.
        """
        assert encoded.embedded is not None
        mask = delete_positions(encoded.mask, rows, positions)
        shorter = delete_positions(encoded.embedded, rows, positions)
        return self.read(shorter, mask, batch.lengths[rows] - 1)

    def attend(self, encoded: Encoded) -> Tensor:
        """Attention (B, T): non-negative, zero outside the mask, summing to 1."""
        weights: Tensor = self.attention(encoded)
        return weights

    def decode(self, encoded: Encoded, attention: Tensor) -> Tensor:
        """Logits (B, *K, C) under attention (B, *K, T); C is 1 for two classes."""
        logits: Tensor = self.readout(encoded, attention)
        return logits

    def values(self, encoded: Encoded) -> Tensor:
        """Folded values (B, T, D), whose weighted sum :meth:`finish` turns into logits."""
        return self.readout.fold(encoded)

    def finish(self, context: Tensor, encoded: Encoded) -> Tensor:
        """Logits (B, *K, C) from weighted sums of values (B, *K, D); decode is finish of attention @ values."""
        return self.readout.finish(context, encoded)

    def forward(self, batch: Batch) -> Tensor:
        """Logits (B, C)."""
        encoded = self.encode(batch)
        return self.decode(encoded, self.attend(encoded))

    def loss(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy summed over the batch, as published (Jain & Wallace's code; not the mean)."""
        if logits.shape[-1] > 1:
            return nn.functional.cross_entropy(logits, labels, reduction="sum")
        weight = None if self.pos_weight is None else logits.new_tensor(self.pos_weight)
        return nn.functional.binary_cross_entropy_with_logits(
            logits.squeeze(-1), labels.to(logits.dtype), pos_weight=weight, reduction="sum"
        )

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Loss of one batch."""
        loss = self.loss(self(batch), batch.labels) if self.objective is None else self.objective(self, batch)
        # Summed here and logged once: logging every step would cost several percent of training.
        self.train_loss += loss.detach()
        self.train_rows += len(batch)
        return loss

    def on_train_epoch_start(self) -> None:
        """Start the mean of the training loss anew."""
        self.train_loss = torch.zeros((), device=self.device)
        self.train_rows = 0

    def on_train_epoch_end(self) -> None:
        """Log the mean training loss of the epoch."""
        self.log("train/loss", self.train_loss / max(1, self.train_rows), sync_dist=True)

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        """Move a batch at once, without Lightning's search through unknown containers."""
        return batch.to(device)

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Update the dev metrics that select the checkpoint."""
        logits = self(batch)
        self.validation_metrics.update(class_probabilities(logits), batch.labels)
        self.log("val/loss", self.loss(logits, batch.labels) / len(batch), batch_size=len(batch), sync_dist=True)

    def on_validation_epoch_end(self) -> None:
        """Log and reset the dev metrics."""
        self.log_dict(self.validation_metrics.compute())
        self.validation_metrics.reset()

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Weight decay on everything but the attention mechanism, as published."""
        attention = list(self.attention.parameters())
        members = set(attention)  # has no order, by which a checkpoint could give each parameter its state back
        rest = [p for p in self.parameters() if p not in members]
        return [{"params": rest}, {"params": attention, "weight_decay": 0.0}]

    def configure_optimizers(self) -> Any:  # noqa: ANN401 - an optimizer, or what Lightning takes with a scheduler
        """The optimizer, and a scheduler where one is configured."""
        optimizer = self.build_optimizer([group for group in self.parameter_groups() if group["params"]])
        if self.build_scheduler is None:
            return optimizer
        scheduler = {"scheduler": self.build_scheduler(optimizer), "monitor": "val/accuracy"}
        return {"optimizer": optimizer, "lr_scheduler": scheduler}
