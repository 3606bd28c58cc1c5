"""Protocols on sentences, and on the words of a sentence, against running the model anew."""

import pytest
import torch

from attnlab.functional.prediction import class_probabilities
from attnlab.models import WordLevel
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.permutation import Permutation
from attnlab.protocols.diagnostic.attention_leverage import AttentionLeverage
from attnlab.protocols.diagnostic.gradient_correlation import GradientCorrelation
from attnlab.protocols.diagnostic.predictions import Predictions
from attnlab.protocols.erasure.leave_one_out import LeaveOneOut
from attnlab.protocols.erasure.set_erasure import SetErasure
from attnlab.protocols.erasure.single_weight import SingleWeight
from tests.conftest import assert_same_row, observe
from tests.documents import WORD_ENCODERS, make_han, make_sentences, pack

ANY_LEVEL = (Predictions, GradientCorrelation, LeaveOneOut, Permutation, SingleWeight)
SENTENCES = (*ANY_LEVEL, AttentionLeverage, SetErasure, AdversarialAttention)


@pytest.mark.parametrize("level", ["sentence", "word"])
def test_leave_one_out_is_the_model_on_the_shorter_document(level):
    model, documents = make_han(), make_sentences()
    measured = model if level == "sentence" else WordLevel(model)
    seen = observe(measured, pack(documents, padding=2))
    effect = LeaveOneOut(measured, token_budget=9).measure(seen)["leave_one_out"]
    for row, document in enumerate(documents):
        before = class_probabilities(model(pack([document])))[0]
        part = None if level == "sentence" else int(seen.encoded.part[row])
        for place in range(len(document) if part is None else len(document[part])):
            if seen.length[row] < 2:
                continue
            shorter = without(document, place, part)
            expected = (class_probabilities(model(pack([shorter])))[0] - before).abs().sum() / 2
            torch.testing.assert_close(effect[row, place], expected, atol=1e-6, rtol=0)


def without(document, place, part):
    if part is None:
        return document[:place] + document[place + 1 :]
    return [words[:place] + words[place + 1 :] if n == part else words for n, words in enumerate(document)]


@pytest.mark.parametrize("encoder", list(WORD_ENCODERS))
def test_sentence_gradient_is_that_of_scaling_the_sentence_with_attention_constant(encoder):
    model, documents = make_han(encoder, num_classes=3), make_sentences()
    seen = observe(model, pack(documents))
    gradient = GradientCorrelation(model).measure(seen)["gradient"]
    scale = torch.ones(seen.mask.shape, dtype=torch.float64, requires_grad=True)
    double = make_han(encoder, num_classes=3).double()
    encoded = double.encode(seen.batch, double.embed(seen.batch) * scale.unsqueeze(-1))
    p = class_probabilities(double.decode(encoded, seen.attention.double()))
    (expected,) = torch.autograd.grad(p.gather(1, seen.prediction[:, None]).sum(), scale)
    torch.testing.assert_close(gradient.double(), expected.abs(), atol=1e-5, rtol=1e-3)


def test_word_gradient_is_that_of_scaling_the_word_with_its_attention_constant():
    model, documents = make_han(num_classes=3), make_sentences()
    level = WordLevel(model)
    seen = observe(level, pack(documents))
    gradient = GradientCorrelation(level).measure(seen)["gradient"]
    exact = WordLevel(make_han(num_classes=3).double())
    scale = torch.ones(seen.mask.shape, dtype=torch.float64, requires_grad=True)
    encoded = exact.encode(seen.batch, exact.embed(seen.batch).detach() * scale.unsqueeze(-1))
    p = class_probabilities(exact.decode(encoded, seen.attention.double()))
    (expected,) = torch.autograd.grad(p.gather(1, seen.prediction[:, None]).sum(), scale)
    torch.testing.assert_close(gradient.double(), expected.abs(), atol=1e-5, rtol=1e-3)


@pytest.mark.parametrize(("level", "protocols"), [("sentences", SENTENCES), ("words", ANY_LEVEL)])
def test_one_document_at_a_time_gives_the_same(level, protocols):
    model, documents = make_han(), make_sentences()
    measured = model if level == "sentences" else WordLevel(model)
    for protocol in (build(measured) for build in protocols):
        together = protocol.measure(observe(measured, pack(documents, padding=3)))
        for row, document in enumerate(documents):
            assert_same_row(together, row, protocol.measure(observe(measured, pack([document], index=[row]))))


def test_a_single_sentence_and_a_single_word_are_excluded_by_reason():
    model, documents = make_han(), [[[5, 6, 7]], [[8], [9]]]
    for protocol in (LeaveOneOut(model), GradientCorrelation(model), SetErasure(model), SingleWeight(model)):
        assert protocol.measure(observe(model, pack(documents)))["excluded"][0] == "fewer than two sentences"
    words = WordLevel(model)
    assert Permutation(words).measure(observe(words, pack(documents)))["excluded"] == [None, "fewer than two words"]
