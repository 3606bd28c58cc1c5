"""Document models from the command line."""

import json

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import PLANTED, entries

SMALL = (*PLANTED, "data.source.sentences=3", "model=han_gru", "vectors.dim=16", "trainer.max_epochs=1", "logger=none")


def test_sentences_and_words_of_one_model_are_measured(attnlab):
    sentences = attnlab(*SMALL, "protocol=[predictions,gradient_correlation,leave_one_out,set_erasure]")
    assert sentences.returncode == 0, sentences.stderr
    results = entries(attnlab.folder, "results")
    assert len(results) == 4
    for result in results:
        assert json.loads((result / "specification.json").read_text())["unit"] == "sentences"
        for row in pq.read_table(result / "records.parquet").to_pylist():
            assert row["length"] == 3
            if "tokens" in row:
                assert len(row["tokens"]) == len(row["attention"]) == 3
                assert all(sentence.endswith(" .") for sentence in row["tokens"])
                assert {0, 1, 2} >= set(row["rationale"])
    words = attnlab(*SMALL, "protocol=[predictions]", "level=word")
    assert words.returncode == 0, words.stderr
    assert "planted-han_gru-additive_wide-random-word" in words.stdout
    (model,) = entries(attnlab.folder, "models")
    assert json.loads((model / "training.json").read_text())["counts"]["train"]["sentences"] == 600
    (new,) = set(entries(attnlab.folder, "results")) - set(results)
    assert json.loads((new / "specification.json").read_text())["unit"] == "words"
    for row in pq.read_table(new / "records.parquet").to_pylist():
        assert len(row["tokens"]) == len(row["attention"]) == row["length"]
        assert abs(sum(row["attention"]) - 1) < 1e-5
        assert 0 <= row["sentence"] < 3


def test_word_vectors_of_the_training_texts_are_made_once(attnlab):
    pytest.importorskip("gensim")
    job = (*SMALL, "vectors=word2vec", "vectors.epochs=2", "protocol=[predictions]")
    first = attnlab(*job)
    assert first.returncode == 0, first.stderr
    assert "learning word vectors from" in first.stdout
    assert "gensim" not in first.stdout
    again = attnlab(*job, "seed=1")
    assert "learning word vectors" not in again.stdout
    assert len(entries(attnlab.folder, "models")) == 2
    assert len(list((attnlab.folder.parent / "home" / "cache").rglob("vectors/*.npy"))) == 1
