import os
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import torch

from attnlab.data import DocumentDataModule, PairDataModule, Word2VecVectors
from attnlab.data.sources import LocalSource
from attnlab.errors import ConfigError

TEXTS = [("a", "cats purr\ndogs bark loudly", "x"), ("b", "cats purr\nodd", "y"), ("c", "dogs bark", "x")]
SMALL = {"dim": 5, "epochs": 3}


@pytest.fixture
def three(write_csv):
    for split in ("train", "dev", "test"):
        path = write_csv(f"set/{split}.csv", TEXTS).parent
    return path


def words(data, passages):
    return [[data.vocabulary[token] for token in passage] for passage in passages]


def test_passages_are_texts_or_sentences_and_questions(three, local, write_csv, tmp_path):
    texts = local(three, min_frequency=2)
    found = words(texts, texts.corpus.passages())
    assert found == [["cats", "purr", "dogs", "bark", "<unk>"], ["cats", "purr", "<unk>"], ["dogs", "bark"]]
    assert local(three, min_frequency=2, max_length=4).corpus.counts(8).tolist() == [0, 2, 0, 0, 2, 2, 2, 2]
    options = {"path": str(three), "cache_dir": str(tmp_path), "sentences": "lines"}
    documents = DocumentDataModule(LocalSource(), **options)
    documents.setup()
    lines = [line.split() for _, text, _ in TEXTS for line in text.split("\n")]
    assert words(documents, documents.corpus.passages()) == lines
    pairs = write_csv(
        "pairs/train.csv", [(*row, "why so") for row in TEXTS], ("id", "text", "label", "question")
    ).parent
    for split in ("dev", "test"):
        write_csv(f"pairs/{split}.csv", [(*row, "why") for row in TEXTS], ("id", "text", "label", "question"))
    asked = PairDataModule(LocalSource(question="question"), path=str(pairs), cache_dir=str(tmp_path))
    asked.setup()
    assert words(asked, asked.corpus.passages())[3:] == [["why", "so"]] * 3
    assert asked.corpus.key != texts.corpus.key


@pytest.fixture
def many(write_csv, local):
    """60 texts of 20 of 160 words and a rare one: of fewer words, gensim would pass over most."""
    draw, names = random.Random(0), [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(160)]
    texts = [" ".join(draw.choices(names, k=20)) for _ in range(60)]
    rows = [(str(n), f"{text} r{chr(97 + n % 20)}", "xy"[n % 2]) for n, text in enumerate(texts)]
    for split in ("train", "dev", "test"):
        path = write_csv(f"many/{split}.csv", rows).parent
    return local(path, min_frequency=4)


def test_vectors_are_those_of_gensim_scaled_and_kept(many, tmp_path, monkeypatch):
    gensim = pytest.importorskip("gensim")
    size = len(many.vocabulary)
    vectors = Word2VecVectors(**SMALL, cache_dir=str(tmp_path / "cache"))
    matrix = vectors.matrix(many.vocabulary, many.corpus)
    assert matrix.shape == (size, 5)
    assert not matrix[[0, 2, 3]].any()
    assert torch.allclose(matrix[[1, *range(4, size)]].norm(dim=1), torch.ones(size - 3))
    assert vectors.coverage == 1
    # The same by gensim's own reading of the words, in the order of the vocabulary.
    passages = words(many, many.corpus.passages())
    counts = Counter(word for passage in passages for word in passage)
    assert counts["<unk>"] >= 60
    model = gensim.models.Word2Vec(vector_size=5, min_count=1, seed=0, workers=1, sorted_vocab=0)
    model.build_vocab_from_freq({word: counts[word] for word in many.vocabulary if counts[word]})
    start = model.wv.vectors.copy()
    model.train(passages, total_examples=len(passages), epochs=3)
    assert np.abs(model.wv.vectors - start).max() > 0.01
    expected = model.wv[many.vocabulary[4:]]
    np.testing.assert_allclose(matrix[4:], expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    monkeypatch.setattr(gensim.models, "Word2Vec", None)
    again = Word2VecVectors(**SMALL, cache_dir=str(tmp_path / "cache"))
    assert again.matrix(many.vocabulary, many.corpus).equal(matrix)


def test_what_decides_vectors_and_what_does_not(many, tmp_path):
    pytest.importorskip("gensim")

    def made(folder="one", **options):
        vectors = Word2VecVectors(**{**SMALL, **options}, cache_dir=str(tmp_path / folder))
        return vectors, vectors.matrix(many.vocabulary, many.corpus)

    first = made()[1]
    assert made("two")[1].equal(first)
    for options in ({"seed": 1}, {"epochs": 4}, {"window": 1}, {"normalise": False}):
        assert not made(**options)[1].equal(first)
    some, matrix = made(min_count=8)
    frequent = many.corpus.counts(len(many.vocabulary))[4:] >= 8
    assert matrix[4:].any(dim=1).tolist() == frequent.tolist()
    assert some.coverage == frequent.mean() < 1


@pytest.mark.slow
def test_the_same_vectors_whatever_python_hashes(many, tmp_path):
    pytest.importorskip("gensim")
    first = Word2VecVectors(**SMALL, cache_dir=str(tmp_path / "one")).matrix(many.vocabulary, many.corpus)
    script = (
        "import sys, torch; from attnlab.data import TextDataModule, Word2VecVectors;"
        "from attnlab.data.sources import LocalSource;"
        "data = TextDataModule(LocalSource(), sys.argv[1], sys.argv[2], min_frequency=4); data.setup();"
        "vectors = Word2VecVectors(dim=5, epochs=3, cache_dir=sys.argv[2]);"
        "torch.save(vectors.matrix(data.vocabulary, data.corpus), sys.argv[3])"
    )
    command = [sys.executable, "-c", script, str(many.recipe.path), str(tmp_path / "fresh"), str(tmp_path / "other.pt")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert torch.load(tmp_path / "other.pt", weights_only=True).equal(first)


def test_refusals_are_a_line(monkeypatch):
    with pytest.raises(ConfigError, match=r"vectors\.window"):
        Word2VecVectors(window=0)
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'attnlab\[word2vec\]'"):
        Word2VecVectors()
