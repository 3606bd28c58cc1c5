"""Sentences of texts, and documents as batches."""

import numpy as np
import pyarrow as pa
import pytest

from attnlab.data import DocumentDataModule, TextDataModule
from attnlab.data.given import impose_attention
from attnlab.data.sampler import EvaluationBatches
from attnlab.data.sentences import sentence_sizes
from attnlab.data.sources import LocalSource, PlantedSource
from attnlab.data.tokenization import Rules, build_vocabulary
from attnlab.errors import ConfigError, DataError
from tests.conftest import observe
from tests.documents import make_han

TEXTS = [
    "Mr. Smith paid $3.50 for it. He left!<br /><br />Fine.\n\n  \n\nThe end",
    "one",
    "İstanbul is far. ☺ ... Go on. Ütü.",
]


def module(source, tmp_path, cls=DocumentDataModule, **options):
    data = cls(source, cache_dir=str(tmp_path / "cache"), **options)
    data.setup()
    return data


@pytest.fixture
def documents(tmp_path):
    source = PlantedSource(train=40, validation=10, test=30, sentences=3, min_words=9, max_words=40)
    return module(source, tmp_path, tokens="whitespace", numbers=False, eval_batch_size=7, eval_positions=200)


def test_sentences_end_where_a_reader_would_end_them():
    rules = Rules(replacements=(("<br\\s*/?>", " "),))
    sizes, offsets = sentence_sizes(rules, TEXTS, "en")
    assert np.split(sizes, offsets[1:-1])[0].tolist() == [9, 3, 2, 2]
    assert np.diff(offsets).tolist() == [4, 1, 4]


def test_a_line_is_a_sentence_where_asked_and_empty_ones_do_not_count():
    sizes, offsets = sentence_sizes(Rules(), ["a b. c\n\n \nd\n", "\n", "e"], "lines")
    assert sizes.tolist() == [4, 1, 1]
    assert offsets.tolist() == [0, 2, 2, 3]


def test_a_batch_is_what_a_plain_loop_gives(documents):
    dataset, vocabulary = documents.dataset("train"), documents.vocabulary
    rows = [5, 0, 33]
    batch = dataset[rows]
    sentences = [sentence.split() for row in rows for sentence in dataset.tokens(row)]
    assert [[vocabulary[i] for i in ids if i] for ids in batch.ids.tolist()] == sentences
    assert batch.word_lengths.tolist() == [len(sentence) for sentence in sentences]
    assert batch.word_mask.sum(1).equal(batch.word_lengths)
    assert batch.lengths.tolist() == [3, 3, 3] == batch.mask.sum(1).tolist()
    assert batch.index.tolist() == rows
    assert dataset.tokens(5, 1) == dataset.tokens(5)[1].split()


def test_rationales_are_sentences_or_words_of_one(documents):
    dataset = documents.dataset("test")
    for row in range(len(dataset)):
        cue = f"cue{dataset.labels[row]}"
        held = [n for n, sentence in enumerate(dataset.tokens(row)) if cue in sentence]
        assert dataset.rationale(row) == held
        for n in range(3):
            words = dataset.tokens(row, n)
            assert dataset.rationale(row, n) == [i for i, word in enumerate(words) if word.startswith(cue)]


def test_every_document_once_in_batches_within_the_limit(documents):
    seen = []
    for batch in documents.dataloader("test"):
        assert batch.ids.numel() <= 200
        assert len(batch) <= 7
        seen += batch.index.tolist()
    assert sorted(seen) == list(range(30))


def test_evaluation_batches_count_the_rows_that_documents_take():
    shapes = np.array([[2, 5], [9, 5], [1, 50], [2, 5]])
    batches = list(EvaluationBatches(np.array([10, 40, 50, 10]), 9, max_positions=50, shapes=shapes))
    assert batches == [[0, 3], [1], [2]]


@pytest.mark.parametrize(("sentences", "words"), [(2, None), (None, 3), (1, 2)])
def test_long_documents_are_cut_and_counted(tmp_path, write_csv, sentences, words):
    rows = [
        (str(n), text, "xy"[n % 2]) for n, text in enumerate(("a b c d\ne\nf g", "h\ni", "j k l m n", "o\n\np q\nr"))
    ]
    source, path = LocalSource(validation_fraction=0.25, test_fraction=0.25), write_csv(rows=rows)
    options = {"path": str(path), "sentences": "lines", "max_sentences": sentences, "max_sentence_words": words}
    data = module(source, tmp_path, **options)
    whole = {row[0]: [line.split() for line in row[1].split("\n") if line] for row in rows}
    lost = {"sentences": 0, "words": 0}
    for split in ("train", "validation", "test"):
        dataset = data.dataset(split)
        for row, name in enumerate(dataset.ids):
            kept = [line[:words] for line in whole[name][:sentences]]
            assert [dataset.tokens(row, n) for n in range(len(kept))] == kept
            assert [dataset.lengths[row], dataset.units[row]] == [sum(map(len, kept)), len(kept)]
            assert dataset.shapes[row].tolist() == [len(kept), max(map(len, kept))]
            batch = dataset[[row]]
            assert batch.word_lengths.tolist() == list(map(len, kept))
            assert [[data.vocabulary[i] for i in ids if i] for ids in batch.ids.tolist()] == [
                [w if w in data.vocabulary else "<unk>" for w in line] for line in kept
            ]
        for what, number in data.counts[split]["cut"].items():
            lost[what] += number
    assert lost["sentences"] == (sum(len(lines) > sentences for lines in whole.values()) if sentences else 0)
    assert lost["words"] == sum(any(len(line) > (words or 99) for line in ls[:sentences]) for ls in whole.values())


@pytest.mark.parametrize("cls", [TextDataModule, DocumentDataModule])
def test_outlying_documents_leave_the_training_split_alone(tmp_path, folder, write_csv, cls):
    texts = [("a", "x\ny\nz", "pos"), ("b", "u v w", "neg"), ("c", "x\ny", "pos"), ("d", "u v", "neg")]
    for split in ("train", "dev", "test"):
        write_csv(f"set/{split}.csv", texts)
    options = {"path": str(folder), "sentences": "lines", "train_max_sentences": 2, "train_max_sentence_words": 2}
    data = module(LocalSource(), tmp_path, cls, **options)
    assert data.dataset("train").ids == ["c", "d"]
    assert data.counts["train"]["dropped"] == {"too many or too long sentences": 2}
    assert data.dataset("test").ids == ["a", "b", "c", "d"]
    bounded = module(LocalSource(), tmp_path, cls, **options, validation_max_sentences=2)
    assert [bounded.dataset(split).ids for split in ("validation", "test")] == [["b", "c", "d"], ["a", "b", "c", "d"]]
    assert bounded.counts["validation"]["dropped"] == {"too many or too long sentences": 1}
    with pytest.raises(DataError, match="max_sentences"):
        module(LocalSource(), tmp_path, cls, **{**options, "train_max_sentences": 0})


def test_boundaries_are_part_of_the_key_where_they_are_used():
    source = PlantedSource()
    keys = [DocumentDataModule(source, sentences=splitter).recipe.key for splitter in ("en", "de", "lines")]
    flat = [TextDataModule(source, sentences=splitter).recipe.key for splitter in ("en", "lines")]
    assert len({*keys, *flat}) == 4
    for splitter in ("english", "EN", ""):
        with pytest.raises(ConfigError, match=r"data\.sentences"):
            TextDataModule(source, sentences=splitter)
    with pytest.raises(ConfigError, match=r"data\.max_sentences=0"):
        DocumentDataModule(source, max_sentences=0)


def test_words_are_counted_once_a_text_or_every_time():
    texts = ["a a b", "b c"]
    assert build_vocabulary(Rules(), texts, 2)[4:] == ["b"]
    assert build_vocabulary(Rules(), texts, 2, count="words")[4:] == ["a", "b"]


def test_imposed_attention_goes_to_sentences(documents):
    dataset = documents.dataset("test")
    weights = {name: [0.5, 0.25, 0.25] if n % 2 else [0.0, 0.0, 1.0] for n, name in enumerate(dataset.ids)}
    impose_attention(dataset, pa.table({"id": list(weights), "attention": list(weights.values())}), "test")
    assert dataset[[3, 0]].given.tolist() == [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]
    short = pa.table({"id": list(weights), "attention": [[1.0]] * len(weights)})
    with pytest.raises(DataError, match="1 weights for 3 sentences"):
        impose_attention(dataset, short, "test")


def test_a_model_reads_what_the_loader_gives(documents):
    batch = next(iter(documents.dataloader("test")))
    batch.ids = batch.ids % 40
    assert observe(make_han(), batch).attention.shape == batch.mask.shape
