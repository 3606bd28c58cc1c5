"""The data module of text classification."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import lightning as L
import numpy as np
import numpy.typing as npt
from datasets import Dataset
from tokenizers import Tokenizer
from torch.utils.data import DataLoader, Sampler

from attnlab.config.location import cache_directory
from attnlab.data.batch import Batch
from attnlab.data.cache import Encoded, Recipe, load_encoded
from attnlab.data.corpus import Corpus
from attnlab.data.dataset import TextDataset, content_lengths, flat_lists
from attnlab.data.given import impose_attention, read_attention
from attnlab.data.sampler import EvaluationBatches, TrainBatches
from attnlab.data.sentences import check_splitter
from attnlab.data.sources.source import Source
from attnlab.data.sources.splits import SPLITS
from attnlab.data.tokenization import Count, Rules
from attnlab.errors import ConfigError, DataError


class TextDataModule(L.LightningDataModule):
    """Labelled texts as batches of token ids.

    Args:
        source: Where the texts come from.
        path: Local file, folder or pattern in place of the source's own files.
        cache_dir: Where downloads and tokenised data are kept; None is the user's cache folder.
        seed: Decides the order of training batches, and nothing else.
        batch_size: Rows of a training batch.
        eval_batch_size: Rows of an evaluation batch, at most.
        eval_positions: Positions of an evaluation batch with padding, at most; bounds the memory of protocols.
        tokens: ``word`` tokenises; ``whitespace`` takes tokenised text as it is.
        lowercase: Lower-case everything.
        numbers: Replace each token that holds a digit by ``qqq`` (Jain & Wallace 2019).
        replacements: Pairs of a regular expression and its replacement, applied before all else.
        min_frequency: Least number of training texts that hold a word of the vocabulary.
        max_vocabulary: Greatest number of words in it; None for no bound.
        min_length: Texts must have more tokens than this; None for no bound.
        max_length: Texts must have fewer tokens than this; None for no bound.
        published_length_filter: A missing bound is the shortest (longest) text of each split, which is then left
            out too, as the published code of Jain & Wallace does; texts of exactly that length all go.
        count: What the frequency of a word counts: the ``texts`` that hold it, or ``words``, every occurrence.
        sentences: Language whose sentences are told apart, or ``lines``, where they are asked for.
        train_max_sentences: Training texts must not have more sentences than this; None for no bound.
        train_max_sentence_words: Training texts must have no sentence with more words than this; None for no bound.
        validation_max_sentences: The same for the validation split; no bound of sentences holds for the test split.
        validation_max_sentence_words: The same for the validation split.
        on_empty: What happens to a text without tokens: ``error`` or ``drop``.
        bucket: Batches of texts of similar length; False takes the order of the file.
        attention: Parquet file or files of id and attention, imposed by ``frozen`` attention.
        num_workers: Processes that assemble batches; 0 is fastest, since assembly is a copy.
        pin_memory: Page-locked batches, for a GPU.

    Attributes:
        classes: Class names; of two, the last is the positive one.
        vocabulary: Tokens by id, special ones first.
        corpus: The training texts that word vectors can be learnt from.
        counts: By split, the rows and how many were dropped, by reason.
    """

    gives: ClassVar[frozenset[str]] = frozenset({"single"})
    splits_sentences: ClassVar[bool] = False
    """Whether sentences are needed for more than the bounds of the splits."""

    reads_pairs: ClassVar[bool] = False
    """Whether batches hold the second text of each row."""

    def __init__(
        self,
        source: Source,
        path: str | None = None,
        cache_dir: str | None = None,
        seed: int = 0,
        batch_size: int = 32,
        eval_batch_size: int = 256,
        eval_positions: int = 16384,
        tokens: str = "word",
        lowercase: bool = True,
        numbers: bool = True,
        replacements: Sequence[tuple[str, str]] = (),
        min_frequency: int = 1,
        max_vocabulary: int | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        published_length_filter: bool = False,
        count: Count = "texts",
        sentences: str = "en",
        train_max_sentences: int | None = None,
        train_max_sentence_words: int | None = None,
        validation_max_sentences: int | None = None,
        validation_max_sentence_words: int | None = None,
        on_empty: str = "error",
        bucket: bool = True,
        attention: str | Sequence[str] | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
    ) -> None:
        super().__init__()
        if on_empty not in ("error", "drop"):
            raise ConfigError(f"data.on_empty={on_empty}: choose error or drop")
        if count not in ("texts", "words"):
            raise ConfigError(f"data.count={count}: choose texts or words")
        check_splitter(sentences)
        if source.question is not None and not self.reads_pairs:
            raise ConfigError(
                "data.source.question: this set has two texts, of which this model reads one; choose model=pair_bilstm"
                " or another pair model, or drop the question with data.source.question=null"
            )
        if min(batch_size, eval_batch_size, eval_positions) < 1:
            raise ConfigError("data.batch_size, data.eval_batch_size and data.eval_positions must be at least 1")
        rules = Rules(tokens, lowercase, numbers, tuple((str(old), str(new)) for old, new in replacements))
        self.sentence_limits = {
            "train": (train_max_sentences, train_max_sentence_words),
            "validation": (validation_max_sentences, validation_max_sentence_words),
            "test": (None, None),
        }
        asked = self.splits_sentences or any(limits != (None, None) for limits in self.sentence_limits.values())
        splitter = sentences if asked else None
        self.recipe = Recipe(source, path, rules, min_frequency, max_vocabulary, on_empty, splitter, count)
        self.cache_dir = Path(cache_dir or cache_directory()).expanduser()
        self.seed = seed
        self.batch_size = batch_size
        self.evaluation_limits = (eval_batch_size, eval_positions)
        self.bounds = (min_length, max_length)
        self.published_length_filter = published_length_filter
        self.bucket = bucket
        self.attention = attention
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.counts: dict[str, Any] = {}
        self._datasets: dict[str, TextDataset] = {}

    def prepare_data(self) -> None:
        """Download and tokenise, once for all processes."""
        load_encoded(self.recipe, self.cache_dir)

    def setup(self, stage: str | None = None) -> None:
        """Open the tokenised data; makes it where ``prepare_data`` was not called.

        Raises:
            DataError: the data is missing, malformed, or nothing of a split is left.
        """
        if self._datasets:
            return
        encoded = load_encoded(self.recipe, self.cache_dir)
        given = None if self.attention is None else read_attention(self.attention)
        self.tokenizer: Tokenizer = encoded.tokenizer
        vocabulary = self.tokenizer.get_vocab()
        self.vocabulary: list[str] = sorted(vocabulary, key=vocabulary.__getitem__)
        self.corpus = Corpus(encoded.splits["train"], self.recipe.key)
        self.classes: list[str] = list(encoded.splits["train"].features["label"].names)
        datasets = {name: self._filtered(name, encoded) for name in SPLITS}
        for name, dataset in datasets.items():
            if given is not None:
                impose_attention(dataset, given, name)
        self.counts["source"] = {"dropped": encoded.dropped["source"]}
        self._datasets = datasets

    @property
    def vocab_size(self) -> int:
        """Number of token ids, special ones included."""
        return len(self.vocabulary)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def pos_weight(self) -> float | None:
        """N/N_pos − 1 of the training split, for a binary task (Jain & Wallace's code); None otherwise."""
        labels = self.dataset("train").labels
        positives = int((labels == 1).sum())
        return len(labels) / positives - 1 if self.num_classes == 2 and positives else None

    def dataset(self, split: str) -> TextDataset:
        """The rows of a split.

        Raises:
            ConfigError: there is no such split.
        """
        self.setup()
        if split not in self._datasets:
            raise ConfigError(f"split={split}: choose one of {', '.join(SPLITS)}")
        return self._datasets[split]

    def dataloader(self, split: str, every_process: bool = False) -> DataLoader[Batch]:
        """Batches of a split in evaluation order: each row once, by rising length.

        Args:
            split: ``train``, ``validation`` or ``test``.
            every_process: Leave no process of a distributed run without a batch.
        """
        dataset = self.dataset(split)
        limits = (*self.evaluation_limits, self.bucket, every_process)
        batches = EvaluationBatches(dataset.lengths, *limits, dataset.shapes)
        return self._loader(dataset, batches)

    def train_dataloader(self) -> DataLoader[Batch]:
        """Training batches, other ones in every epoch."""
        dataset = self.dataset("train")
        return self._loader(dataset, TrainBatches(dataset.lengths, self.batch_size, self.seed, self.bucket))

    def val_dataloader(self) -> DataLoader[Batch]:
        """The validation split in evaluation order."""
        return self.dataloader("validation", every_process=True)

    def test_dataloader(self) -> DataLoader[Batch]:
        """The test split in evaluation order."""
        return self.dataloader("test")

    def _loader(self, dataset: TextDataset, batches: Sampler[list[int]]) -> DataLoader[Batch]:
        # The sampler gives whole batches, so that the loader must not make batches itself.
        loader: DataLoader[Any] = DataLoader(
            dataset, batch_size=None, sampler=batches, num_workers=self.num_workers, pin_memory=self.pin_memory
        )
        return loader

    def build(self, encoded: Dataset, tokenizer: Tokenizer, rows: npt.NDArray[np.int64] | None = None) -> TextDataset:
        """The rows of a split that remain, as what batches are cut from."""
        return TextDataset(encoded, tokenizer, rows)

    def _filtered(self, split: str, encoded: Encoded) -> TextDataset:
        content = content_lengths(encoded.splits[split])
        low, high = self._split_bounds(content)
        short, long = content <= low, content >= high
        kept, reasons = np.ones(len(content), bool), dict(encoded.dropped[split])
        barred = {"too short": short, "too long": long, **self._barred(split, encoded.splits[split])}
        for reason, rows_without in barred.items():
            reasons[reason] = int((kept & rows_without).sum())
            kept &= ~rows_without
        rows = np.flatnonzero(kept)
        if not len(rows):
            raise DataError(
                f"data: no text of the {split} split has between {self.bounds[0]} and {self.bounds[1]} tokens"
                " (exclusive); widen data.min_length and data.max_length, or data.{train,validation}_max_sentences and"
                " data.{train,validation}_max_sentence_words"
            )
        dataset = self.build(encoded.splits[split], encoded.tokenizer, rows)
        self.counts[split] = self._count(dataset, {why: n for why, n in reasons.items() if n})
        return dataset

    def _count(self, dataset: TextDataset, dropped: dict[str, int]) -> dict[str, Any]:
        return {"rows": len(dataset), "dropped": dropped}

    def _barred(self, split: str, encoded: Dataset) -> dict[str, npt.NDArray[np.bool_]]:
        """Rows of a split that are left out for more than their length, by reason."""
        return {"too many or too long sentences": self._outliers(split, encoded)}

    def _outliers(self, split: str, encoded: Dataset) -> npt.NDArray[np.bool_]:
        most, widest = (np.inf if limit is None else limit for limit in self.sentence_limits[split])
        if "sentences" not in encoded.column_names:
            return np.zeros(len(encoded), bool)
        sizes, offsets = flat_lists(encoded.data.column("sentences"))
        return (np.diff(offsets) > most) | (np.maximum.reduceat(sizes, offsets[:-1]) > widest)

    def _split_bounds(self, content: npt.NDArray[np.int64]) -> tuple[float, float]:
        low, high = self.bounds
        if self.published_length_filter:
            low = int(content.min()) if low is None else low
            high = int(content.max()) if high is None else high
        return (-1 if low is None else low, np.inf if high is None else high)
