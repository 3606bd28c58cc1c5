"""What is missing from a grid of results."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from attnlab.report.grid import Grid, Place


def find_holes(folder: Path, grid: Grid) -> list[Place]:
    """Places without a result.

    In a sweep, those that its cells ask for. In a store, those that make the full product of its data sets, settings,
    protocols and seeds.

    Args:
        folder: Of the sweep or store.
        grid: Results in their places.
    """
    return grid.missing if (folder / "cells").is_dir() else list(_product_holes(grid))


def _product_holes(grid: Grid) -> Iterator[Place]:
    for split in sorted({place.split for place in grid.cells}):
        places = [place for place in grid.cells if place.split == split]
        rows = {(place.data, place.setting, place.protocol) for place in places}
        data, settings, protocols = (sorted(set(names)) for names in zip(*rows, strict=True))
        seeds = sorted({place.seed for place in places})
        for name, setting, protocol, seed in product(data, settings, protocols, seeds):
            place = Place(name, setting, protocol, split, seed)
            if place not in grid.cells:
                yield place


def describe(holes: Sequence[Place]) -> str:
    """How many there are, and the first."""
    first = holes[0]
    where = f"{first.data}, {first.setting}, {first.protocol}, seed {first.seed}"
    return f"{len(holes)} result{'s are' if len(holes) > 1 else ' is'} missing, such as {where}"


def refusal(holes: Sequence[Place]) -> str:
    """What to do about them, in one line."""
    return (
        f"the grid has holes: {describe(holes)}; run what is missing, narrow the report down (data=… seed=…), "
        "or mark them with --incomplete"
    )
