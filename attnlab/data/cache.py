"""Tokenised data as Arrow files: made once, memory-mapped ever after."""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset, DatasetDict
from filelock import FileLock
from tokenizers import Tokenizer

from attnlab.data.fingerprint import DATA_VERSION, digest
from attnlab.data.sentences import sentence_sizes, splitter_identity
from attnlab.data.sources.source import Source
from attnlab.data.sources.splits import SPLITS
from attnlab.data.tokenization import Count, Rules, build_vocabulary, encode
from attnlab.errors import DataError


@dataclass(frozen=True)
class Recipe:
    """What decides the tokenised data.

    Attributes:
        source: Where texts come from.
        path: Local files in place of the source's own.
        rules: How texts become tokens.
        min_frequency: Least number of training texts that hold a word of the vocabulary.
        max_vocabulary: Greatest size of the vocabulary, special tokens not counted.
        on_empty: What happens to a text without tokens: ``error`` or ``drop``.
        sentences: Language whose sentences are told apart, or ``lines``; None where nobody asks for sentences.
        count: What ``min_frequency`` counts: ``texts`` that hold a word, or ``words``, every occurrence.
        answer_words: Names of classes are words of the vocabulary, however rare.
    """

    source: Source
    path: str | None
    rules: Rules
    min_frequency: int
    max_vocabulary: int | None
    on_empty: str
    sentences: str | None = None
    count: Count = "texts"
    answer_words: bool = False

    @property
    def key(self) -> str:
        """Hash of all of it, and of the version of this code."""
        return digest(
            {
                "version": DATA_VERSION,
                "source": self.source.identity(self.path),
                "rules": [*vars(self.rules).values()],
                "vocabulary": [self.min_frequency, self.max_vocabulary, self.count],
                "on_empty": self.on_empty,
                "sentences": self.sentences and splitter_identity(self.sentences),
                **({"answer_words": True} if self.answer_words else {}),
            }
        )[:24]


@dataclass(frozen=True)
class Encoded:
    """Tokenised splits.

    Attributes:
        splits: By split, rows of id, text, label, input_ids (list<int32>, start and end included), rationale, question
            and question_ids, where there are some, and sentences (list<int32>, the content tokens of each), where they
            were asked for.
        tokenizer: What made them.
        dropped: Rows left out, by split (or ``source``, before splitting) and reason.
    """

    splits: dict[str, Dataset]
    tokenizer: Tokenizer
    dropped: dict[str, dict[str, int]]


def load_encoded(recipe: Recipe, cache_dir: Path) -> Encoded:
    """Tokenised data from the cache, made now if it is not there.

    Raises:
        DataError: the source, or a text, is not as it should be.
    """
    home = cache_dir / "tokens" / recipe.key
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{home}.lock"):
            if not home.is_dir():
                _make(recipe, cache_dir, home)
    splits = {split: _mapped(home / f"{split}.arrow", f"{recipe.key}-{split}") for split in SPLITS}
    dropped = json.loads((home / "dropped.json").read_text("utf-8"))
    return Encoded(splits, Tokenizer.from_file(str(home / "tokenizer.json")), dropped)


def _mapped(file: Path, key: str) -> Dataset:
    from datasets.table import MemoryMappedTable

    return Dataset(MemoryMappedTable.from_file(str(file)), fingerprint=key)


def _make(recipe: Recipe, cache_dir: Path, home: Path) -> None:
    with _no_progress_bars(), tempfile.TemporaryDirectory(dir=home.parent) as scratch:
        draft = Path(scratch, "whole")
        draft.mkdir()
        raw = recipe.source.load(cache_dir, recipe.path)
        _check_rationales(raw, recipe.rules)
        table = raw["train"].data
        columns = [table.column(name) for name in ("text", "question") if name in table.column_names]
        texts = [text for column in columns for text in column.to_pylist()]
        tokens = build_vocabulary(recipe.rules, texts, recipe.min_frequency, recipe.max_vocabulary, recipe.count)
        if recipe.answer_words:
            tokens += [name for name in raw["train"].features["label"].names if name not in set(tokens)]
        tokenizer = recipe.rules.tokenizer(tokens)
        dropped = {"source": recipe.source.dropped}
        for split in SPLITS:
            dropped[split] = _write(raw[split], tokenizer, recipe, split, draft)
        tokenizer.save(str(draft / "tokenizer.json"))
        (draft / "dropped.json").write_text(json.dumps(dropped), "utf-8")
        os.replace(draft, home)  # whole, or not at all


def _write(raw: Dataset, tokenizer: Tokenizer, recipe: Recipe, split: str, folder: Path) -> dict[str, int]:
    dropped: dict[str, int] = {}

    def with_ids(table: pa.Table) -> pa.Table:
        texts = table["text"].to_pylist()
        flat, offsets = encode(tokenizer, texts)
        without_words = np.diff(offsets) == 2
        table = table.append_column("input_ids", _list_array(flat, offsets))
        if "question" in table.column_names:
            questions = encode(tokenizer, table["question"].to_pylist())
            without_words |= np.diff(questions[1]) == 2
            table = table.append_column("question_ids", _list_array(*questions))
        empty = np.flatnonzero(without_words)
        if len(empty) and recipe.on_empty == "error":
            raise DataError(
                f"data: {len(empty)} texts of the {split} split have no words, such as that of id"
                f" {table['id'][int(empty[0])].as_py()!r}; mend them or set data.on_empty=drop"
            )
        if recipe.sentences is not None:
            sizes = sentence_sizes(recipe.rules, texts, recipe.sentences)
            table = table.append_column("sentences", _list_array(*sizes))
        if len(empty):
            dropped["empty"] = len(empty)
            table = table.take(np.setdiff1d(np.arange(len(table)), empty))
        if not len(table):
            raise DataError(f"data: no text of the {split} split has any words; check data.source.text")
        return table.combine_chunks()

    # One batch, so that the ids of a split lie in one piece and are read in place.
    raw.with_format("arrow").map(
        with_ids,
        batched=True,
        batch_size=None,
        writer_batch_size=max(len(raw), 1),
        cache_file_name=str(folder / f"{split}.arrow"),
        new_fingerprint=f"{recipe.key}-{split}",
        features=_features(raw, recipe),
    )
    return dropped


def _features(raw: Dataset, recipe: Recipe) -> Any:  # noqa: ANN401 - datasets.Features
    from datasets import Features, LargeList, Value

    lists = ["input_ids"]
    lists += ["question_ids"] if "question" in raw.column_names else []
    lists += ["sentences"] if recipe.sentences is not None else []
    return Features({**raw.features, **{name: LargeList(Value("int32")) for name in lists}})


def _list_array(flat: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(flat, pa.int32()))


def _check_rationales(raw: DatasetDict, rules: Rules) -> None:
    if "rationale" not in raw["train"].column_names:
        return
    if rules.tokens != "whitespace":
        raise DataError("data.tokens: rationales are positions of tokens, which need data.tokens=whitespace")
    for split, dataset in raw.items():
        _check_positions(dataset, split)


def _check_positions(dataset: Dataset, split: str) -> None:
    import pyarrow.compute as pc

    table = dataset.data
    words = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(table.column("text"))))
    for row, (size, places) in enumerate(zip(words.to_pylist(), table.column("rationale").to_pylist(), strict=True)):
        if places and not 0 <= min(places) <= max(places) < size:
            name = table.column("id")[row].as_py()
            raise DataError(f"data: the rationale of id {name!r} in the {split} split names words past its text")


@contextmanager
def _no_progress_bars() -> Iterator[None]:
    import datasets

    were_off = datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if not were_off:
            datasets.enable_progress_bars()
