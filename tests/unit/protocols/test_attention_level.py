"""Permutation, adversarial attention and leverage: they intervene on attention alone."""

import math

import pytest
import torch

from attnlab.functional.divergence import jensen_shannon_divergence
from attnlab.functional.permutation import permute_attention, random_permutations
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.permutation import Permutation
from attnlab.protocols.diagnostic.attention_leverage import AttentionLeverage
from tests.conftest import make_batch, make_model, observe, take


def test_permutation_of_uniform_attention_changes_nothing(encoder):
    model = make_model(encoder, "uniform")
    columns = Permutation(model, draws=20).measure(observe(model, make_batch()))
    torch.testing.assert_close(columns["max_tvd"], torch.zeros(5), atol=1e-6, rtol=0)
    assert (columns["flip_share"] == 0).all()


@pytest.mark.parametrize("draws", [1, 2, 5])
def test_permutation_takes_the_median_of_its_draws(draws):
    model = make_model()
    seen = observe(model, make_batch())
    columns = Permutation(model, draws=draws, seed=3).measure(seen)
    orders = random_permutations(seen.batch.mask, draws, 3, seen.batch.index.tolist())
    p = seen.predict(permute_attention(seen.attention, orders))[..., 1]
    expected = (p - seen.probabilities[:, None, 1]).abs().quantile(0.5, dim=1)
    torch.testing.assert_close(columns["median_tvd"], expected)


def test_single_tokens_are_excluded_with_a_reason():
    model = make_model()
    seen = observe(model, make_batch())
    for protocol in (Permutation(model), AdversarialAttention(model)):
        assert protocol.measure(seen)["excluded"] == ["fewer than two tokens", None, None, None, None]


@pytest.mark.parametrize("solver", ["exact", "search"])
def test_adversary_is_a_distribution_that_keeps_the_prediction(encoder, solver):
    model = make_model(encoder)
    seen = observe(model, make_batch())
    columns = AdversarialAttention(model, epsilon=0.05, solver=solver, steps=60).measure(seen)
    adversary = columns["adversary"].double()
    assert (adversary[~seen.batch.mask] == 0).all()
    torch.testing.assert_close(adversary.sum(-1), torch.ones(5, dtype=torch.float64))
    assert (columns["tvd"] <= 0.05 + 1e-6).all()
    assert ((columns["jsd"] >= 0) & (columns["jsd"] <= math.log(2) + 1e-9)).all()
    torch.testing.assert_close(
        jensen_shannon_divergence(adversary, seen.attention.double()), columns["jsd"], atol=1e-6, rtol=0
    )


def test_pair_names_the_content_tokens_of_the_exact_solution():
    model = make_model()
    seen = observe(model, make_batch())
    columns = AdversarialAttention(model, epsilon=0.05).measure(seen)
    for row, pair in enumerate(columns["pair"]):
        content = columns["adversary"][row][seen.batch.mask[row]]
        assert set(content.nonzero().flatten().tolist()) <= set(pair)


def test_exact_is_replaced_by_search_with_a_message_for_more_classes(caplog):
    model = make_model(num_classes=3)
    columns = AdversarialAttention(model, solver="exact", steps=5).measure(observe(model, make_batch()))
    assert set(columns["solver"]) == {"search"}
    assert "more than two classes" in caplog.text
    assert "pair" not in columns


def test_two_logits_give_the_same_optimum_as_one():
    model = make_model()
    seen = observe(model, make_batch())
    double = make_model()
    double.readout.linear = torch.nn.Linear(12, 2)
    with torch.no_grad():
        double.readout.linear.weight.copy_(
            torch.cat([-model.readout.linear.weight / 2, model.readout.linear.weight / 2])
        )
        double.readout.linear.bias.copy_(torch.cat([-model.readout.linear.bias / 2, model.readout.linear.bias / 2]))
    one = AdversarialAttention(model).measure(seen)
    two = AdversarialAttention(double).measure(observe(double, make_batch()))
    torch.testing.assert_close(one["jsd"], two["jsd"], atol=1e-6, rtol=0)


def test_leverage_bounds_every_attention(encoder):
    model = make_model(encoder)
    seen = observe(model, make_batch())
    columns = AttentionLeverage(model).measure(seen)
    random = torch.rand(5, 500, seen.attention.shape[1]) ** 8 * seen.batch.mask[:, None]
    p = seen.predict(random / random.sum(-1, keepdim=True))[..., 1]
    assert (p >= columns["lowest"][:, None] - 1e-6).all()
    assert (p <= columns["highest"][:, None] + 1e-6).all()
    decided = (seen.probabilities[:, 1] > 0.5).unsqueeze(1) != (p > 0.5)
    assert not (decided.any(1) & ~columns["flippable"]).any()


@pytest.mark.parametrize("num_classes", [2, 3])
def test_batched_equals_one_at_a_time_without_padding(num_classes):
    model = make_model(num_classes=num_classes)
    batch = make_batch(padding=4)
    for protocol in (Permutation(model), AdversarialAttention(model, steps=5), AttentionLeverage(model)):
        together = protocol.measure(observe(model, batch))
        for row in range(len(batch)):
            alone = protocol.measure(observe(model, take(batch, row)))
            for name, values in alone.items():
                if isinstance(values, torch.Tensor) and values.dim() == 1:
                    torch.testing.assert_close(together[name][row : row + 1], values, atol=2e-5, rtol=0, msg=name)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"epsilon": 0.0}, "epsilon"), ({"solver": "magic"}, "solver"), ({"objective": "x"}, "objective")],
)
def test_refused_options_name_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        AdversarialAttention(make_model(), **options)
