"""The published code's model and outputs on 32 SST sentences (Jain & Wallace 2019, BiLSTM with additive attention)."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlab.data.batch import Batch
from attnlab.models import SequenceClassifier
from attnlab.nn import Additive, BiLSTM
from attnlab.protocols.protocol import Observation

WEIGHTS = {
    "embedding": "embedding.weight",
    "lstm.": "encoder.lstm.",
    "decoder.attention.attn1.": "attention.projection.",
    "decoder.attention.attn2.": "attention.score.",
    "decoder.linear_1.": "readout.linear.",
}


@pytest.fixture(scope="session")
def published():
    with np.load(Path(__file__).with_name("jain_wallace_sst_bilstm_tanh.npz"), allow_pickle=False) as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays.files}


@pytest.fixture(scope="session")
def model(published):
    size, dim = published["embedding"].shape
    model = SequenceClassifier(BiLSTM, Additive, partial(torch.optim.Adam, lr=1e-3), size, 2, embedding_dim=dim)
    state = {}
    for name, tensor in published.items():
        prefix = next((p for p in WEIGHTS if name.startswith(p)), None)
        if prefix:
            state[WEIGHTS[prefix] + name.removeprefix(prefix)] = tensor
    model.load_state_dict(state)
    return model.eval()


@pytest.fixture(scope="session")
def batch(published):
    ids, lengths = published["ids"].long(), published["lengths"].long()
    positions = torch.arange(ids.shape[1])
    mask = (positions > 0) & (positions < lengths[:, None] - 1)
    return Batch(ids, mask, lengths, published["labels"].long(), torch.arange(len(ids)))


@pytest.fixture
def observation(model, batch):
    with torch.no_grad():
        encoded = model.encode(batch)
        attention = model.attend(encoded)
        return Observation(model, batch, encoded, attention, model.decode(encoded, attention))
