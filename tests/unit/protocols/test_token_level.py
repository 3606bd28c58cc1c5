"""Gradient correlation and leave-one-out: they go through the encoder."""

import pytest
import scipy.stats
import torch

from attnlab.data.batch import Batch
from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.diagnostic.gradient_correlation import GradientCorrelation
from attnlab.protocols.erasure.leave_one_out import LeaveOneOut
from tests.conftest import VOCABULARY, make_batch, make_model, observe, take


def test_gradient_is_that_of_a_one_hot_input_with_attention_constant(encoder):
    model = make_model(encoder)
    seen = observe(model, make_batch())
    one_hot = torch.nn.functional.one_hot(seen.batch.ids, VOCABULARY).float().requires_grad_(True)
    encoded = model.encode(seen.batch, one_hot @ model.embedding.weight)
    p = class_probabilities(model.decode(encoded, seen.attention))[:, 1].sum()
    (gradient,) = torch.autograd.grad(p, one_hot)
    expected = gradient.gather(-1, seen.batch.ids[..., None]).squeeze(-1).abs()
    torch.testing.assert_close(GradientCorrelation(model).measure(seen)["gradient"], expected, atol=1e-6, rtol=1e-4)


def test_gradient_through_attention_would_differ():
    model = make_model("projection")
    seen = observe(model, make_batch())
    embedded = model.embed(seen.batch).detach().requires_grad_(True)
    encoded = model.encode(seen.batch, embedded)
    p = class_probabilities(model.decode(encoded, model.attend(encoded)))[:, 1].sum()
    (gradient,) = torch.autograd.grad(p, embedded)
    through = (gradient * embedded).sum(-1).abs()
    assert (GradientCorrelation(model).measure(seen)["gradient"] - through).abs().max() > 1e-3


def test_gold_and_predicted_targets_differ_only_for_more_than_two_classes():
    for num_classes, equal in ((2, True), (3, False)):
        model = make_model(num_classes=num_classes)
        seen = observe(model, make_batch())
        scores = [GradientCorrelation(model, target=t).measure(seen)["gradient"] for t in ("predicted", "gold")]
        assert torch.allclose(*scores, atol=1e-6) is equal


def test_leave_one_out_deletes_the_token_and_encodes_anew(encoder):
    model = make_model(encoder)
    batch = make_batch(padding=2)
    effect = LeaveOneOut(model, token_budget=40).measure(observe(model, batch))["leave_one_out"]
    for row in range(1, len(batch)):
        alone = take(batch, row)
        before = class_probabilities(model(alone))
        for t in range(1, int(batch.lengths[row]) - 1):
            keep = [i for i in range(alone.ids.shape[1]) if i != t]
            shorter = Batch(alone.ids[:, keep], alone.mask[:, keep], alone.lengths - 1, alone.labels, alone.index)
            expected = (class_probabilities(model(shorter)) - before).abs()[0, 1]
            torch.testing.assert_close(effect[row, t], expected, atol=1e-6, rtol=0)


def test_length_one_is_excluded_and_never_nan():
    model = make_model()
    columns = LeaveOneOut(model).measure(observe(model, make_batch((1, 3))))
    assert columns["excluded"] == ["fewer than two tokens", None]
    assert torch.isfinite(columns["leave_one_out"]).all()


def test_constant_attention_is_excluded_with_its_own_reason():
    model = make_model(attention="uniform")
    seen = observe(model, make_batch((1, 3, 4)))
    for protocol in (GradientCorrelation(model), LeaveOneOut(model)):
        assert protocol.measure(seen)["excluded"] == ["fewer than two tokens", *["constant scores"] * 2]


def test_padding_and_batch_composition_change_no_correlation(encoder):
    model = make_model(encoder)
    # No word twice in a sentence: to a local encoder both occurrences have one effect, and the order of two
    # differences of probabilities that are equal is rounding.
    batch = make_batch(padding=5, seed=16)
    for protocol in (GradientCorrelation(model), LeaveOneOut(model)):
        together = protocol.measure(observe(model, batch))
        for row in range(1, len(batch)):
            alone = protocol.measure(observe(model, take(batch, row)))
            torch.testing.assert_close(together["tau"][row : row + 1], alone["tau"])
            torch.testing.assert_close(together["p_value"][row : row + 1], alone["p_value"])


def test_a_repeated_word_is_a_tie_wherever_it_stands():
    model = make_model("projection")
    batch = make_batch((40,))
    batch.ids[0, [1, 8, 17, 29, 40]] = 7
    words = batch.ids[0, 1:41]
    gradient = GradientCorrelation(model).measure(observe(model, batch))
    first = torch.stack([(words == word).nonzero()[0, 0] + 1 for word in words])
    seen = observe(model, batch)
    expected = scipy.stats.kendalltau(seen.attention[0, first], gradient["gradient"][0, first])
    assert gradient["tau"].item() == pytest.approx(expected.statistic, abs=1e-12)
    assert gradient["p_value"].item() == pytest.approx(expected.pvalue, abs=1e-12)
