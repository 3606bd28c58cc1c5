"""Members of tar, zip and wheel files, read without unpacking them anywhere."""

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from attnlab.errors import DataError


def members(archive: Path | bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file in an archive (tar in any compression, zip or wheel).

    Raises:
        DataError: it is no archive, or damaged.
    """
    name = archive.name if isinstance(archive, Path) else "the inner archive"
    stream = io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb")
    with stream:
        try:
            reader = _zip_members if zipfile.is_zipfile(stream) else _tar_members
            stream.seek(0)
            yield from reader(stream)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
            raise DataError(f"{name} is not a readable archive ({error}); delete it and try again") from error


def member(archive: Path | bytes, ending: str) -> bytes:
    """Content of the first member whose name ends so.

    Raises:
        DataError: there is none.
    """
    for name, content in members(archive):
        if name.endswith(ending):
            return content
    raise DataError(f"there is no {ending} in the archive; it is not the file that was expected")


def is_archive(path: Path) -> bool:
    """Whether a file name is that of an archive."""
    return path.name.endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".zip", ".whl"))


def _zip_members(stream: io.BufferedIOBase) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                yield info.filename, archive.read(info)


def _tar_members(stream: io.BufferedIOBase) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=stream, mode="r:*") as archive:
        for info in archive:
            content = archive.extractfile(info) if info.isfile() else None
            if content is not None:
                yield info.name, content.read()
