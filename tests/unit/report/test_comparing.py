"""Paired tests against scipy and against counting."""

from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from attnlab.report.comparing import compare, holm, paired_t, sign_flip, smallest_p, wilcoxon
from attnlab.report.samples import Sample
from attnlab.report.spec import Statistic


def test_the_sign_flip_test_counts_all_flips():
    rng = np.random.default_rng(0)
    for n in (2, 5, 9):
        d = rng.normal(0.4, 1, n)
        means = [abs(np.mean(np.array(signs) * d)) for signs in product((1, -1), repeat=n)]
        assert sign_flip(d) == pytest.approx(np.mean(np.array(means) >= abs(d.mean()) - 1e-12))
    expected = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert sign_flip(d) == pytest.approx(expected.pvalue)
    assert sign_flip(np.arange(1.0, 6)) == smallest_p(5) == 0.0625
    assert sign_flip(np.array([1.0])) is None


def test_random_flips_come_near_the_exact_test(monkeypatch):
    d = np.random.default_rng(1).normal(0.5, 1, 12)
    exact = sign_flip(d)
    monkeypatch.setattr("attnlab.report.comparing.EXACT_UP_TO", 3)
    assert sign_flip(d) == pytest.approx(exact, abs=0.01)


def test_t_and_wilcoxon_are_scipys():
    d = np.random.default_rng(2).normal(0.3, 1, 40)
    p, effect = paired_t(d)
    assert p == pytest.approx(stats.ttest_1samp(d, 0).pvalue)
    assert effect == pytest.approx(stats.ttest_1samp(d, 0).statistic / np.sqrt(40))
    p, r = wilcoxon(np.append(d, 0.0))
    assert p == pytest.approx(stats.wilcoxon(d).pvalue)
    above = sum(rank for rank, x in zip(stats.rankdata(abs(d)), d, strict=True) if x > 0)
    assert r == pytest.approx(2 * above / (40 * 41 / 2) - 1)
    assert paired_t(np.ones(3)) == wilcoxon(np.zeros(9)) == (None, None)


def test_holm_rejects_what_stepping_down_rejects():
    p = [0.01, None, 0.04, 0.03, 0.005]
    assert holm(p) == [pytest.approx(0.03), None, pytest.approx(0.06), pytest.approx(0.06), pytest.approx(0.02)]
    for order in permutations([0.001, 0.012, 0.02, 0.2]):
        adjusted = holm(order)
        rejected = set()
        for step, value in enumerate(sorted(order)):
            if value > 0.05 / (4 - step):
                break
            rejected.add(value)
        assert {value for value, a in zip(order, adjusted, strict=True) if a <= 0.05} == rejected


def sample(values, instances=None, replicates=None, ids="abcd"):
    """What some records said."""
    known = None if instances is None else np.array(instances, dtype=float)
    return Sample(Statistic("tau", "tau"), values, replicates, known, pa.chunked_array([list(ids)]))


def test_only_what_both_share_is_compared():
    first = sample({0: 1.0, 1: 2.0, 2: 9.0}, [1, 2, 3, np.nan], np.array([1.0, 2.0, 3.0]))
    second = sample({1: 1.0, 0: 0.5, 5: 0.0}, [0, 0, 1, 1], np.array([0.0, 0.0, np.nan]))
    found = compare(first, second, level=0.5)
    assert (found.difference, found.seeds, found.instances) == (0.75, 2, 3)
    assert (found.low, found.high) == (1.25, 1.75)
    elsewhere = compare(first, sample({7: 1.0}, [0, 0, 1, 1], ids="abce"))
    assert (elsewhere.seeds, elsewhere.instances, elsewhere.p_t, elsewhere.p_instances) == (0, 0, None, None)
