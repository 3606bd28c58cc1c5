import numpy as np
import pytest

from attnlab.data import TextDataModule
from attnlab.data.sources import PlantedSource
from attnlab.errors import DataError


def rows(source, split="train"):
    return source.load("unused")[split]


@pytest.mark.parametrize(("classes", "distractors"), [(2, 1), (4, 2)])
def test_label_is_the_majority_of_the_cues_and_rationales_are_the_deciding_ones(classes, distractors):
    source = PlantedSource(train=60, num_classes=classes, cues=3, distractors=distractors, min_words=12)
    data = rows(source)
    for text, label, rationale in zip(data["text"], data["label"], data["rationale"], strict=True):
        cues = [int(word[3]) if word.startswith("cue") else -1 for word in text.split()]
        found = [cues.count(klass) for klass in range(classes)]
        assert found == [3 if klass == label else distractors for klass in range(classes)]
        assert [place for place, cue in enumerate(cues) if cue == label] == rationale
    assert np.bincount(data["label"]).tolist() == [60 // classes] * classes


def test_the_shortcut_gives_the_label_away_in_training_only():
    source = PlantedSource(train=400, test=400, shortcut=1.0)

    def agreement(split):
        data = rows(source, split)
        words = [text.split() for text in data["text"]]
        half = [2 * w.index("marker") >= len(w) // 2 * 2 for w in words]
        return np.mean(np.array(half) == np.array(data["label"]))

    assert agreement("train") == 1.0
    assert 0.4 < agreement("test") < 0.6


def test_the_seed_decides_all_of_it():
    first, again, other = (rows(PlantedSource(train=20, data_seed=s))["text"] for s in (1, 1, 2))
    assert list(first) == list(again)
    assert list(first) != list(other)


@pytest.mark.parametrize("options", [{"distractors": 2}, {"min_words": 2}, {"shortcut": 1.5}, {"num_classes": 1}])
def test_impossible_options_are_refused(options):
    with pytest.raises(DataError):
        PlantedSource(**options)


def test_rationales_are_positions_of_the_tokens_that_models_see(tmp_path):
    source = PlantedSource(train=20, validation=5, test=5)
    data = TextDataModule(source, tokens="whitespace", numbers=False, cache_dir=str(tmp_path))
    test = data.dataset("test")
    for index in range(len(test)):
        words = [test.tokens(index)[place] for place in test.rationale(index)]
        assert {word[:4] for word in words} == {f"cue{test.labels[index]}"}


def test_rationales_need_whitespace_tokens(tmp_path):
    with pytest.raises(DataError, match=r"data\.tokens=whitespace"):
        TextDataModule(PlantedSource(train=9), cache_dir=str(tmp_path)).setup()
