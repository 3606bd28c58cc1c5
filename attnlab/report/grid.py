"""The grid that results make: data sets, settings, protocols and seeds."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from attnlab.inspect.text import value_text
from attnlab.report.cells import Asked, ResultCell
from attnlab.store.key import PROTOCOL_INDIFFERENT, TRAINER_INDIFFERENT

MAKERS = ("data", "model", "vectors", "trainer", "selection", "callbacks")
"""Parts of a configuration that decide what a model becomes."""


class Place(NamedTuple):
    """Where a result stands in the grid.

    Attributes:
        data: Name of the data set.
        setting: What was trained: the model, and its attention, vectors and options where these are not all the same.
        protocol: Its name, and the options that are not all the same.
        split: Split that was measured.
        seed: Seed.
    """

    data: str
    setting: str
    protocol: str
    split: str
    seed: int


class Grid(NamedTuple):
    """Results in their places.

    Attributes:
        cells: One result per place.
        doubles: A line about each result that gave way to a newer one of the same place.
        missing: Places of what is asked for and has no result.
    """

    cells: dict[Place, ResultCell]
    doubles: list[str]
    missing: list[Place]


def make_grid(cells: Sequence[ResultCell], missing: Sequence[Asked] = ()) -> Grid:
    """Put results in their places, with names that tell apart what differs and say no more.

    Args:
        cells: Results.
        missing: What is asked for beside them; it has its places, and its part in the names, as if it were there.
    """
    asked = [*cells, *missing]
    settings, protocols = _settings(asked), _protocols(asked)

    def place_of(cell: Asked) -> Place:
        return Place(cell.data, settings[cell.group], protocols[cell.key], cell.split, cell.seed)

    first = {made: order for order, made in reversed(list(enumerate(map(_made, cells))))}

    def order_of(cell: ResultCell) -> tuple[Any, ...]:
        # Numbers in names by their value: a width of 9 comes before one of 11.
        place = place_of(cell)
        return (first[_made(cell)], _natural(place.setting), _natural(place.protocol), *place[3:], cell.key)

    placed: dict[Place, ResultCell] = {}
    doubles = []
    for cell in sorted(cells, key=order_of):
        place = place_of(cell)
        other = placed.get(place)
        if other is None:
            placed[place] = cell
            continue
        # The same configuration with other files behind it, or measured by an earlier version.
        older, newer = sorted((cell, other), key=lambda c: (c.folder / "summary.json").stat().st_mtime)
        placed[place] = newer
        doubles.append(f"{older.folder}: {newer.key} is newer and was made from the same configuration")
    holes = dict.fromkeys(place_of(cell) for cell in missing)
    return Grid(placed, doubles, [place for place in holes if place not in placed])


def _made(cell: Asked) -> tuple[str, ...]:
    return cell.data, cell.model, cell.attention, cell.vectors


def _natural(text: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"([0-9]+)", text)]


def by_setting(grid: Grid) -> dict[tuple[str, str, str], dict[str, list[ResultCell]]]:
    """Results of all seeds together: by data set, setting and split, and there by protocol."""
    found: dict[tuple[str, str, str], dict[str, list[ResultCell]]] = {}
    for place, cell in grid.cells.items():
        own = found.setdefault((place.data, place.setting, place.split), {})
        own.setdefault(place.protocol, []).append(cell)
    return found


def _settings(cells: Iterable[Asked]) -> dict[str, str]:
    """Name of what was trained in each group."""
    first = {cell.group: cell for cell in cells}
    attentions = {cell.attention for cell in first.values()}
    vectors = {cell.vectors for cell in first.values()}
    named = {
        group: " ".join([cell.model, *[cell.attention] * (len(attentions) > 1), *[cell.vectors] * (len(vectors) > 1)])
        for group, cell in first.items()
    }
    options = {group: _flat(_makers(cell.config)) for group, cell in first.items()}
    suffix = _differences(options, lambda group: (named[group], first[group].data, first[group].split), named.get)
    return {group: " ".join(filter(None, (name, suffix[group]))) for group, name in named.items()}


def _protocols(cells: Sequence[Asked]) -> dict[str, str]:
    """Name of each result's protocol, by key."""
    options = {cell.key: _flat(_protocol_options(cell)) for cell in cells}
    by_key = {cell.key: cell for cell in cells}
    same = {key: (c.group, c.protocol, c.seed) for key, c in by_key.items()}
    suffix = _differences(options, same.get, lambda key: by_key[key].protocol)
    return {key: " ".join(filter(None, (by_key[key].protocol, suffix[key]))) for key in by_key}


def _makers(config: Mapping[str, Any]) -> dict[str, Any]:
    made = {name: config.get(name) for name in MAKERS}
    trainer = made["trainer"] or {}
    return {**made, "trainer": {k: v for k, v in trainer.items() if k not in TRAINER_INDIFFERENT}}


def _protocol_options(cell: Asked) -> dict[str, Any]:
    options = cell.config.get("protocols", {}).get(cell.protocol) or {}
    return {key: value for key, value in options.items() if key not in PROTOCOL_INDIFFERENT}


def _differences(
    options: Mapping[str, Mapping[str, str]],
    alike: Callable[[str], Any],
    family: Callable[[str], Any],
) -> dict[str, str]:
    """Options by which members of a family differ that are otherwise alike, as ``key=value`` for each member."""
    together = defaultdict(list)
    for member in options:
        together[alike(member)].append(member)
    differing: dict[Any, dict[str, None]] = defaultdict(dict)
    for members in together.values():
        names = dict.fromkeys(name for member in members for name in options[member]) if len(members) > 1 else {}
        for name in names:
            if len({options[member].get(name) for member in members}) > 1:
                differing[family(members[0])][name] = None
    return {
        member: " ".join(f"{name}={own.get(name, 'null')}" for name in differing.get(family(member), ()))
        for member, own in options.items()
    }


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Values as text under dotted keys, without seeds."""
    flat: dict[str, str] = {}
    for key, inner in value.items():
        if isinstance(inner, dict):
            flat.update(_flat(inner, f"{prefix}{key}."))
        elif key != "seed":
            flat[f"{prefix}{key}"] = value_text(inner)
    return flat
