"""Hydra's errors in one line that names the key, the choices and the remedy."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attnlab.config.help import group_names
from attnlab.config.location import config_directory


def explain(error: Exception) -> str:
    """One line for an error of Hydra or OmegaConf."""
    text = str(error)
    for pattern, answer in ((_MISSING_OPTION, _missing_option), (_UNKNOWN_KEY, _unknown_key)):
        match = pattern.search(text)
        if match:
            return answer(match.group(1))
    first = next((line for line in text.splitlines() if line.strip()), repr(error))
    if type(error).__name__ == "OverrideParseException":
        override = getattr(error, "override", None) or "an override"
        return f"{override}: {first} (quote values with special characters: 'key=\"a, b\"')"
    full_key = re.search(r"full_key: (\S+)", text)
    if full_key is None:
        return first
    key = full_key.group(1)
    missing = first.startswith("Missing mandatory value")
    return f"{key}: it has no default; add {key}=…" if missing else f"{key}: {first}"


_MISSING_OPTION = re.compile(r"Could not (?:find|load) '([^']+)'")
_UNKNOWN_KEY = re.compile(r"Could not (?:override|delete) '([^']+)'|Could not delete")


def _missing_option(path: str) -> str:
    group, _, option = path.rpartition("/")
    choices = sorted(file.stem for file in (config_directory() / group).glob("*.yaml"))
    return f"{group}={option}: no such option{_suggestion(option, choices)}; choose from {', '.join(choices)}"


def _unknown_key(key: str | None) -> str:
    if key is None:
        return "an override deletes a key that does not exist"
    known = [*group_names(config_directory()), *_known_keys()]
    if key in known:
        return f"{key}: no such option with these choices; `attnlab --cfg job` with the same choices lists all"
    return f"{key}: no such option{_suggestion(key, known)}; `attnlab --help` and `attnlab --cfg job` list them"


def _suggestion(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def _known_keys() -> list[str]:
    """Every key of the default configuration."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(Path(config_directory())), version_base="1.3"):
        config = OmegaConf.to_container(compose("config"), resolve=False)
    return list(_paths(config, "")) if isinstance(config, Mapping) else []


def _paths(config: Mapping[Any, Any], prefix: str) -> Iterator[str]:
    for name, value in config.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _paths(value, f"{prefix}{name}.")
