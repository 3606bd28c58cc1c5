"""Protocols that compare a model with what others say, on outputs made by hand."""

import numpy as np
import pytest
import torch

from attnlab.data.outputs import Outputs
from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.model_adversary import ModelAdversary
from attnlab.protocols.diagnostic.attention_substitution import AttentionSubstitution
from attnlab.protocols.diagnostic.guided_mlp import GuidedMLP
from attnlab.protocols.diagnostic.seed_variance import SeedVariance
from attnlab.protocols.diagnostic.uniform_baseline import UniformBaseline
from tests.conftest import make_batch, make_model, observe


@torch.no_grad()
def outputs(model, batch):
    """What a model says of a batch whose instances are in the order of the split."""
    seen = observe(model, batch)
    flat = seen.attention[batch.mask].numpy()
    ends = batch.mask.sum(1).cumsum(0).numpy()
    return Outputs(flat, np.concatenate([[0], ends[:-1]]), seen.probabilities.numpy())


def test_outputs_give_back_what_they_hold_in_any_order_and_padding():
    batch = make_batch(padding=3)
    seen = observe(make_model(), batch)
    held = outputs(make_model(), batch)
    rows = torch.tensor([3, 0])
    assert torch.equal(held.attention(rows, batch.mask[rows]), seen.attention[rows])
    assert torch.equal(held.distributions(rows), seen.probabilities[rows])
    with pytest.raises(ValueError, match="attention alone"):
        Outputs(held.flat, held.starts).distributions(rows)


@torch.no_grad()
def test_seed_variance_takes_medians_of_divergence_and_means_of_differences():
    batch, model = make_batch(), make_model()
    others = [make_model(seed=seed) for seed in (1, 2, 3, 4)]
    seeded = {"seeded": [outputs(one, batch) for one in others]}
    columns = SeedVariance(model, seeded, AdversarialAttention, quantile=0.8).measure(observe(model, batch))
    own, each = observe(model, batch), [observe(one, batch) for one in others]
    jsd = np.stack([jensen_shannon_divergence(one.attention, own.attention).numpy() for one in each])
    tvd = np.stack([(one.probabilities - own.probabilities).abs()[:, 1].numpy() for one in each])
    np.testing.assert_allclose(columns["jsd"], np.median(jsd, 0), atol=1e-7)
    np.testing.assert_allclose(columns["tvd"], tvd.mean(0), atol=1e-6)
    np.testing.assert_allclose(columns["jsd_of_each"], jsd.T, atol=1e-7)
    highest = np.median([one.attention.amax(-1).numpy() for one in each], 0)
    np.testing.assert_allclose(columns["seeds_max_attention"], highest, atol=1e-6)
    adversary = AdversarialAttention(model).measure(own)["jsd"].numpy()
    np.testing.assert_array_equal(columns["jsd_adversary"], adversary)
    np.testing.assert_array_equal(columns["beyond_seeds"], adversary > np.quantile(jsd, 0.8, axis=0))
    assert 0 < columns["beyond_seeds"].mean() < 1


def test_a_model_compared_with_itself_shows_no_difference():
    batch, model = make_batch(), make_model()
    own = outputs(model, batch)
    for name, columns in (
        ("uniform", UniformBaseline(model, {"uniform": [own]}).measure(observe(model, batch))),
        ("base", GuidedMLP(model, {"base": [own]}, ["base"]).measure(observe(model, batch))),
    ):
        assert columns[f"tvd_{name}"].tolist() == [0.0] * len(batch)
        assert torch.equal(columns[f"correct_{name}"], columns["correct"])
    assert UniformBaseline(model, {"uniform": [own]}).measure(observe(model, batch))["jsd"].tolist() == [0.0] * 5


def test_adversaries_are_listed_in_the_order_of_their_strengths():
    batch, model = make_batch(), make_model()
    models = {"adversary": [outputs(model, batch), outputs(make_model(seed=1), batch)]}
    columns = ModelAdversary(model, models, [0.0, 0.5]).measure(observe(model, batch))
    halved = ModelAdversary(model, models, [0.0, 0.5], "published_code").measure(observe(model, batch))
    jsd, tvd = np.array(columns["jsd"]), np.array(columns["tvd"])
    assert jsd.shape == tvd.shape == (len(batch), 2)
    assert not jsd[:, 0].any()
    assert (tvd[:, 1] > 0).all()
    np.testing.assert_allclose(halved["tvd"], tvd / 2)
    with pytest.raises(ValueError, match="total_variation=half"):
        ModelAdversary(model, models, [0.0], "half")


def test_substitutes_are_decoded_by_the_model_itself(encoder):
    batch, model = make_batch(), make_model(encoder)
    seen = observe(model, batch)
    protocol = AttentionSubstitution(model, seed=1)
    columns = protocol.measure(seen)
    weights = protocol.substitutes(seen)
    for name, attention in weights.items():
        torch.testing.assert_close(attention.sum(-1), torch.ones(len(batch)))
        expected = class_probabilities(model.decode(seen.encoded, attention))
        torch.testing.assert_close(torch.tensor(columns[f"probabilities_{name}"]), expected)
    torch.testing.assert_close(weights["permuted"].sort(-1).values, seen.attention.sort(-1).values)
    assert columns["tvd_permuted"][0] == 0  # a single token
