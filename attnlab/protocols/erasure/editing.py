"""Texts with tokens deleted or hidden, read anew by the whole model."""

from typing import Literal

import torch
from torch import Tensor

from attnlab.data.batch import Batch
from attnlab.data.tokenization import UNKNOWN
from attnlab.protocols.protocol import AttentionModel

Edit = Literal["delete", "mask"]
"""What a removed token leaves: nothing (the text is shorter), or the unknown token in its place."""


def edit(batch: Batch, rows: Tensor, kept: Tensor, how: Edit) -> Batch:
    """Copies of texts without some of their content tokens.

    Args:
        batch: B texts of T positions, their attention not imposed from outside.
        rows: Number of the text that each of N copies is made from, (N,).
        kept: What stays of each, start and end included, padding not, (N, T) bool.
        how: What a removed token leaves.

    Returns:
        N texts: ``delete`` moves what is kept together, ``mask`` changes no length.
    """
    if how == "mask":
        content = batch.mask[rows]
        ids = batch.ids[rows].masked_fill(content & ~kept, UNKNOWN)
        return Batch(ids, content, batch.lengths[rows], batch.labels[rows], batch.index[rows])
    lengths = kept.sum(1)
    place = torch.arange(int(lengths.max()), device=kept.device) < lengths.unsqueeze(1)
    return Batch(
        ids=batch.ids.new_zeros(place.shape).masked_scatter(place, batch.ids[rows][kept]),
        mask=torch.zeros_like(place).masked_scatter(place, batch.mask[rows][kept]),
        lengths=lengths,
        labels=batch.labels[rows],
        index=batch.index[rows],
    )


def real_positions(batch: Batch) -> Tensor:
    """Every position that is not padding, (B, T) bool."""
    return torch.arange(batch.ids.shape[1], device=batch.ids.device) < batch.lengths.unsqueeze(1)


def read(model: AttentionModel, batch: Batch) -> Tensor:
    """Logits (N, C) of texts that are encoded and attended anew."""
    encoded = model.encode(batch)
    return model.decode(encoded, model.attend(encoded))


def leading_chunk(tokens: Tensor, budget: int) -> int:
    """How many of the first texts can be read at once, padded to the longest of them; one at least.

    Args:
        tokens: Tokens of each text, (N,).
        budget: Tokens to read at once, padding included.
    """
    padded = tokens[:budget].cummax(0).values * torch.arange(1, min(budget, len(tokens)) + 1, device=tokens.device)
    return max(1, int((padded <= budget).sum()))
