"""Paired comparisons: two settings by one statistic, or two statistics of one setting."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from attnlab.report.resampling import Floats
from attnlab.report.samples import Sample
from attnlab.report.statistics import average_ranks

EXACT_UP_TO = 14
"""Seeds for which all sign flips are counted; for more, random ones are."""

RANDOM_FLIPS = 20_000


@dataclass(frozen=True)
class Comparison:
    """First minus second.

    Attributes:
        difference: Mean over the common seeds; NaN where there are none.
        low: Lower end of the bootstrap interval over seeds and instances; None where the statistic has none.
        high: Upper end.
        seeds: Number of common seeds.
        p_flip: Two-sided p of the sign-flip permutation test over seeds; at least 2^(1 - seeds).
        p_t: Two-sided p of the paired t test over seeds.
        d: Cohen's d of the paired differences over seeds: their mean over their standard deviation.
        instances: Instances that both have.
        p_instances: Two-sided p of the Wilcoxon signed-rank test over instances, each averaged over seeds.
        r: Matched-pairs rank-biserial correlation of that test, from -1 to 1.
    """

    difference: float
    low: float | None
    high: float | None
    seeds: int
    p_flip: float | None
    p_t: float | None
    d: float | None
    instances: int
    p_instances: float | None
    r: float | None


def p_of_difference(first: Sample, second: Sample) -> float | None:
    """Two-sided p over the common seeds where there are several, else over instances; only that test is made."""
    over_seeds = _over_seeds(first, second)
    if len(over_seeds) < 2:
        return wilcoxon(_over_instances(first, second))[0]
    p, _ = paired_t(over_seeds)
    if p is None:
        return 1.0 if over_seeds[0] == 0 else 0.0
    return p


def compare(first: Sample, second: Sample, level: float = 0.95) -> Comparison:
    """Test first against second by what they share.

    Args:
        first: A sample.
        second: Another on the same data set and split.
        level: Of the interval.
    """
    over_seeds = _over_seeds(first, second)
    over_instances = _over_instances(first, second)
    p_instances, r = wilcoxon(over_instances)
    low, high = _interval(first, second, level)
    p_t, d = paired_t(over_seeds)
    difference = float(over_seeds.mean()) if len(over_seeds) else float("nan")
    p_flip = sign_flip(over_seeds)
    return Comparison(difference, low, high, len(over_seeds), p_flip, p_t, d, len(over_instances), p_instances, r)


def _over_seeds(first: Sample, second: Sample) -> Floats:
    common = [seed for seed in first.values if seed in second.values]
    differences: Floats = np.array([first.values[seed] - second.values[seed] for seed in common])
    return differences[np.isfinite(differences)]


def _over_instances(first: Sample, second: Sample) -> Floats:
    if first.instances is None or second.instances is None or not first.ids.equals(second.ids):
        return np.empty(0)
    differences = first.instances - second.instances
    return differences[np.isfinite(differences)]


def _interval(first: Sample, second: Sample, level: float) -> tuple[float | None, float | None]:
    if first.replicates is None or second.replicates is None:
        return None, None
    return interval(first.replicates - second.replicates, level)


def interval(replicates: Floats, level: float) -> tuple[float | None, float | None]:
    """Percentile interval; replicates without a value do not count."""
    known = replicates[np.isfinite(replicates)]
    if not len(known):
        return None, None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def sign_flip(differences: Floats) -> float | None:
    """Two-sided p of the mean under random signs; exact for few differences, else from random flips with the +1 rule.

    Args:
        differences: Paired differences, (n,).
    """
    n = len(differences)
    if n < 2:
        return None
    if n <= EXACT_UP_TO:
        signs = np.array(list(product((1, -1), repeat=n - 1)))
        sums = np.abs(differences[0] + signs @ differences[1:])
        return float((sums >= abs(differences.sum()) * (1 - 1e-12)).mean())
    signs = np.random.default_rng(0).choice((1.0, -1.0), (RANDOM_FLIPS, n))
    extreme = int((np.abs(signs @ differences) >= abs(differences.sum()) * (1 - 1e-12)).sum())
    return (extreme + 1) / (RANDOM_FLIPS + 1)


def smallest_p(seeds: int) -> float:
    """What a sign-flip test over so many seeds can reach at best."""
    return 2.0 ** (1 - seeds)


def paired_t(differences: Floats) -> tuple[float | None, float | None]:
    """Two-sided p of the paired t test, and Cohen's d; None where all differences are alike or there is one."""
    from scipy.special import stdtr

    n = len(differences)
    if n < 2 or np.ptp(differences) == 0:
        return None, None
    d = float(differences.mean() / differences.std(ddof=1))
    return float(2 * stdtr(n - 1, -abs(d) * np.sqrt(n))), d


def wilcoxon(differences: Floats) -> tuple[float | None, float | None]:
    """Two-sided p of the signed-rank test, zeros left out, and the rank-biserial correlation."""
    differences = differences[differences != 0]
    if len(differences) < 2:
        return None, None
    # Half a second to load, which only a test over instances is worth.
    from scipy.stats import wilcoxon as signed_rank

    ranks = average_ranks(np.abs(differences))
    r = float((ranks * np.sign(differences)).sum() / ranks.sum())
    return float(signed_rank(differences).pvalue), r


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjusted for the number of tests by Holm's step-down rule; None stays None and does not count."""
    order = sorted((value, position) for position, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for rank, (value, position) in enumerate(order):
        largest = max(largest, min(1.0, value * (len(order) - rank)))
        adjusted[position] = largest
    return adjusted
