"""Studies as data: files of ``sweeps/``, expanded to the overrides of each job. Nothing here imports torch.

::

    grid: {data: [sst, imdb], seed: [0, 1]}           every combination
    zip: {vectors: [glove, random], vectors.dim: …}   axes that advance together
    exclude: [{data: imdb, vectors: glove}]           combinations to leave out
    include: [{data: imdb, trainer.max_epochs: 4}]    values to add to combinations, or combinations to add

``exclude`` and ``include`` mean what they mean in a GitHub Actions matrix; see :mod:`attnlab.launch.matrix`.
"""

import difflib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attnlab.errors import ConfigError
from attnlab.launch.matrix import combinations
from attnlab.launch.override_text import Given, render

PARTS = ("grid", "zip", "include", "exclude")

Axes = dict[str, list[str]]


def expand(study: Mapping[str, Any], overrides: Sequence[str] = ()) -> list[list[str]]:
    """Overrides of each job of a study.

    The command line wins: an override of an axis replaces the axis, other overrides are added to every job, and an
    entry of ``include`` that names a value which an axis no longer has is left out.

    Args:
        study: ``grid``, ``zip``, ``include`` and ``exclude``, as in a sweep file.
        overrides: From the command line, in Hydra's grammar; ``key=a,b`` is an axis.

    Returns:
        One list for each job, in Hydra's grammar.

    Raises:
        ConfigError: the study is malformed, or has no job.

    Example:
        >>> expand({"grid": {"data": ["sst", "imdb"], "seed": [0, 1]}}, ["seed=7", "split=validation"])
        [['data=sst', 'seed=7', 'split=validation'], ['data=imdb', 'seed=7', 'split=validation']]
    """
    _check_parts(study)
    given = [Given.parse(text) for text in overrides]
    replaced = {g.name: list(g.values) for g in given}
    grid, zipped = _axes(study, "grid"), _axes(study, "zip")
    _check_axes(grid, zipped, given)
    include, exclude = _entries(study, "include"), _entries(study, "exclude")
    _check_exclude(exclude, {*grid, *zipped})
    names = {key: key.lstrip("+") for key in (*grid, *zipped)}
    grid = {key: replaced.get(names[key], values) for key, values in grid.items()}
    zipped = _aligned({key: replaced.get(names[key], values) for key, values in zipped.items()})
    wanted = {key: replaced[name] for key, name in names.items() if name in replaced}
    include = [e for e in include if all(e[key] in values for key, values in wanted.items() if key in e)]
    jobs = [job for c in combinations(grid, zipped, include, exclude) for job in _jobs(c, given, set(names.values()))]
    if not jobs:
        raise ConfigError("the study has no job: exclude and the command line leave no combination")
    return jobs


def _check_parts(study: Mapping[str, Any]) -> None:
    for part in study:
        if part not in PARTS:
            close = difflib.get_close_matches(str(part), PARTS, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise ConfigError(f"{part}: unknown part of a study{hint}; known are {', '.join(PARTS)}")
    if not any(study.get(part) for part in ("grid", "zip", "include")):
        raise ConfigError("a study needs a grid, a zip or an include")


def _axes(study: Mapping[str, Any], part: str) -> Axes:
    axes = study.get(part) or {}
    if not isinstance(axes, Mapping):
        raise ConfigError(f"{part}: expected axes, such as {part}: {{seed: [0, 1]}}")
    return {_key(part, key): _values(f"{part}.{key}", values) for key, values in axes.items()}


def _values(where: str, values: Any) -> list[str]:  # noqa: ANN401 - whatever the file holds
    if not isinstance(values, list):
        raise ConfigError(f"{where}: expected a list of values, such as [{values}]")
    if not values:
        raise ConfigError(f"{where}: the axis is empty; name a value or remove it")
    return [_rendered(where, value) for value in values]


def _entries(study: Mapping[str, Any], part: str) -> list[dict[str, str]]:
    entries = study.get(part) or []
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) and entry for entry in entries):
        raise ConfigError(f"{part}: expected a list of combinations, such as {part}: [{{data: sst, model: cnn}}]")
    return [{_key(part, key): _rendered(f"{part}.{key}", value) for key, value in e.items()} for e in entries]


def _key(part: str, key: Any) -> str:  # noqa: ANN401 - whatever the file holds
    try:
        Given.parse(f"{key}=0")
    except ConfigError as error:
        raise ConfigError(f"{part}.{key}: not the name of a group or key") from error
    return str(key)


def _rendered(where: str, value: Any) -> str:  # noqa: ANN401 - whatever the file holds
    try:
        return render(value)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error


def _check_axes(grid: Axes, zipped: Axes, given: Iterable[Given]) -> None:
    both = grid.keys() & zipped.keys()
    if both:
        raise ConfigError(f"{min(both)}: an axis is in grid or in zip, not in both")
    _check_lengths(zipped)
    for override in given:
        if not override.values and override.name in {key.lstrip("+") for key in (*grid, *zipped)}:
            raise ConfigError(f"{override.text}: an axis of the study cannot be removed; give it one value")


def _check_lengths(zipped: Axes) -> None:
    lengths = {key: len(values) for key, values in zipped.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{key} has {length}" for key, length in lengths.items())
        raise ConfigError(f"zip: axes must have equally many values, but {told}")


def _check_exclude(exclude: Iterable[Mapping[str, str]], axes: set[str]) -> None:
    for key in itertools.chain.from_iterable(exclude):
        if key not in axes:
            raise ConfigError(f"exclude: {key} is no axis of grid or zip, so it excludes nothing")


def _aligned(zipped: Axes) -> Axes:
    """Zipped axes of which some were replaced: a single value goes with every value of the others."""
    length = max((len(values) for values in zipped.values()), default=0)
    aligned = {key: values * length if len(values) == 1 else values for key, values in zipped.items()}
    _check_lengths(aligned)
    return aligned


def _jobs(combination: Mapping[str, str], given: Sequence[Given], axes: set[str]) -> list[list[str]]:
    """Jobs of a combination: one, or several where the command line sweeps over what the study does not."""
    decided = {key.lstrip("+") for key in combination} & axes
    added = {g.name: _texts(g) for g in given if g.name not in decided}
    own = [f"{key}={value}" for key, value in combination.items() if key.lstrip("+") not in added]
    return [own + list(more) for more in itertools.product(*added.values())]


def _texts(given: Given) -> list[str]:
    return [f"{given.key}={value}" for value in given.values] or [given.text]
