import doctest

import pytest
import torch

from attnlab.functional import perturbation
from attnlab.functional.perturbation import area_over_curve, bin_counts


def test_bins_are_rounded_up_and_none_is_empty():
    counts = bin_counts(torch.tensor([1, 2, 5, 20, 100, 101]))
    assert counts.tolist() == [
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 3],
        [1, 1, 2, 4, 10],
        [1, 5, 10, 20, 50],
        [2, 6, 11, 21, 51],
    ]


def test_a_share_that_floating_point_makes_too_large_is_not_rounded_up():
    assert bin_counts(torch.tensor([100]), [0.07, 0.29, 1.0]).tolist() == [[7, 29, 100]]


def test_the_area_is_the_mean_over_bins_or_with_an_empty_one():
    changes = torch.tensor([[0.1, 0.2, 0.3, 0.4, 0.5], [0.0, 0.0, 0.0, 0.0, -1.0]])
    assert area_over_curve(changes).tolist() == pytest.approx([0.3, -0.2])
    assert area_over_curve(changes, "paper").tolist() == pytest.approx([0.25, -1 / 6])
    assert doctest.testmod(perturbation).failed == 0
