"""What is missing from a grid of results."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from attnlab.inspect.cells import read_cells as read_states
from attnlab.report.cells import ResultCell
from attnlab.report.grid import Grid, Place


def find_holes(folder: Path, grid: Grid, chosen: bool) -> list[Place]:
    """Places without a result.

    In a sweep, those that its cells ask for. In a store, those that make the full product of its data sets, settings,
    protocols and seeds.

    Args:
        folder: Of the sweep or store.
        grid: Results in their places.
        chosen: Whether results were filtered; then a place counts only if all its names are among theirs.
    """
    if not (folder / "cells").is_dir():
        return list(_product_holes(grid))
    holes = list(_planned_holes(folder, grid))
    if not chosen:
        return holes
    known = [{place[axis] for place in grid.cells} for axis in (0, 1, 2, 4)]
    return [hole for hole in holes if all(hole[a] in names for a, names in zip((0, 1, 2, 4), known, strict=True))]


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


def _planned_holes(sweep: Path, grid: Grid) -> Iterator[Place]:
    have = {cell.key for cell in grid.cells.values()}
    settings = {_made(cell): place.setting for place, cell in grid.cells.items()}
    splits = {place.split for place in grid.cells}
    split = splits.pop() if len(splits) == 1 else ""
    for state in read_states(sweep)[0]:
        choices = state.keys["choices"]
        made = tuple(str(choices.get(name, "")) for name in ("model", "model/attention", "vectors"))
        setting = settings.get(made, " ".join(filter(None, made)))
        for protocol, key in state.keys["results"].items():
            if key not in have:
                yield Place(str(choices.get("data")), setting, protocol, split, state.keys["seed"])


def _made(cell: ResultCell) -> tuple[str, ...]:
    return cell.model, cell.attention, cell.vectors


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
