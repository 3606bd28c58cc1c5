import itertools
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from attnlab.functional import rank_correlation
from attnlab.functional.rank_correlation import kendall_tau


def _reference(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = kendalltau(x, y)
    return result.statistic, result.pvalue


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_equals_scipy_with_and_without_ties_and_padding(n, seed, ties_x, ties_y):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n))
    x = np.round(x) if ties_x else x
    y = np.round(2 * y) if ties_y else y
    padded = [np.concatenate([rng.normal(size=2), v, rng.normal(size=3)]) for v in (x, y)]
    mask = torch.zeros(1, n + 5, dtype=torch.bool)
    mask[0, 2 : n + 2] = True
    tau, p = kendall_tau(*(torch.from_numpy(v)[None] for v in padded), mask)
    np.testing.assert_allclose((tau.item(), p.item()), _reference(x, y), atol=1e-12)


def test_brute_force_over_pairs_with_ties():
    x, y = [3, 1, 1, 2, 5, 5], [1, 1, 2, 4, 4, 9]
    sign = [(np.sign(a - b), np.sign(c - d)) for (a, c), (b, d) in itertools.combinations(zip(x, y, strict=True), 2)]
    expected = sum(a * b for a, b in sign) / np.sqrt(sum(a != 0 for a, _ in sign) * sum(b != 0 for _, b in sign))
    tau, _ = kendall_tau(torch.tensor([x]), torch.tensor([y]), torch.ones(1, 6, dtype=torch.bool))
    assert tau.item() == pytest.approx(expected, abs=1e-12)


def test_scores_apart_by_rounding_are_tied_and_chains_of_them_too():
    x = torch.tensor([[1e-6, 0.1, 0.1, 0.1, 0.3, 0.7]])
    for _ in range(3):
        x[0, 2] = torch.nextafter(x[0, 2], torch.tensor(1.0))
        x[0, 3] = torch.nextafter(x[0, 3], torch.tensor(0.0))
    y = torch.tensor([[0.0, 3.0, 1.0, 2.0, 5.0, 4.0]])
    mask = torch.ones(1, 6, dtype=torch.bool)
    tau, p = kendall_tau(x, y, mask)
    expected = _reference([0, 1, 1, 1, 2, 3], y[0])
    np.testing.assert_allclose((tau.item(), p.item()), expected, atol=1e-12)
    # Small scores are told apart by their own size, not by that of the largest.
    small = kendall_tau(x * torch.tensor([1, 1e-9, 1.1e-9, 0.9e-9, 1, 1]), y, mask)[0]
    assert small.item() == pytest.approx(_reference([4, 2, 3, 1, 5, 6], y[0])[0])


@pytest.mark.parametrize(("n", "smallest"), [(3, 1 / 3), (4, 1 / 12), (5, 1 / 60)])
def test_short_rows_cannot_be_significant(n, smallest):
    x = torch.arange(n)[None]
    _, p = kendall_tau(x, x, torch.ones(1, n, dtype=torch.bool))
    assert p.item() == pytest.approx(smallest)


def test_undefined_rows_are_nan():
    x = torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[True, True, True], [True, False, False]])
    tau, p = kendall_tau(x, x, mask)
    assert tau.isnan().all()
    assert p.isnan().all()


def test_groups_of_rows_change_nothing(monkeypatch):
    torch.manual_seed(0)
    x, y, mask = torch.randn(30, 12), torch.randn(30, 12), torch.rand(30, 12) > 0.3
    whole = kendall_tau(x, y, mask)
    monkeypatch.setattr(rank_correlation, "PAIR_BUDGET", 300)
    torch.testing.assert_close(kendall_tau(x, y, mask), whole, equal_nan=True)
