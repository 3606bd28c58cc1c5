"""The model of two texts against a slow one that reads a pair at a time and has no batches, padding or folding."""

import pytest
import torch
from torch import nn

from attnlab.functional.prediction import class_probabilities
from tests.conftest import ENCODERS, make_batch, observe
from tests.pairs import make_pair_model, make_pairs, take_pair

MECHANISMS = ("additive", "scaled_dot")


def plain_states(encoder, vectors):
    """Hidden states (T, H) of one framed sequence (T, E), and its summary (H,), written from the published code."""
    parameters = dict(encoder.named_parameters())
    inside = slice(1, len(vectors) - 1)
    if "lstm.weight_ih_l0" in parameters:
        directions = []
        for suffix, order in (("", 1), ("_reverse", -1)):
            cell = nn.LSTMCell(vectors.shape[1], encoder.output_size // 2)
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            cell.load_state_dict({name: parameters[f"lstm.{name}_l0{suffix}"] for name in names})
            state, states = None, []
            for vector in vectors.flip(0) if order < 0 else vectors:
                state = cell(vector.unsqueeze(0), state)
                states.append(state[0][0])
            directions.append(torch.stack(states[::order]))
        forward, backward = directions
        return torch.cat([forward, backward], 1), torch.cat([forward[-1], backward[0]])
    if "projection.weight" in parameters:
        states = torch.tanh(vectors @ parameters["projection.weight"].T + parameters["projection.bias"])
        return states, states[inside].mean(0)
    if not parameters:
        return vectors, vectors[inside].mean(0)
    columns = []
    for convolution in encoder.convolutions:
        reach = convolution.kernel_size[0] // 2
        framed = torch.cat(
            [vectors.new_zeros(reach, vectors.shape[1]), vectors, vectors.new_zeros(reach, vectors.shape[1])]
        )
        windows = torch.stack([framed[t : t + 2 * reach + 1] for t in range(len(vectors))])
        columns.append(torch.einsum("tkc,ock->to", windows, convolution.weight) + convolution.bias)
    states = torch.relu(torch.cat(columns, 1))
    states[0] = states[-1] = 0
    return states, states.amax(0)


def plain_model(model, ids, question, candidates):
    """Attention (T,) over the content, and logits (C,), of one pair."""
    states, _ = plain_states(model.encoder, model.embedding.weight[ids])
    _, query = plain_states(model.question_encoder, model.embedding.weight[question])
    content, attention = states[1:-1], model.attention
    if hasattr(attention, "projection"):
        scores = torch.stack(
            [attention.score(torch.tanh(attention.projection(h) + attention.query(query))) for h in content]
        )
    else:
        scores = torch.stack([h @ query / len(query) ** 0.5 for h in content])
    weights = torch.softmax(scores.flatten(), 0)
    context = sum(weight * state for weight, state in zip(weights, content, strict=True))
    logits = model.readout.output(torch.tanh(model.readout.context(context) + model.readout.query(query)))
    return weights, logits if candidates is None else logits.masked_fill(~candidates, -torch.inf)


@torch.no_grad()
@pytest.mark.parametrize("offered", [False, True])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_batch_is_the_plain_model_pair_by_pair(name, mechanism, offered):
    model, batch = make_pair_model(name, mechanism), make_pairs(padding=3, offered=offered)
    seen = observe(model, batch)
    assert (seen.attention[~batch.mask] == 0).all()
    for row in range(len(batch)):
        one = take_pair(batch, row)
        candidates = None if one.candidates is None else one.candidates[0]
        weights, logits = plain_model(model, one.ids[0], one.question_ids[0], candidates)
        torch.testing.assert_close(seen.attention[row, 1 : 1 + len(weights)], weights, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(seen.probabilities[row], torch.softmax(logits, 0), atol=1e-6, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", list(ENCODERS))
def test_padding_of_either_side_and_batch_composition_change_nothing(name, mechanism):
    model, batch = make_pair_model(name, mechanism), make_pairs(offered=True)
    p = class_probabilities(model(batch))
    torch.testing.assert_close(class_probabilities(model(make_pairs(6, offered=True))), p, atol=1e-6, rtol=0)
    alone = torch.cat([class_probabilities(model(take_pair(batch, row))) for row in range(len(batch))])
    torch.testing.assert_close(alone, p, atol=1e-6, rtol=0)


@torch.no_grad()
def test_decode_is_the_readout_of_the_context_for_any_number_of_attentions():
    model, batch = make_pair_model(), make_pairs(offered=True)
    encoded = model.encode(batch)
    attention = torch.softmax(torch.randn(len(batch), 3, 4, batch.ids.shape[1]), -1)
    context = torch.einsum("bijt,bth->bijh", attention, encoded.hidden)
    query = model.readout.query(encoded.query)[:, None, None]
    expected = model.readout.output(torch.tanh(model.readout.context(context) + query))
    expected = expected.masked_fill(~batch.candidates[:, None, None], torch.finfo(torch.float32).min)
    torch.testing.assert_close(model.decode(encoded, attention), expected, atol=1e-5, rtol=1e-5)
    double = model.finish(torch.einsum("bijt,btd->bijd", attention, model.values(encoded)).double(), encoded)
    torch.testing.assert_close(class_probabilities(double).float(), torch.softmax(expected, -1), atol=1e-5, rtol=1e-5)


def test_the_loss_is_mean_cross_entropy_and_every_parameter_decays():
    model, batch = make_pair_model(), make_pairs()
    model.on_train_epoch_start()
    expected = nn.functional.cross_entropy(model(batch), batch.labels)
    torch.testing.assert_close(model.training_step(batch, 0), expected)
    torch.testing.assert_close(model.train_loss / model.train_rows, expected.detach())
    (group,) = model.configure_optimizers().param_groups
    assert len(group["params"]) == len(list(model.parameters()))


def test_answers_that_are_not_offered_leave_loss_and_gradients_finite():
    model, batch = make_pair_model(), make_pairs(offered=True)
    model.on_train_epoch_start()
    loss = model.training_step(batch, 0)
    loss.backward()
    p = class_probabilities(model(batch)).gather(1, batch.labels.unsqueeze(1))
    torch.testing.assert_close(loss, -p.log().mean())
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())


def test_texts_without_questions_are_refused():
    with pytest.raises(TypeError, match="PairDataModule"):
        make_pair_model()(make_batch())
