"""Erasure against the published code of Serrano & Smith (2019) on the attention layer of an SST model."""

from pathlib import Path

import numpy as np
import pytest
import torch

from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.functional.prediction import class_probabilities
from attnlab.nn import Encoded
from attnlab.protocols.erasure.set_erasure import SetErasure
from attnlab.protocols.erasure.single_weight import erase
from attnlab.protocols.protocol import Observation
from tests.conftest import make_model


class _Layer:
    """The attention layer alone: values are the published per-token logits."""

    gives = frozenset({"linear_readout"})

    def __init__(self, bias):
        self.bias = bias

    def values(self, encoded):
        return encoded.values

    def finish(self, context, encoded):
        return context + self.bias

    def decode(self, encoded, attention):
        return self.finish((attention.unsqueeze(-2) @ encoded.values).squeeze(-2), encoded)


class _Batch:
    def __init__(self, mask):
        self.mask, self.index = mask, torch.arange(len(mask))


@pytest.fixture(scope="module")
def published():
    with np.load(Path(__file__).with_name("serrano_smith_sst_flat.npz"), allow_pickle=False) as arrays:
        return {name: torch.from_numpy(np.asarray(arrays[name])) for name in arrays.files}


@pytest.fixture(scope="module")
def seen(published):
    attention = published["attention"].double()
    mask = torch.arange(attention.shape[1]) < published["length"][:, None]
    values = published["value_logit"].double().unsqueeze(-1)
    encoded = Encoded(values, mask, values=values)
    layer = _Layer(published["bias"].double())
    return Observation(layer, _Batch(mask), encoded, attention, layer.decode(encoded, attention))


@pytest.fixture(scope="module")
def columns(seen):
    return SetErasure(make_model()).measure(seen)


@pytest.mark.parametrize(
    ("order", "name"), [("attention", "removed_att"), ("gradient", "removed_grad"), ("product", "removed_prod")]
)
def test_removals_until_the_decision_flips(columns, published, order, name):
    assert columns[f"removed_{order}"].tolist() == published[name].tolist()


def test_the_optimum_is_never_worse_and_the_product_all_but_attains_it(columns):
    best = columns["removed_optimal"]
    for order in ("attention", "gradient", "product"):
        removed = columns[f"removed_{order}"]
        assert ((removed == -1) | ((best != -1) & (best <= removed))).all()
    both = columns["comparable_product"]
    assert columns["attained_product"][both].double().mean() > 0.99
    assert columns["attained_attention"][both].double().mean() < 0.6


def test_erasing_the_highest_weight(seen, published):
    top = seen.attention.topk(2, -1).indices
    erased = class_probabilities(seen.model.decode(seen.encoded, erase(seen.attention, top)[:, 0]))
    js = jensen_shannon_divergence(erased, seen.probabilities)
    # The published code works in float32 and its hand-made divergences are off by some 1e-6.
    torch.testing.assert_close(js, published["js_top"].double(), atol=5e-6, rtol=0)
    flips = erased.argmax(-1) != seen.probabilities.argmax(-1)
    assert flips.tolist() == (published["flip_top"] != -1).tolist()  # -1, or the new class
    second = class_probabilities(seen.model.decode(seen.encoded, erase(seen.attention, top)[:, 1]))
    js = jensen_shannon_divergence(second, seen.probabilities)
    torch.testing.assert_close(js, published["js_second"].double(), atol=5e-6, rtol=0)
