"""Small models of two texts, and ragged pairs."""

from functools import partial

import torch

from attnlab.data.batch import PairBatch
from attnlab.models import PairClassifier
from tests.conftest import ATTENTIONS, ENCODERS, VOCABULARY, make_batch

TEXTS, QUESTIONS = (1, 2, 5, 9, 12), (3, 1, 4, 6, 2)
"""Content tokens of each side of each pair."""


def make_pair_model(encoder="bilstm", attention="additive", num_classes=3, seed=0):
    """A random model whose attention and predictions are far from uniform."""
    torch.manual_seed(seed)
    model = PairClassifier(
        ENCODERS[encoder],
        ATTENTIONS[attention],
        partial(torch.optim.Adam, lr=1e-3),
        VOCABULARY,
        num_classes,
        embedding_dim=10,
    )
    with torch.no_grad():
        model.readout.context.weight.mul_(6)
        model.readout.output.weight.mul_(6)
        for parameter in model.attention.parameters():
            parameter.mul_(3)
    return model.eval()


def make_pairs(padding=0, offered=False, texts=TEXTS, questions=QUESTIONS):
    """Random pairs; ``offered`` leaves each row the first two of three answers, or the last two."""
    batch, asked = make_batch(texts, padding), make_batch(questions, padding, seed=1)
    candidates = torch.tensor([[True, True, False], [False, True, True]])[torch.arange(len(texts)) % 2]
    return PairBatch(
        **vars(batch),
        question_ids=asked.ids,
        question_mask=asked.mask,
        question_lengths=asked.lengths,
        candidates=candidates if offered else None,
    )


def take_pair(batch, row):
    """One row, without the padding that either side does not need."""
    one = slice(row, row + 1)
    width, asked = int(batch.lengths[row]), int(batch.question_lengths[row])
    return PairBatch(
        ids=batch.ids[one, :width],
        mask=batch.mask[one, :width],
        lengths=batch.lengths[one],
        labels=batch.labels[one],
        index=batch.index[one],
        question_ids=batch.question_ids[one, :asked],
        question_mask=batch.question_mask[one, :asked],
        question_lengths=batch.question_lengths[one],
        candidates=None if batch.candidates is None else batch.candidates[one],
    )
