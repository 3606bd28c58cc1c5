"""The hierarchical family against loops over sentences and words, and against itself in other company."""

from functools import partial

import pytest
import torch

from attnlab.models import WordLevel
from attnlab.nn import BiGRU, Convolution, Frozen, Glorot
from tests.conftest import make_batch, observe
from tests.documents import RAGGED, WORD_ENCODERS, make_han, make_sentences, pack

encoders = pytest.mark.parametrize("encoder", list(WORD_ENCODERS))


def gru_by_hand(gru, inputs, suffix=""):
    """One direction, gate by gate."""
    weights = [getattr(gru, f"{name}_l0{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    hidden, states = torch.zeros(gru.hidden_size), []
    for x in inputs:
        given = (weights[0] @ x + weights[2]).chunk(3)
        kept = (weights[1] @ hidden + weights[3]).chunk(3)
        reset, update = torch.sigmoid(given[0] + kept[0]), torch.sigmoid(given[1] + kept[1])
        hidden = (1 - update) * torch.tanh(given[2] + reset * kept[2]) + update * hidden
        states.append(hidden)
    return states


def encode_by_hand(encoder, vectors):
    """Hidden states of one sequence (n, E), position by position."""
    if isinstance(encoder, BiGRU):
        forth = gru_by_hand(encoder.gru, vectors)
        back = gru_by_hand(encoder.gru, vectors.flip(0), "_reverse")[::-1]
        return torch.stack([torch.cat(pair) for pair in zip(forth, back, strict=True)])
    if isinstance(encoder, Convolution):
        states = []
        for place in range(len(vectors)):
            channels = []
            for convolution in encoder.convolutions:
                total, reach = convolution.bias.clone(), convolution.kernel_size[0] // 2
                for step in range(-reach, reach + 1):
                    if 0 <= place + step < len(vectors):
                        total = total + convolution.weight[:, :, step + reach] @ vectors[place + step]
                channels.append(total)
            states.append(torch.relu(torch.cat(channels)))
        return torch.stack(states)
    return vectors


def attend_by_hand(attention, states):
    scores = [attention.score.weight[0] @ torch.tanh(attention.projection(state)) for state in states]
    return torch.softmax(torch.stack(scores), 0)


def run_by_hand(model, document, word_attention=None):
    """Sentence attention and logits of one document; ``word_attention`` replaces that of some sentences."""
    vectors = []
    for number, words in enumerate(document):
        states = encode_by_hand(model.word_encoder, model.embedding.weight[words])
        weights = (word_attention or {}).get(number)
        vectors.append((attend_by_hand(model.word_attention, states) if weights is None else weights) @ states)
    states = encode_by_hand(model.encoder, torch.stack(vectors))
    attention = attend_by_hand(model.attention, states)
    return attention, model.readout.linear(attention @ states)


@encoders
@pytest.mark.parametrize("num_classes", [2, 3])
@torch.no_grad()
def test_attention_and_logits_are_those_of_loops(encoder, num_classes):
    model, documents = make_han(encoder, num_classes), make_sentences()
    seen = observe(model, pack(documents))
    for row, document in enumerate(documents):
        attention, logits = run_by_hand(model, document)
        torch.testing.assert_close(seen.attention[row, : len(document)], attention, atol=1e-6, rtol=1e-5)
        assert (seen.attention[row, len(document) :] == 0).all()
        torch.testing.assert_close(seen.logits[row], logits, atol=1e-5, rtol=1e-5)


@encoders
@torch.no_grad()
def test_padding_and_batch_composition_change_nothing(encoder):
    model, documents = make_han(encoder), make_sentences()
    together = model(pack(documents))
    torch.testing.assert_close(model(pack(documents, padding=4)), together, atol=1e-6, rtol=0)
    alone = torch.cat([model(pack([document])) for document in documents])
    torch.testing.assert_close(alone, together, atol=1e-6, rtol=0)
    torch.testing.assert_close(model(pack(documents[::-1])), together.flip(0), atol=1e-6, rtol=0)


@encoders
@torch.no_grad()
def test_word_attention_is_changed_by_running_the_document_level_again(encoder):
    model, documents = make_han(encoder, num_classes=3), make_sentences()
    seen = observe(WordLevel(model), pack(documents, padding=2))
    torch.testing.assert_close(seen.logits, model(pack(documents)), atol=1e-6, rtol=0)
    counterfactual = torch.rand(len(documents), 2, 4, seen.mask.shape[1]) * seen.mask[:, None, None]
    counterfactual /= counterfactual.sum(-1, keepdim=True)
    logits = seen.model.decode(seen.encoded, counterfactual)
    for row, document in enumerate(documents):
        part = int(run_by_hand(model, document)[0].argmax())
        assert part == seen.encoded.part[row]
        assert int(seen.length[row]) == len(document[part])
        for i in range(2):
            for j in range(4):
                weights = {part: counterfactual[row, i, j, : len(document[part])]}
                expected = run_by_hand(model, document, weights)[1]
                torch.testing.assert_close(logits[row, i, j], expected, atol=1e-5, rtol=1e-5)


def test_every_parameter_learns_and_dropout_is_for_training_alone():
    model = make_han(dropout=0.5)
    batch = pack(make_sentences())
    calm = model(batch)
    torch.testing.assert_close(model(batch), calm, atol=0, rtol=0)
    model.train()
    assert not torch.allclose(model(batch), calm)
    model.loss(model(batch), batch.labels).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


def test_texts_without_sentences_and_frozen_words_are_refused():
    model = make_han()
    with pytest.raises(TypeError, match="DocumentDataModule"):
        model(make_batch())
    with pytest.raises(ValueError, match="word_attention cannot be frozen"):
        type(model)(
            WORD_ENCODERS["gru"], Frozen, WORD_ENCODERS["gru"], attention=Frozen, optimizer=None, vocab_size=9,
            num_classes=2,
        )  # fmt: skip


def test_the_scheduler_follows_dev_accuracy():
    model = make_han(scheduler=partial(torch.optim.lr_scheduler.ReduceLROnPlateau, mode="max", factor=0.5, patience=0))
    configured = model.configure_optimizers()
    scheduler = configured["lr_scheduler"]["scheduler"]
    assert configured["lr_scheduler"]["monitor"] == "val/accuracy"
    for accuracy in (0.5, 0.4):
        scheduler.step(accuracy)
    assert configured["optimizer"].param_groups[0]["lr"] == 5e-4


def test_sentences_lie_in_a_row():
    batch = pack(make_sentences())
    assert batch.ids.shape == (sum(map(len, RAGGED)), 9)
    assert len(batch) == len(RAGGED)
    assert type(batch.to("cpu")) is type(batch)


def test_parameters_start_as_published():
    model = make_han(initialise=Glorot())
    for encoder in (model.word_encoder, model.encoder):
        recurrent = encoder.gru.weight_hh_l0_reverse.detach()
        torch.testing.assert_close(recurrent.T @ recurrent, torch.eye(4))
        assert encoder.gru.bias_hh_l0.tolist() == [0.0] * 3 + [1.0] * 3 + [0.0] * 6
    assert (model.readout.linear.bias == 0).all()
    assert (model.word_attention.projection.bias == 0).all()
    bound = 3 * (6 / (8 + 8)) ** 0.5  # make_han scales attention by 3
    assert bound / 2 < model.word_attention.projection.weight.abs().max() <= bound
