"""Batches of two texts."""

import json

import numpy as np
import pytest
import torch

from attnlab.data import PairDataModule, TextDataModule
from attnlab.data.sources import BabiSource, LocalSource
from attnlab.errors import ConfigError, DataError

NEWS = [
    ("a", "@e1 met @e2 in @e10 today", "who met @e2", "@e1"),
    ("b", "@e2 left", "who left", "@e2"),
    ("c", "@e10 and @e1 won", "who lost to @e2", "@e2"),
    ("d", "nobody met @e10", "@e10 met whom ?", "@e10"),
]


@pytest.fixture
def build(tmp_path):
    """A pair module over rows of id, text, question and label, the same in each split."""

    def build(rows=NEWS, source=(), **options):
        folder = tmp_path / "rows"
        folder.mkdir(exist_ok=True)
        for split in ("train", "dev", "test"):
            lines = [json.dumps(dict(zip(("id", "text", "question", "label"), row, strict=True))) for row in rows]
            (folder / f"{split}.jsonl").write_text("\n".join(lines))
        chosen = LocalSource(**{"question": "question", **dict(source)})
        data = PairDataModule(
            chosen, str(folder), str(tmp_path / "cache"), tokens="whitespace", numbers=False, **options
        )
        data.setup()
        return data

    return build


def words(data, ids):
    return [data.vocabulary[i] for i in ids.tolist() if i]


def test_a_batch_holds_both_texts_each_padded_to_its_own_width(build):
    data = build()
    batch = data.dataset("test")[[1, 0]]
    assert batch.ids.shape == (2, 8)
    assert batch.question_ids.shape == (2, 5)
    assert batch.candidates is None
    assert words(data, batch.ids[0]) == ["<start>", "@e2", "left", "<end>"]
    assert words(data, batch.question_ids[0]) == ["<start>", "who", "left", "<end>"]
    assert batch.question_mask[0].tolist() == [False, True, True, False, False]
    assert batch.question_lengths.tolist() == [4, 5]
    assert data.dataset("test").question(1) == ["who", "left"]
    assert batch.to("cpu").question_ids.equal(batch.question_ids)


def test_batches_go_by_the_length_of_the_text_and_hold_what_single_rows_hold(build):
    data = build(eval_batch_size=2)
    dataset, seen = data.dataset("test"), []
    for batch in data.test_dataloader():
        for row, index in enumerate(batch.index.tolist()):
            alone = dataset[[index]]
            for name in ("ids", "mask", "question_ids", "question_mask"):
                ours, width = getattr(batch, name)[row], getattr(alone, name).shape[1]
                torch.testing.assert_close(ours[:width], getattr(alone, name)[0])
                assert not ours[width:].any()
            seen.append(index)
    assert sorted(seen) == [0, 1, 2, 3]
    assert np.diff(dataset.lengths[seen]).min() >= 0


def test_the_vocabulary_is_that_of_both_texts_and_counts_both(build):
    assert "lost" in build().vocabulary
    assert set(build(min_frequency=4).vocabulary[4:]) == {"met", "@e2", "@e10"}


def test_only_answers_in_the_text_are_offered_and_rows_without_theirs_are_counted(build):
    data = build(offers_answers=True, min_frequency=99)
    assert data.classes == ["@e1", "@e10", "@e2"]
    assert data.vocabulary[4:] == data.classes
    dataset = data.dataset("test")
    assert dataset.ids == ["a", "b", "d"]
    assert data.counts["test"] == {"rows": 3, "dropped": {"answer not in the text": 1}}
    offered = dataset[[0, 1, 2]].candidates.tolist()
    assert offered == [[True, True, True], [False, False, True], [False, True, False]]


def test_an_empty_question_is_found_before_training(build):
    with pytest.raises(DataError, match="1 texts of the train split have no words, such as that of id 'b'"):
        build([NEWS[0], ("b", "@e2 left", " ", "@e2")])


def test_the_question_is_part_of_what_identifies_the_data(build):
    data = build()
    other = PairDataModule(LocalSource(question="text"), data.recipe.path, tokens="whitespace", numbers=False)
    assert data.recipe.key != other.recipe.key


def test_a_question_that_nobody_reads_and_one_that_is_not_there_are_refused(build):
    with pytest.raises(ConfigError, match="model=pair_bilstm"):
        TextDataModule(BabiSource())
    with pytest.raises(ConfigError, match=r"data\.source\.question"):
        PairDataModule(LocalSource())
    with pytest.raises(DataError, match=r"data\.source\.question: the .* split has no column 'hypothesis'"):
        build(source={"question": "hypothesis"})
