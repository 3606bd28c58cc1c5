"""Generated bAbI stories against a solver of their own, and the official format."""

import pytest

from attnlab.data.sources import BabiSource
from attnlab.errors import DataError
from tests.babi import solve

STORY = """\
1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Mary journeyed to the office.
5 Where is Mary? \toffice\t4
1 Sandra went back to the garden.
2 Where is Sandra? \tgarden\t1
"""


def rows(source, split="train"):
    return source.read(None)[split].to_pylist()


def supporting(row):
    """Sentences whose words are all in the rationale, and whether no other words are."""
    words, found, start = set(row["rationale"]), [], 0
    for sentence in row["text"].split(" . "):
        places = set(range(start, start + len(sentence.split())))
        assert not words & places or places <= words, row
        found += [sentence] if places <= words else []
        words -= places
        start = max(places) + 2
    assert not words
    return found


@pytest.mark.parametrize("task", [1, 2, 3])
def test_a_solver_agrees_with_every_answer(task):
    source = BabiSource(task=task, train=1500, validation=203, test=5)
    for split, size in (("train", 1500), ("validation", 203), ("test", 5)):
        generated = rows(source, split)
        assert len(generated) == len({row["id"] for row in generated}) == size
        for row in generated:
            assert solve(row["text"].split(" . "), row["question"]) == row["label"], row


@pytest.mark.parametrize("task", [1, 2])
def test_the_answer_follows_from_the_supporting_sentences_alone_and_from_no_fewer(task):
    for row in rows(BabiSource(task=task, train=600)):
        support = supporting(row)
        assert len(support) == task
        assert solve(support, row["question"]) == row["label"]
        assert solve(support[:-1], row["question"]) != row["label"]


def test_task_three_is_supported_by_both_arrivals_and_by_who_had_the_thing():
    for row in rows(BabiSource(task=3, train=600)):
        support, thing, place = supporting(row), row["question"].split()[3], row["question"].split()[-1]
        assert len(support) == 3
        assert sum(thing in sentence for sentence in support) == 1
        assert sum(sentence.endswith(f"to the {place}") for sentence in support) == 1
        assert sum(sentence.endswith(f"to the {row['label']}") for sentence in support) == 1


def test_the_seed_decides_the_stories_and_splits_differ():
    first, again, other = (rows(BabiSource(train=50, data_seed=seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert [row["text"] for row in rows(BabiSource(train=50, test=50), "test")] != [row["text"] for row in first]


def test_official_files_are_read_with_their_facts(tmp_path):
    for split in ("train", "test"):
        (tmp_path / f"qa1_single-supporting-fact_{split}.txt").write_text(STORY)
    (tmp_path / "qa11_basic-coreference_train.txt").write_text("not read")
    tables = BabiSource().read_local(tmp_path, tmp_path)
    assert set(tables) == {"train", "test"}
    first, second, third = tables["train"].to_pylist()
    assert first["text"] == "Mary moved to the bathroom . John went to the hallway"
    assert (first["question"], first["label"], first["rationale"]) == ("Where is Mary", "bathroom", [0, 1, 2, 3, 4])
    assert second["text"].endswith("hallway . Mary journeyed to the office")
    assert supporting(second) == ["Mary journeyed to the office"]
    assert third["text"] == "Sandra went back to the garden"
    for split in ("train", "test"):
        (tmp_path / f"qa1_single-supporting-fact_{split}.txt").write_text(STORY * 5)
    data = BabiSource(validation_fraction=0.4, group="document").load(tmp_path, tmp_path)
    stories = [{name.rpartition("_")[0] for name in data[split]["id"]} for split in ("train", "validation")]
    assert not stories[0] & stories[1]
    assert len(data["test"]) == len(data["train"]) + len(data["validation"]) == 15


@pytest.mark.parametrize(
    ("task", "files", "message"),
    [
        (2, {"qa1_x_train.txt": STORY}, "no file qa2_"),
        (1, {"en/qa1_x_train.txt": STORY, "en-10k/qa1_x_train.txt": STORY}, "several folders"),
        (1, {"qa1_x_train.txt": "1 Mary moved.\nWhere is Mary?\n"}, r"qa1_x_train\.txt:2: neither"),
        (4, None, "tasks 1 to 3 are generated"),
    ],
)
def test_what_cannot_be_read_is_said_by_name(tmp_path, task, files, message):
    for name, text in (files or {}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        BabiSource(task=task).load(tmp_path, tmp_path if files else None)
