"""Studies by name: the sweep files that come with attnlab, and those of the user. Nothing here imports torch."""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attnlab.config.composing import compose
from attnlab.config.location import sweeps_directory
from attnlab.errors import ConfigError
from attnlab.launch.scoping import without_others_options
from attnlab.launch.sweepfile import PARTS, expand

FOLDERS = ("", "paper")
"""Folders of ``sweeps/`` that hold studies; its others are for other tools."""

_CHOICE = re.compile(r"\+{0,2}(paper|sweep)=(.+)")


def find_study(name: str) -> Path:
    """The file of a study.

    Args:
        name: ``quickstart``, ``paper/jain_wallace_2019``, or the path of a file of the user's own.

    Raises:
        ConfigError: there is none.
    """
    if name.endswith((".yaml", ".yml")):
        if Path(name).is_file():
            return Path(name)
        raise ConfigError(f"sweep={name}: no such file")
    file = sweeps_directory() / f"{name}.yaml"
    if file.is_file():
        return file
    names = studies()
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else ""
    raise ConfigError(f"{name}: no such study{hint}; choose from {', '.join(names)}, or name a .yaml file")


def studies() -> list[str]:
    """Names of the studies that come with attnlab."""
    root = sweeps_directory()
    found = (file.relative_to(root).with_suffix("").as_posix() for file in root.rglob("*.yaml"))
    return sorted(name for name in found if name.rpartition("/")[0] in FOLDERS)


def load_study(file: Path) -> dict[str, Any]:
    """Read a sweep file.

    Raises:
        ConfigError: it cannot be read, is not YAML, or holds something else than a study.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    try:
        content = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    except (OSError, UnicodeDecodeError, YAMLError, OmegaConfBaseException) as error:
        raise ConfigError(f"{file} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict):
        raise ConfigError(f"{file} is not a study: expected {', '.join(PARTS)}")
    return {str(key): value for key, value in content.items()}


def expand_file(name: str, overrides: Sequence[str] = ()) -> list[list[str]]:
    """Overrides of each job of a study by name; errors name its file."""
    file = find_study(name)
    try:
        return without_others_options(expand(load_study(file), overrides))
    except ConfigError as error:
        message = str(error)
        raise error if str(file) in message else ConfigError(f"{file}: {message}") from error


def study_folder(name: str, job: Sequence[str]) -> Path:
    """Folder of a study's cells: the same for the same study, so that running it again finishes what is missing.

    Args:
        name: Of the study.
        job: Overrides of one of its jobs; ``hydra.sweep.dir`` decides the folder, else ``paths.output_dir``.
    """
    for override in job:
        key, _, value = override.partition("=")
        if key.lstrip("+") == "hydra.sweep.dir":
            return Path(value.strip("'\"")).absolute()
    config, _ = compose(job)
    return Path(config["paths"]["output_dir"], "sweeps", Path(name).stem).absolute()


def sweep_arguments(arguments: Sequence[str]) -> tuple[str, list[str]] | None:
    """The study that a command line names, and its overrides; None where it names none.

    Args:
        arguments: After ``attnlab``, such as ``["+paper=jain_wallace_2019", "seed=0,1"]``.

    Raises:
        ConfigError: several studies, or an option of Hydra's that a study does not take.
    """
    chosen = [match for match in map(_CHOICE.fullmatch, arguments) if match]
    if not chosen:
        return None
    if len(chosen) > 1:
        raise ConfigError(f"{' '.join(m.group() for m in chosen)}: one study at a time")
    group, name = chosen[0].groups()
    rest = [a for a in arguments if a != chosen[0].group() and a not in ("-m", "--multirun")]
    rest = list(_with_search_path(rest))
    flags = [a for a in rest if a.startswith("-")]
    if flags:
        raise ConfigError(f"{flags[0]} does not work with a study; dry_run=true shows what {group}={name} would do")
    return (name if group == "sweep" or name.endswith(".yaml") else f"{group}/{name}"), rest


def _with_search_path(arguments: Sequence[str]) -> Iterator[str]:
    """Hydra's flag for a folder of the user's own options, as the override that every job can carry."""
    left = iter(arguments)
    for argument in left:
        flag, has_value, value = argument.partition("=")
        if flag not in ("--config-dir", "-cd"):
            yield argument
            continue
        folder = Path(value if has_value else next(left, "")).absolute()
        if not folder.is_dir():
            raise ConfigError(f"{flag} {folder}: no such folder")
        yield f"hydra.searchpath=['file://{folder}']"
