"""What determines a data set, as one hash. Imports neither torch nor datasets."""

import glob
import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from attnlab.errors import DataError

DATA_VERSION = 1
"""Raised when the same configuration gives other tokens, splits or labels than before."""

INDIFFERENT = frozenset({"cache_dir", "eval_batch_size", "eval_positions", "num_workers", "pin_memory"})
"""Where and how fast data is read, not what it is."""

CONTENTS = frozenset({"path", "attention"})
"""Keys that name files; their contents count, not their place."""


def fingerprint(config: Mapping[str, Any]) -> str:
    """Hash of everything in a data configuration that determines the data.

    Args:
        config: The resolved configuration of a data set (or of word vectors), as plain containers.

    Returns:
        64 hexadecimal digits.

    Raises:
        DataError: a file that the configuration names does not exist.
    """
    return digest({"version": DATA_VERSION, "config": _determining(config)})


def digest(content: Any) -> str:  # noqa: ANN401 - any JSON value
    """SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hash_contents(path: str | Path) -> str:
    """SHA-256 of the contents of a file, of a folder, or of the files that a pattern finds.

    Names inside a folder count (they tell splits apart), and the ending of a file (it tells the format); the
    place of either does not.

    Raises:
        DataError: there is no such file.
    """
    files = find_files(path)
    if len(files) == 1:
        return digest([files[0].suffix, _hash_file(files[0])])
    root = _common_parent(files)
    return digest([[file.relative_to(root).as_posix(), _hash_file(file)] for file in files])


def find_files(path: str | Path) -> list[Path]:
    """Every file that a path means: itself, those in the folder, or those that match the pattern.

    Raises:
        DataError: there is none.
    """
    place = Path(path).expanduser()
    if place.is_file():
        return [place]
    if place.is_dir():
        found = (file for file in place.rglob("*") if file.is_file() and not file.name.startswith("."))
    else:
        found = (file for name in glob.glob(str(place)) for file in _files_at(Path(name)))
    files = sorted(found)
    if not files:
        raise DataError(f"data.path: there is no file at {path}; check the path, or use another data set")
    return files


def _files_at(place: Path) -> Iterator[Path]:
    yield from find_files(place)


def _common_parent(files: list[Path]) -> Path:
    parents = set(files[0].parents)
    for file in files[1:]:
        parents &= set(file.parents)
    return max(parents, key=lambda parent: len(parent.parts))


def _hash_file(file: Path) -> str:
    status = file.stat()
    return _hash_unchanged(str(file), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash_unchanged(file: str, size: int, modified: int) -> str:
    # Size and time are only there to read a file again when it has changed within this process.
    try:
        with open(file, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}; check its permissions") from error


def _determining(value: Any, key: str = "") -> Any:  # noqa: ANN401 - any JSON value
    if key in CONTENTS and value is not None:
        return _contents(value)
    if isinstance(value, Mapping):
        return {str(k): _determining(v, str(k)) for k, v in value.items() if k not in INDIFFERENT}
    if isinstance(value, list | tuple):
        return [_determining(item) for item in value]
    return value


def _contents(value: Any) -> Any:  # noqa: ANN401 - a path, or a list of them
    return [hash_contents(v) for v in value] if isinstance(value, list | tuple) else hash_contents(value)
