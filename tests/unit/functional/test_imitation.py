import math

import pytest
import torch

from attnlab.functional.imitation import imitation_loss

BASE = torch.tensor([[0.1, 0.9]])
OTHER = torch.tensor([[0.6, 0.4]])
UNIFORM = torch.tensor([[0.5, 0.5, 0.0]])
POINT = torch.tensor([[1.0, 0.0, 0.0]])


def test_loss_is_distance_of_predictions_less_divergence_of_attention():
    loss = imitation_loss(OTHER, POINT, BASE, UNIFORM, strength=0.1)
    assert loss.tolist() == pytest.approx([0.5 - 0.1 * math.log(2)])
    halved = imitation_loss(OTHER, POINT, BASE, UNIFORM, strength=0.1, total_variation="published_code")
    assert halved.tolist() == pytest.approx([0.25 - 0.1 * math.log(2)])


def test_zero_weights_of_either_model_give_a_finite_loss_and_gradient():
    scores = torch.tensor([[0.0, 1.0, -200.0]], requires_grad=True)
    attention = scores.softmax(-1)
    loss = imitation_loss(OTHER, attention, BASE, POINT, strength=1.0)
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert loss < -50  # mass where the base has none is very far away
    assert torch.isfinite(scores.grad).all()


def test_the_same_predictions_and_attention_cost_nothing():
    assert imitation_loss(BASE, UNIFORM, BASE, UNIFORM, strength=3.0).tolist() == [0.0]
