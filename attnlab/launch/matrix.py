"""Combinations of axes, with the meaning of a GitHub Actions matrix and zipped axes beside it."""

import itertools
from collections.abc import Mapping, Sequence

Combination = dict[str, str]
"""Value of each axis, as text."""


def combinations(
    grid: Mapping[str, Sequence[str]],
    zipped: Mapping[str, Sequence[str]],
    include: Sequence[Mapping[str, str]] = (),
    exclude: Sequence[Mapping[str, str]] = (),
) -> list[Combination]:
    """Every combination of a study.

    As in a GitHub Actions matrix, ``exclude`` is applied before ``include``. An entry of ``include`` is added to each
    combination whose axes it does not contradict, where it may replace what an earlier entry added; an entry that fits
    none becomes a combination of its own, to which later entries are not added.

    Args:
        grid: Axes of which every combination is made.
        zipped: Axes that advance together, all of the same length.
        include: Values to add to combinations, or combinations to add.
        exclude: Combinations to leave out: those that have all values of an entry.

    Returns:
        Combinations in the order of the axes, the last axis fastest; zipped axes after the grid; then those of
        ``include``.

    Source:
        https://docs.github.com/en/actions/using-jobs/using-a-matrix-for-your-jobs
    """
    originals = [c for c in _products(grid, zipped) if not any(_has(c, entry) for entry in exclude)]
    extended = [dict(c) for c in originals]
    axes = {*grid, *zipped}
    alone = []
    for entry in include:
        own = {key: value for key, value in entry.items() if key in axes}
        fitting = [new for new, original in zip(extended, originals, strict=True) if _has(original, own)]
        for combination in fitting:
            combination.update(entry)
        if not fitting:
            alone.append(dict(entry))
    return extended + alone


def _products(grid: Mapping[str, Sequence[str]], zipped: Mapping[str, Sequence[str]]) -> list[Combination]:
    if not grid and not zipped:
        return []
    rows = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    together = [dict(zip(zipped, values, strict=True)) for values in zip(*zipped.values(), strict=True)]
    return [{**row, **more} for row in rows for more in together or [{}]]


def _has(combination: Mapping[str, str], entry: Mapping[str, str]) -> bool:
    return all(combination.get(key) == value for key, value in entry.items())
