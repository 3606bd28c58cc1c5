import pytest
import torch
from torch import nn

from attnlab.functional.prediction import class_probabilities
from attnlab.models import SequenceClassifier
from attnlab.nn import Frozen
from tests.conftest import ATTENTIONS, ENCODERS, make_batch, make_model, observe, take


def test_attention_sums_to_one_on_content_and_is_zero_elsewhere(encoder, attention):
    model, batch = make_model(encoder, attention), make_batch(padding=3)
    weights = model.attend(model.encode(batch))
    assert (weights[~batch.mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(len(batch)))


@pytest.mark.parametrize("num_classes", [2, 4])
def test_decode_equals_readout_of_the_context_for_any_attention(encoder, num_classes):
    model, batch = make_model(encoder, num_classes=num_classes), make_batch()
    encoded = model.encode(batch)
    attention = torch.softmax(torch.randn(len(batch), 3, 4, batch.ids.shape[1]), -1)
    context = torch.einsum("bijt,bth->bijh", attention, encoded.hidden)
    torch.testing.assert_close(model.decode(encoded, attention), model.readout.linear(context), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("num_classes", [2, 4])
def test_tokens_are_decoded_as_if_each_had_all_the_attention(encoder, num_classes):
    model, batch = make_model(encoder, num_classes=num_classes), make_batch()
    encoded = model.encode(batch)
    identity = torch.eye(batch.ids.shape[1]).expand(len(batch), -1, -1)
    torch.testing.assert_close(observe(model, batch).token_logits, model.decode(encoded, identity))


def test_padding_and_batch_composition_change_nothing(encoder, attention):
    model = make_model(encoder, attention)
    logits = model(make_batch())
    torch.testing.assert_close(model(make_batch(padding=6)), logits, atol=1e-6, rtol=0)
    alone = torch.cat([model(take(make_batch(padding=6), row)) for row in range(len(logits))])
    torch.testing.assert_close(alone, logits, atol=1e-6, rtol=0)


def test_scaled_dot_is_the_formula():
    model, batch = make_model("projection", "scaled_dot"), make_batch()
    encoded = model.encode(batch)
    scores = encoded.hidden @ model.attention.score.weight[0] / 8**0.5
    expected = scores.masked_fill(~batch.mask, -torch.inf).softmax(-1)
    torch.testing.assert_close(model.attend(encoded), expected)


def test_additive_is_the_formula():
    model, batch = make_model("cnn", "additive"), make_batch()
    encoded = model.encode(batch)
    projection, score = model.attention.projection, model.attention.score.weight[0]
    scores = torch.tanh(encoded.hidden @ projection.weight.T + projection.bias) @ score
    torch.testing.assert_close(model.attend(encoded), scores.masked_fill(~batch.mask, -torch.inf).softmax(-1))


def test_frozen_attention_gives_back_what_was_given_or_says_what_is_missing():
    model, batch = make_model(), make_batch()
    model.attention = Frozen(12)
    with pytest.raises(ValueError, match=r"data\.attention"):
        model(batch)
    batch.given = torch.rand(batch.ids.shape) * batch.mask
    torch.testing.assert_close(model.attend(model.encode(batch)), batch.given, atol=0, rtol=0)


def test_binary_loss_is_the_published_one():
    model, batch = make_model(), make_batch()
    model.pos_weight = 1.7
    p = class_probabilities(model(batch))
    weights = torch.where(batch.labels == 1, 1.7, 1.0)
    expected = -(weights * p.gather(1, batch.labels[:, None]).squeeze(1).log()).sum()
    torch.testing.assert_close(model.loss(model(batch), batch.labels), expected)


def test_multi_class_loss_is_summed_cross_entropy():
    model, batch = make_model(num_classes=3), make_batch()
    logits = model(batch)
    expected = nn.functional.cross_entropy(logits, batch.labels) * len(batch)
    torch.testing.assert_close(model.loss(logits, batch.labels), expected)


def test_weight_decay_spares_attention():
    model = make_model()
    model.build_optimizer = lambda groups: torch.optim.Adam(groups, lr=1e-3, weight_decay=1e-5)
    rest, attention = model.configure_optimizers().param_groups
    assert rest["weight_decay"] == 1e-5
    assert attention["weight_decay"] == 0
    assert set(attention["params"]) == set(model.attention.parameters())
    assert len(rest["params"]) + len(attention["params"]) == len(list(model.parameters()))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        SequenceClassifier(ENCODERS["bilstm"], ATTENTIONS["additive"], torch.optim.Adam, 10, 1)
