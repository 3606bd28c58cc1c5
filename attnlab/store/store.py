"""Atomic entries under a root folder, with a lock for each."""

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from filelock import FileLock

from attnlab.errors import StoreError

FULL_BELOW = 2**20
"""A failure to write with fewer bytes left than this is a full disk."""

Kind = Literal["models", "results"]


class Store:
    """Folders of models and results, each named by its key.

    An entry is written in a temporary folder beside its place and renamed when whole, so that what stands under a key
    is complete, whenever the writer was killed.

    Args:
        root: Folder of the store; made when the first entry is written.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root).absolute()

    def path(self, kind: Kind, key: str) -> Path:
        """Folder of an entry, whether it exists or not."""
        return self.root / kind / key

    def unfinished(self, key: str) -> Path:
        """Folder in which the training of a model keeps what it can go on from. Use it with the model's lock held."""
        return self.root / "unfinished" / key

    def has(self, kind: Kind, key: str) -> bool:
        """Whether an entry is there, whole."""
        return self.path(kind, key).is_dir()

    def find(self, kind: Kind, prefix: str) -> Path:
        """The one entry whose key starts with ``prefix``.

        Raises:
            StoreError: none does, or several do.
        """
        found = sorted(p for p in (self.root / kind).glob(f"{prefix}*") if p.is_dir())
        if len(found) != 1:
            what = "no entry" if not found else f"{len(found)} entries"
            raise StoreError(f"{what} of {self.root / kind} start with '{prefix}'")
        return found[0]

    @contextlib.contextmanager
    def lock(self, kind: Kind, key: str) -> Iterator[None]:
        """Hold the entry's lock; others that want the same entry wait."""
        folder = self._make(self.root / "locks")
        with FileLock(folder / f"{kind}-{key}.lock"):
            yield

    @contextlib.contextmanager
    def create(self, kind: Kind, key: str) -> Iterator[Path]:
        """A folder to fill; it becomes the entry when the block ends, and vanishes when the block raises."""
        self.sweep_leftovers(kind, key)
        draft = self._make(self.root / "drafts" / f"{kind}-{key}-{uuid.uuid4().hex[:8]}")
        try:
            yield draft
            self._flush(draft)
            target = self.path(kind, key)
            self._make(target.parent)
            os.rename(draft, target)
        except Exception as error:
            # Each library says in its own way that it could not write.
            if shutil.disk_usage(self.root).free < FULL_BELOW:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.root)) from error
            raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def sweep_leftovers(self, kind: Kind, key: str) -> None:
        """Remove drafts of an entry that a killed process left. Call it with the entry's lock held."""
        for draft in (self.root / "drafts").glob(f"{kind}-{key}-*"):
            shutil.rmtree(draft, ignore_errors=True)

    @staticmethod
    def _make(folder: Path) -> Path:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot write to the store, {folder}: {error.strerror}; set paths.output_dir to a folder of yours"
            ) from error
        return folder

    @staticmethod
    def _flush(folder: Path) -> None:
        """Bring every file to the disk before the rename does, so that a power cut cannot leave an empty entry."""
        for file in folder.rglob("*"):
            if file.is_file():
                with open(file, "rb") as handle:
                    os.fsync(handle.fileno())
