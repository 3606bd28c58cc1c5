"""Small models and batches that every part of the suite uses."""

from functools import partial

import pytest
import torch
from hypothesis import settings

from attnlab.data.batch import Batch
from attnlab.models import SequenceClassifier
from attnlab.nn import Additive, BiLSTM, Convolution, Identity, Projection, ScaledDot, Uniform
from attnlab.protocols.protocol import Observation

ENCODERS = {
    "bilstm": partial(BiLSTM, hidden_size=6),
    "cnn": partial(Convolution, hidden_size=8),
    "projection": partial(Projection, hidden_size=8),
    "embeddings": Identity,
}
ATTENTIONS = {"additive": Additive, "scaled_dot": ScaledDot, "uniform": Uniform}
VOCABULARY = 40


def make_model(encoder="bilstm", attention="additive", num_classes=2, seed=0, vocabulary=VOCABULARY):
    """A random model whose attention and predictions are far from uniform."""
    torch.manual_seed(seed)
    optimizer = partial(torch.optim.Adam, lr=1e-3)
    model = SequenceClassifier(
        ENCODERS[encoder], ATTENTIONS[attention], optimizer, vocabulary, num_classes, embedding_dim=10
    )
    with torch.no_grad():
        model.readout.linear.weight.mul_(8)
        for parameter in model.attention.parameters():
            parameter.mul_(3)
    return model.eval()


def make_batch(lengths=(1, 2, 5, 9, 12), padding=0, seed=0):
    """Random sentences of the given content lengths, with start and end tokens and extra padding."""
    generator = torch.Generator().manual_seed(seed)
    width = max(lengths) + 2 + padding
    ids = torch.zeros(len(lengths), width, dtype=torch.long)
    mask = torch.zeros(len(lengths), width, dtype=torch.bool)
    for row, n in enumerate(lengths):
        ids[row, 0], ids[row, n + 1] = 2, 3
        ids[row, 1 : n + 1] = torch.randint(4, VOCABULARY, (n,), generator=generator)
        mask[row, 1 : n + 1] = True
    labels = torch.arange(len(lengths)) % 2
    return Batch(ids, mask, torch.tensor(lengths) + 2, labels, torch.arange(len(lengths)))


def take(batch, row):
    """One row of a batch, without the padding it does not need."""
    width = int(batch.lengths[row])
    return Batch(
        batch.ids[row : row + 1, :width],
        batch.mask[row : row + 1, :width],
        batch.lengths[row : row + 1],
        batch.labels[row : row + 1],
        batch.index[row : row + 1],
    )


@torch.no_grad()
def observe(model, batch):
    """A batch as the model sees it."""
    encoded = model.encode(batch)
    attention = model.attend(encoded)
    return Observation(model, batch, encoded, attention, model.decode(encoded, attention))


def assert_same_row(together, row, alone):
    """What a protocol measured of a row inside a batch equals what it measured of it alone, up to rounding."""
    for name, values in alone.items():
        if isinstance(values, torch.Tensor):
            ours = together[name][row]
            ours = ours[: values.shape[1]] if values.dim() == 2 else ours
            torch.testing.assert_close(ours, values[0], atol=1e-5, rtol=1e-4, equal_nan=True, msg=name)


@pytest.fixture(params=list(ENCODERS))
def encoder(request):
    """Name of each encoder."""
    return request.param


@pytest.fixture(params=list(ATTENTIONS))
def attention(request):
    """Name of each attention mechanism."""
    return request.param


# How long an example takes depends on what else the machine does.
settings.register_profile("attnlab", deadline=None)
settings.load_profile("attnlab")
