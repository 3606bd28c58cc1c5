"""``attnlab gc``: what the store no longer needs."""

import argparse
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from attnlab.errors import AttnlabError, StoreError
from attnlab.inspect.cells import read_cells
from attnlab.inspect.entries import foreign, keys, read_entries
from attnlab.inspect.locks import is_held
from attnlab.inspect.places import default_store, output_directory
from attnlab.inspect.status import sweeps
from attnlab.inspect.text import size_text, warn
from attnlab.launch.cell import State
from attnlab.store import Store

DRAFT = re.compile(r"(models|results)-([0-9a-f]{20})-[0-9a-f]{8}")
UNFINISHED = re.compile(r"([0-9a-f]{20})")
LOCK = re.compile(r"(models|results)-([0-9a-f]{20})\.lock")

OLD_LOCK_SECONDS = 3600.0
"""A lock file without an entry is left for so long after its last use: who waits for a lock touches its file."""


@dataclass
class Garbage:
    """What could be removed from a store.

    Attributes:
        models: That no result needs.
        drafts: Left by processes that were killed.
        unfinished: Checkpoints of interrupted trainings, which would go on from them.
        locks: Files that nobody holds.
        kept: Lines that say what is not touched, and why.
    """

    models: list[Path] = field(default_factory=list)
    drafts: list[Path] = field(default_factory=list)
    unfinished: list[Path] = field(default_factory=list)
    locks: list[Path] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Show what the store no longer needs, and remove it when told."""
    options = _parser().parse_args(arguments)
    store = Store(options.store or default_store())
    garbage = find_garbage(store)
    parts = {
        "models that no result needs": garbage.models,
        "drafts of killed processes": garbage.drafts,
        "interrupted trainings": garbage.unfinished,
        "lock files that nobody holds": garbage.locks,
    }
    for name, paths in parts.items():
        print(f"{len(paths):>7} {name}, {size_text(sum(map(_size, paths)))}")
    for line in _shown(garbage.models + garbage.drafts + garbage.unfinished):
        print(f"        {line}")
    warn(garbage.kept, "kept")
    if options.delete:
        removed = remove(store, garbage)
        print(f"removed {removed} of {sum(map(len, parts.values()))} from {store.root}")
    elif any(parts.values()):
        print("nothing was removed; attnlab gc --delete removes them")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlab gc", description="Show what the store no longer needs: models without results, drafts and locks."
    )
    parser.add_argument("--store", type=Path, help="folder of the store (default: outputs/store)")
    parser.add_argument("--delete", action="store_true", help="remove it")
    return parser


def find_garbage(store: Store) -> Garbage:
    """What could be removed: never an entry in use, never what is not of the store."""
    garbage = Garbage()
    locks = {match.groups(): path for path, match in _matching(store.root / "locks", LOCK, garbage)}
    held = {name for name, path in locks.items() if is_held(path)}
    entries = {kind: set(keys(store, kind)) for kind in ("models", "results")}
    garbage.models = list(_unneeded(store, entries["models"], held, garbage))
    garbage.drafts = [p for p, match in _matching(store.root / "drafts", DRAFT, garbage) if match.groups() not in held]
    unfinished = _matching(store.root / "unfinished", UNFINISHED, garbage)
    garbage.unfinished = [p for p, match in unfinished if ("models", match.group()) not in held]
    garbage.locks = [
        path for (kind, key), path in locks.items() if (kind, key) not in held and _is_stale(path, key in entries[kind])
    ]
    garbage.kept += [f"{path} is not an entry of the store" for path in foreign(store, "models")]
    return garbage


def _matching(folder: Path, pattern: re.Pattern[str], garbage: Garbage) -> Iterator[tuple[Path, re.Match[str]]]:
    if not folder.is_dir():
        return
    for name in sorted(os.listdir(folder)):
        match = pattern.fullmatch(name)
        if match:
            yield folder / name, match
        else:
            garbage.kept.append(f"{folder / name} is not of the store")


def _is_stale(lock: Path, has_entry: bool) -> bool:
    try:
        return has_entry or time.time() - lock.stat().st_mtime > OLD_LOCK_SECONDS
    except OSError:
        return False


def _unneeded(store: Store, models: set[str], held: set[tuple[str, ...]], garbage: Garbage) -> Iterator[Path]:
    """Models that nothing needs, if that can be told now."""
    results, problems = read_entries(store, "results")
    garbage.kept += problems
    candidates = models - {
        key for entry in results.values() for key in (entry.get("model_key"), *entry.get("models", ()))
    }
    if not candidates:
        return
    awaited = candidates & _awaited(store, garbage)
    if awaited:
        garbage.kept.append(f"{len(awaited)} models: unfinished cells of sweeps need them")
    candidates -= awaited
    unreadable = len(keys(store, "results")) - len(results)
    if unreadable:
        garbage.kept.append(f"all models: {unreadable} results cannot be read, so what they need is unknown")
    elif held:
        garbage.kept.append(f"all models: jobs are running ({len(held)} locks are held), so what they need is unknown")
    else:
        paths = [store.path("models", key) for key in sorted(candidates)]
        yield from (path for path in paths if _is_own(path))


def _is_own(model: Path) -> bool:
    return not model.is_symlink() and (model / "config.yaml").is_file()


def _awaited(store: Store, garbage: Garbage) -> set[str]:
    """Models that unfinished cells of sweeps beside the store will measure."""
    awaited = set()
    roots = {(store.root.parent / "sweeps").resolve(), (output_directory() / "sweeps").resolve()}
    for sweep in (folder for root in roots for folder in sweeps(root)):
        try:
            cells, problems = read_cells(sweep)
        except AttnlabError as error:
            garbage.kept.append(str(error))
            continue
        garbage.kept += problems
        waiting = [cell.keys for cell in cells if cell.state is not State.DONE]
        awaited |= {str(key) for cell in waiting for key in (cell.get("model"), *cell.get("models", ()))}
    return awaited


def remove(store: Store, garbage: Garbage) -> int:
    """Remove what was found, each under its lock; what somebody took meanwhile stays.

    Returns:
        How many were removed.
    """
    removed = 0
    for model in garbage.models:
        removed += _under_lock(store, "models", model.name, model)
    for draft in garbage.drafts:
        kind, key, _ = draft.name.split("-")
        removed += _under_lock(store, kind, key, draft)
    for folder in garbage.unfinished:
        removed += _under_lock(store, "models", folder.name, folder)
    for lock in garbage.locks:
        removed += _remove_lock(lock)
    return removed


def _under_lock(store: Store, kind: str, key: str, folder: Path) -> bool:
    lock = store.root / "locks" / f"{kind}-{key}.lock"
    lock.parent.mkdir(exist_ok=True)
    try:
        with FileLock(lock, timeout=0):
            _remove_folder(store, kind, key, folder)
    except Timeout:
        return False
    except OSError as error:
        raise StoreError(f"{folder} cannot be removed: {error.strerror}") from error
    return True


def _remove_folder(store: Store, kind: str, key: str, folder: Path) -> None:
    """Move it among the drafts first, so that no half entry is ever taken for a whole one."""
    drafts = store.root / "drafts"
    drafts.mkdir(exist_ok=True)
    doomed = drafts / f"{kind}-{key}-{uuid.uuid4().hex[:8]}"
    os.rename(folder, doomed)
    shutil.rmtree(doomed)


def _remove_lock(lock: Path) -> bool:
    try:
        with FileLock(lock, timeout=0):
            lock.unlink()
    except (Timeout, OSError):
        return False
    return True


def _size(path: Path) -> int:
    if not path.is_dir():
        return path.lstat().st_size if path.exists() else 0
    total = 0
    for folder, _, files in os.walk(path):
        total += sum(os.lstat(os.path.join(folder, name)).st_size for name in files)
    return total


def _shown(paths: Sequence[Path], most: int = 20) -> Iterator[str]:
    yield from (f"{size_text(_size(path)):>8}  {path}" for path in paths[:most])
    if len(paths) > most:
        yield f"and {len(paths) - most} more"
