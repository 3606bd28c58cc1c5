"""Word vectors that are learnt from the training texts themselves."""

import importlib.util
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from filelock import FileLock
from torch import Tensor

from attnlab.config.location import cache_directory
from attnlab.data.corpus import Corpus
from attnlab.data.fingerprint import digest
from attnlab.data.tokenization import SPECIAL_TOKENS
from attnlab.errors import ConfigError

log = logging.getLogger(__name__)


class Word2VecVectors:
    """word2vec (Mikolov et al. 2013) of the training texts, by gensim with its defaults otherwise: CBOW, 5 negatives.

    As in the published code of Serrano & Smith (2019), which also reads the validation texts: a passage is a sentence,
    rare words are the unknown word, which so gets a vector too, and every vector has length 1. One thread makes them,
    so that the same texts give the same vectors; they are kept in the cache.

    Args:
        dim: Size of the vectors.
        window: Words on each side that are context, at most.
        min_count: Occurrences that a word of the vocabulary needs for a vector; rarer ones are passed over.
        epochs: How often the texts are read.
        normalise: Scale every vector to length 1.
        seed: Decides initialisation, windows and negatives; the seed of a run never does.
        cache_dir: Where the vectors are kept; None is the user's cache folder.

    Attributes:
        coverage: Share of the vocabulary that has a vector, after ``matrix``.

    Raises:
        ConfigError: gensim is not installed, or a number is too small.
    """

    def __init__(
        self,
        dim: int = 200,
        window: int = 5,
        min_count: int = 1,
        epochs: int = 30,
        normalise: bool = True,
        seed: int = 0,
        cache_dir: str | None = None,
    ) -> None:
        if importlib.util.find_spec("gensim") is None:
            raise ConfigError("vectors=word2vec needs gensim: pip install 'attnlab[word2vec]'")
        if min(dim, window, min_count, epochs) < 1:
            raise ConfigError("vectors.dim, vectors.window, vectors.min_count and vectors.epochs must be at least 1")
        self.dim = dim
        self.window = window
        self.min_count = min_count
        self.epochs = epochs
        self.normalise = normalise
        self.seed = seed
        self.cache_dir = Path(cache_dir or cache_directory()).expanduser()
        self.coverage: float | None = None

    def matrix(self, vocabulary: Sequence[str], corpus: Corpus) -> Tensor:
        """Vectors (V, dim) of a vocabulary; words without one, padding, start and end are zero.

        Args:
            vocabulary: Tokens by id.
            corpus: What the vectors are learnt from.
        """
        file = self.cache_dir / "vectors" / f"{self._key(corpus)}.npy"
        if not file.is_file():
            file.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{file}.lock"):
                if not file.is_file():
                    _save(file, self._learnt(len(vocabulary), corpus))
        matrix = np.load(file, allow_pickle=False)
        words = matrix[len(SPECIAL_TOKENS) :]
        self.coverage = float(words.any(-1).mean()) if len(words) else 0.0
        return torch.from_numpy(matrix)

    def _key(self, corpus: Corpus) -> str:
        options = [self.dim, self.window, self.min_count, self.epochs, self.normalise, self.seed]
        return digest({"corpus": corpus.key, "options": options, "gensim": version("gensim")})[:24]

    def _learnt(self, size: int, corpus: Corpus) -> npt.NDArray[np.float32]:
        from gensim.models import Word2Vec

        logging.getLogger("gensim").setLevel(logging.WARNING)  # it tells of every second
        counts = corpus.counts(size)
        log.info("learning word vectors from %d words", counts.sum())
        # Words keep the order of their ids: gensim's sort leaves that of equally frequent ones to the processor.
        model = Word2Vec(
            vector_size=self.dim,
            window=self.window,
            min_count=self.min_count,
            seed=self.seed,
            workers=1,
            sorted_vocab=0,
        )
        model.build_vocab_from_freq({str(token): int(n) for token, n in enumerate(counts) if n})
        model.train(_Passages(corpus), total_words=int(counts.sum()), epochs=self.epochs)
        matrix = np.zeros((size, self.dim), np.float32)
        matrix[[int(token) for token in model.wv.index_to_key]] = model.wv.vectors
        return _unit_rows(matrix) if self.normalise else matrix


class _Passages:
    """Passages as gensim reads them, once an epoch: lists of names, here of ids."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def __iter__(self) -> Iterator[list[str]]:
        for passage in self._corpus.passages():
            yield [str(token) for token in passage.tolist()]


def _unit_rows(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    norms[norms == 0] = 1
    matrix /= norms
    return matrix


def _save(file: Path, matrix: npt.NDArray[np.float32]) -> None:
    with tempfile.TemporaryDirectory(dir=file.parent) as draft:
        np.save(Path(draft, file.name), matrix, allow_pickle=False)
        os.replace(Path(draft, file.name), file)  # whole, or not at all
