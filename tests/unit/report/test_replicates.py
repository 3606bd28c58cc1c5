"""The bootstrap against resampling done literally, and its coverage."""

import numpy as np
import pyarrow as pa
import pytest

from attnlab.report.comparing import interval
from attnlab.report.replicates import Counted, prepare, replicate
from attnlab.report.resampling import Resampling
from attnlab.report.spec import Statistic
from attnlab.report.statistics import STATISTICS

EXACT = (
    Statistic("mean", "tau"),
    Statistic("std", "tau", how="std"),
    Statistic("median", "tau", how="median"),
    Statistic("share", "tau", how="share", at_most=0.1),
    Statistic("where", "tau", where="chosen"),
    Statistic("accuracy", "prediction", how="accuracy"),
    Statistic("f1", "prediction", how="f1"),
    Statistic("listed", "listed", element=1),
    Statistic("accuracy_gain", "second", how="accuracy_gain", other="prediction"),
    Statistic("f1_gain", "guess", how="f1_gain", other="prediction"),
    Statistic("fewer", "first", how="fewer", other="second"),
)


@pytest.fixture
def drawn(records):
    """Records with all kinds of columns, and ten replicates of their instances."""
    rng = np.random.default_rng(3)
    n = records.num_rows
    for name in ("first", "second"):
        records = records.append_column(name, pa.array(rng.integers(-1, 4, n)))
    records = records.append_column("guess", pa.array(rng.integers(0, 2, n)))
    records = records.append_column("listed", pa.array(rng.random((n, 2)).tolist()))
    records = records.append_column("chosen", pa.array(rng.random(n) < 0.5))
    return records, np.concatenate(list(Resampling(10, seed=5).instances(n)), axis=1)


def literally(records, statistic, weights):
    """The statistic of records in which each instance stands as often as it was drawn."""
    taken = records.take(np.repeat(np.arange(len(weights)), weights.astype(int)))
    _, rows = Counted(taken).of(statistic)
    return STATISTICS[statistic.how](rows, statistic)


def test_replicates_are_the_statistics_of_the_drawn_instances(drawn):
    records, weights = drawn
    (found,) = replicate([prepare(Counted(records), EXACT)], [weights[:, :4], weights[:, 4:]])
    assert list(found) == [s.name for s in EXACT]
    for statistic in EXACT:
        expected = [literally(records, statistic, weights[:, r]) for r in range(10)]
        np.testing.assert_allclose(found[statistic.name], expected, rtol=1e-5, atol=1e-6, err_msg=statistic.name)


def test_f1_of_several_classes_is_exact_and_the_area_is_so_to_first_order():
    rng = np.random.default_rng(1)
    n = 1500
    label = rng.integers(0, 3, n)
    scores = rng.dirichlet(np.ones(3), n) + 0.5 * np.eye(3)[label]
    records = pa.table(
        {
            "label": label,
            "prediction": scores.argmax(1),
            "probabilities": scores.tolist(),
            "excluded": pa.nulls(n, pa.string()),
        }
    )
    f1, auc = Statistic("f1", "prediction", how="f1"), Statistic("auc", "probabilities", how="auc")
    (weights,) = Resampling(30).instances(n)
    (found,) = replicate([prepare(Counted(records), [f1, auc])], [weights])
    expected = {s.name: [literally(records, s, weights[:, r]) for r in range(30)] for s in (f1, auc)}
    np.testing.assert_allclose(found["f1"], expected["f1"], rtol=1e-5)
    np.testing.assert_allclose(found["auc"], expected["auc"], atol=1e-3)
    assert np.std(expected["auc"]) > 3e-3  # what is estimated


def test_draws_depend_on_the_seed_and_have_the_right_size():
    n = 40
    first, again, other = (np.concatenate(list(Resampling(50, s).instances(n)), axis=1) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert first.shape == (n, 50)
    np.testing.assert_array_equal(first.sum(0), n)
    (apart,) = Resampling(50, 1).instances(n, stream=1)
    assert (apart != first).any()
    seeds = Resampling(500).seeds(4)
    np.testing.assert_allclose(seeds.sum(1), 1)
    np.testing.assert_array_equal(np.unique(seeds * 3), [0, 1, 2, 3])  # three of four are drawn


def test_large_sets_are_drawn_in_blocks(monkeypatch):
    monkeypatch.setattr("attnlab.report.resampling.BLOCK", 1000)
    found = list(Resampling(25).instances(100))
    assert [block.shape for block in found] == [(100, 10), (100, 10), (100, 5)]
    assert (found[0] != found[1]).any()


@pytest.mark.parametrize(("between", "instance", "noise"), [(1.0, 0.0, 0.0), (0.3, 3.0, 1.0), (0.0, 1.0, 6.0)])
def test_intervals_cover_the_truth(between, instance, noise):
    """Eight seeds on 60 instances: value = seed + instance + noise, with one source or another in the lead."""
    rng = np.random.default_rng(7)
    seeds, n, trials = 8, 60, 400
    resampling = Resampling(300, seed=2)
    (weights,) = resampling.instances(n)
    chosen = resampling.seeds(seeds)
    covered = 0
    for _ in range(trials):
        values = between * rng.normal(size=(seeds, 1)) + instance * rng.normal(size=n)
        values = values + noise * rng.normal(size=(seeds, n))
        means = values @ weights / n
        low, high = interval((chosen.T * means).sum(0), 0.95)
        covered += low <= 0 <= high
    # Where seeds alone differ, eight of them give what a normal interval gives in the place of Student's: 91 %.
    assert 0.87 <= covered / trials <= 0.998
