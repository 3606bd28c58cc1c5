"""Data: where texts come from, how they become token ids, and how those become batches."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.data.batch import Batch
    from attnlab.data.datamodule import TextDataModule
    from attnlab.data.dataset import TextDataset
    from attnlab.data.documents import DocumentDataModule
    from attnlab.data.pairs import PairDataModule
    from attnlab.data.vectors import FileVectors, GloveVectors, RandomVectors
    from attnlab.data.word2vec import Word2VecVectors

__all__ = [
    "Batch",
    "DocumentDataModule",
    "FileVectors",
    "GloveVectors",
    "PairDataModule",
    "RandomVectors",
    "TextDataModule",
    "TextDataset",
    "Word2VecVectors",
]

_HOMES = {
    "Batch": "batch",
    "DocumentDataModule": "documents",
    "FileVectors": "vectors",
    "GloveVectors": "vectors",
    "PairDataModule": "pairs",
    "RandomVectors": "vectors",
    "TextDataModule": "datamodule",
    "TextDataset": "dataset",
    "Word2VecVectors": "word2vec",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - PEP 562
    # Lazy, so that attnlab.data.fingerprint and attnlab.data.sources stay free of torch.
    if name in _HOMES:
        return getattr(import_module(f"attnlab.data.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
