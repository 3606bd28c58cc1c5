import math

import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from attnlab.functional.divergence import (
    jensen_shannon_divergence,
    kl_divergence,
    total_variation_distance,
)


@pytest.fixture
def distributions():
    torch.manual_seed(0)
    p, q = torch.softmax(3 * torch.randn(2, 20, 9, dtype=torch.float64), -1)
    p[:, :3] = 0
    q[:, 2:4] = 0
    return p / p.sum(-1, keepdim=True), q / q.sum(-1, keepdim=True)


def test_jsd_equals_scipy_with_zeros_in_both(distributions):
    p, q = distributions
    expected = torch.from_numpy(jensenshannon(p.numpy(), q.numpy(), axis=-1) ** 2)
    torch.testing.assert_close(jensen_shannon_divergence(p, q), expected)
    torch.testing.assert_close(jensen_shannon_divergence(q, p), expected)


def test_kl_equals_scipy_where_defined(distributions):
    p, q = distributions
    mixture = (p + q) / 2
    torch.testing.assert_close(kl_divergence(p, mixture), torch.from_numpy(entropy(p, mixture, axis=-1)))


def test_jsd_reaches_its_bounds():
    p = torch.tensor([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    q = torch.tensor([[0.0, 0.4, 0.6], [0.2, 0.3, 0.5]])
    torch.testing.assert_close(jensen_shannon_divergence(p, q), torch.tensor([math.log(2), 0.0]))


def test_kl_has_a_finite_gradient_where_both_are_zero():
    p = torch.tensor([0.5, 0.5, 0.0], requires_grad=True)
    kl_divergence(p, torch.tensor([0.25, 0.75, 0.0])).backward()
    assert torch.isfinite(p.grad).all()


def test_total_variation_of_two_classes_is_the_change_of_one_probability():
    p, q = torch.tensor([0.9, 0.1]), torch.tensor([0.35, 0.65])
    torch.testing.assert_close(total_variation_distance(p, q), torch.tensor(0.55))
