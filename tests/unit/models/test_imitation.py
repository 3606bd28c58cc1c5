"""The objective of an adversary, on a batch."""

import dataclasses

import pytest
import torch

from attnlab.functional.prediction import class_probabilities
from attnlab.models.imitation import Imitation
from tests.conftest import make_batch, make_model


@pytest.fixture
def pair():
    """A model, and a batch that brings what another one says of it."""
    model, base, batch = make_model(), make_model(seed=1), make_batch()
    with torch.no_grad():
        encoded = base.encode(batch)
        attention = base.attend(encoded)
        probabilities = class_probabilities(base.decode(encoded, attention))
    return model, dataclasses.replace(batch, given=attention, given_probabilities=probabilities)


def test_the_published_weighting_multiplies_by_the_weights_of_the_labels(pair):
    model, batch = pair
    model.pos_weight = 3.0
    batch = dataclasses.replace(batch, labels=torch.tensor([1, 0, 1, 1, 0]))
    plain, weighted = (Imitation(0.5, weighting=name)(model, batch) for name in ("paper", "published_code"))
    assert weighted.item() == pytest.approx(plain.item() * (3 * 3 + 2), rel=1e-6)


def test_an_unknown_definition_is_refused():
    with pytest.raises(ValueError, match="weighting=code: choose one of paper, published_code"):
        Imitation(0.5, weighting="code")
