"""Protocols on models of two texts, against running the model anew."""

from dataclasses import replace

import pyarrow as pa
import pytest
import torch

from attnlab.functional.prediction import class_probabilities
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.permutation import Permutation
from attnlab.protocols.diagnostic.gradient_correlation import GradientCorrelation
from attnlab.protocols.diagnostic.predictions import Predictions
from attnlab.protocols.erasure.leave_one_out import LeaveOneOut
from attnlab.protocols.erasure.set_erasure import SetErasure
from attnlab.protocols.erasure.single_weight import SingleWeight
from attnlab.records import to_arrow
from attnlab.report.summary import summarise
from tests.conftest import ENCODERS, assert_same_row, observe
from tests.pairs import TEXTS, make_pair_model, make_pairs, take_pair

PROTOCOLS = (Predictions, GradientCorrelation, LeaveOneOut, Permutation, SingleWeight, SetErasure)


def without(pair, place):
    """A pair whose text lacks the token at a position."""
    kept = torch.arange(pair.ids.shape[1]) != place
    return replace(pair, ids=pair.ids[:, kept], mask=pair.mask[:, kept], lengths=pair.lengths - 1)


@torch.no_grad()
@pytest.mark.parametrize("name", list(ENCODERS))
def test_leave_one_out_is_the_model_on_the_shorter_text_with_the_same_question(name):
    model, batch = make_pair_model(name), make_pairs(padding=2, offered=True)
    effect = LeaveOneOut(model, token_budget=50).measure(observe(model, batch))["leave_one_out"]
    for row, length in enumerate(TEXTS):
        pair = take_pair(batch, row)
        before = class_probabilities(model(pair))
        for place in range(1, length + 1) if length > 1 else ():
            change = (class_probabilities(model(without(pair, place))) - before).abs().sum() / 2
            torch.testing.assert_close(effect[row, place], change, atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_the_gradient_is_that_of_scaling_a_token_of_the_text_with_attention_and_question_constant(name):
    model, batch = make_pair_model(name), make_pairs(offered=True)
    seen = observe(model, batch)
    gradient = GradientCorrelation(model).measure(seen)["gradient"]
    exact = make_pair_model(name).double()
    scale = torch.ones(seen.mask.shape, dtype=torch.float64, requires_grad=True)
    encoded = exact.encode(batch, exact.embed(batch).detach() * scale.unsqueeze(-1))
    p = class_probabilities(exact.decode(encoded, seen.attention.double()))
    (expected,) = torch.autograd.grad(p.gather(1, seen.prediction[:, None]).sum(), scale)
    torch.testing.assert_close(gradient.double(), expected.abs(), atol=1e-5, rtol=1e-3)


@torch.no_grad()
@pytest.mark.parametrize("replacement", ["renormalise", "zero", "mean"])
def test_erased_weights_flip_where_the_model_with_those_weights_does(replacement):
    model, batch = make_pair_model(), make_pairs()
    seen, protocol = observe(model, batch), SetErasure(model, draws=2, replacement=replacement)
    orders = protocol.orders(seen)
    columns = protocol.measure(seen)
    assert not [name for name in columns if "optimal" in name]
    for i, name in enumerate(protocol.names):
        for row, length in enumerate(TEXTS):
            attention, flip = seen.attention[row].clone(), -1
            for k, place in enumerate(orders[row, i, :length].tolist(), start=1):
                attention[place] = 0
                rest = attention / attention.sum().clamp_min(1e-12) if replacement == "renormalise" else attention
                if replacement == "mean":
                    rest = attention + batch.mask[row] / length * (1 - attention.sum())
                if flip < 0 and seen.predict(rest.expand(len(batch), -1))[row].argmax() != seen.prediction[row]:
                    flip = k
            assert columns[f"removed_{name}"][row] == flip


def test_one_pair_at_a_time_gives_the_same():
    model, batch = make_pair_model(), make_pairs(padding=3, offered=True)
    for protocol in (build(model) for build in PROTOCOLS):
        together = protocol.measure(observe(model, batch))
        for row in range(len(batch)):
            assert_same_row(together, row, protocol.measure(observe(model, take_pair(batch, row))))


def test_adversaries_stay_within_epsilon_and_answers_not_on_offer_stay_at_zero():
    model, batch = make_pair_model(), make_pairs(offered=True)
    seen = observe(model, batch)
    assert (seen.probabilities[~batch.candidates] == 0).all()
    columns = AdversarialAttention(model, epsilon=0.05, steps=60, learning_rate=0.1).measure(seen)
    assert (columns["tvd"] <= 0.05 + 1e-6).all()
    assert torch.isfinite(columns["jsd"]).all()
    assert columns["jsd"].max() > 0.05


def test_every_record_can_be_summarised():
    model, batch = make_pair_model(), make_pairs(offered=True)
    for build in PROTOCOLS:
        protocol = build(model)
        table = to_arrow(protocol.test_step(batch, 0), batch.mask)
        summary = summarise(pa.table(table), protocol.statistics, ["a", "b", "c"])
        assert summary["measured"] >= 3
