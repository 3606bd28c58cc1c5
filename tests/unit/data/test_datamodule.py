import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnlab.data import TextDataModule
from attnlab.data.sources import LocalSource, PlantedSource
from attnlab.errors import ConfigError, DataError

TEXTS = [("a", "one two", "x"), ("b", "one two three", "y"), ("c", "1 2 3 4", "x"), ("d", "a b c d e", "y")]


def test_what_a_model_needs_to_know(folder, local):
    data = local(folder)
    assert data.classes == ["neg", "pos"]
    assert data.vocabulary == ["<pad>", "<unk>", "<start>", "<end>", "bad", "film", "good", "!", "a", "one", "so"]
    assert (data.vocab_size, data.num_classes, data.pos_weight) == (11, 2, 1.0)
    assert data.dataset("validation").ids == ["a", "b", "c", "d"]
    assert data.dataset("test").tokens(3) == ["so", "bad", "!"]
    assert data.dataset("test").rationale(0) is None
    assert data.counts["train"] == {"rows": 4, "dropped": {}}


def test_many_classes_have_no_pos_weight(write_csv, local):
    rows = [(str(i), "w", str(i % 3)) for i in range(30)]
    data = local(write_csv(rows=rows))
    assert data.classes == ["0", "1", "2"]
    assert data.pos_weight is None


@pytest.mark.parametrize(
    ("bounds", "ids"),
    [
        ({"min_length": 2}, ["b", "c", "d"]),
        ({"max_length": 5}, ["a", "b", "c"]),
        ({"min_length": 2, "max_length": 5}, ["b", "c"]),
        ({}, ["a", "b", "c", "d"]),
        ({"published_length_filter": True}, ["b", "c"]),
        ({"published_length_filter": True, "min_length": 3}, ["c"]),
    ],
)
def test_length_bounds_are_exclusive(write_csv, local, bounds, ids):
    for split in ("train", "dev", "test"):
        path = write_csv(f"set/{split}.csv", TEXTS).parent
    data = local(path, **bounds)
    assert data.dataset("test").ids == ids
    assert sum(data.counts["test"]["dropped"].values()) == 4 - len(ids)


def test_length_bounds_leave_the_vocabulary_alone(write_csv, local):
    for split in ("train", "dev", "test"):
        path = write_csv(f"set/{split}.csv", TEXTS).parent
    assert local(path, min_length=2).vocabulary == local(path).vocabulary


def test_bounds_that_leave_nothing_are_an_error(folder, local):
    with pytest.raises(DataError, match=r"data\.min_length"):
        local(folder, min_length=100)


def test_a_text_without_words_is_an_error_or_dropped(write_csv, local):
    rows = [*TEXTS, ("e", "  ", "x")]
    for split in ("train", "dev", "test"):
        path = write_csv(f"set/{split}.csv", rows if split == "dev" else TEXTS).parent
    with pytest.raises(DataError, match=r"validation split have no words, such as that of id 'e'"):
        local(path)
    data = local(path, on_empty="drop")
    assert data.counts["validation"] == {"rows": 4, "dropped": {"empty": 1}}


def test_the_second_time_nothing_is_read_or_tokenised(folder, local, monkeypatch):
    first = local(folder)
    monkeypatch.setattr(LocalSource, "load", None)
    monkeypatch.setattr("attnlab.data.cache.encode", None)
    again = local(folder, min_length=1)
    assert again.dataset("train")[[0, 1]].ids.equal(first.dataset("train")[[0, 1]].ids)


def test_changed_contents_are_read_again(folder, local, write_csv):
    local(folder)
    write_csv("set/test.csv", [*TEXTS[:1], ("b", "other", "pos")], ("id", "text", "label"))
    with pytest.raises(DataError, match="outside the label set"):
        local(folder)


def test_setup_twice_and_unknown_splits(tmp_path):
    data = TextDataModule(PlantedSource(train=9), tokens="whitespace", numbers=False, cache_dir=str(tmp_path))
    data.prepare_data()
    data.setup()
    dataset = data.dataset("train")
    data.setup("fit")
    assert data.dataset("train") is dataset
    with pytest.raises(ConfigError, match="train, validation, test"):
        data.dataset("dev")


def test_a_failed_attempt_leaves_no_entry(write_csv, local, tmp_path):
    path = write_csv(rows=[("a", " ", "x"), ("b", "w", "y")] * 0 + [(str(i), " ", "x") for i in range(20)])
    with pytest.raises(DataError):
        local(path)
    assert [p for p in (tmp_path / "cache" / "tokens").iterdir() if p.is_dir()] == []


def attention_file(tmp_path, weights, **columns):
    file = tmp_path / "attention.parquet"
    pq.write_table(pa.table({"id": list(weights), "attention": list(weights.values()), **columns}), file)
    return str(file)


WEIGHTS = {"d": [0.0, 0.25, 0.75], "a": [0.5, 0.25, 0.25], "b": [1.0, 0.0], "c": [0.0, 0.0, 1.0], "unused": [1.0]}


def test_given_attention_is_aligned_by_id(folder, local, tmp_path):
    data = local(folder, attention=attention_file(tmp_path, WEIGHTS))
    batch = data.dataset("test")[[1, 3]]
    assert batch.given.tolist() == [[0, 1.0, 0.0, 0, 0], [0, 0.0, 0.25, 0.75, 0]]
    assert not batch.given[~batch.mask].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": None}, "no attention for 1 of 4 ids of the train split, such as 'd'"),
        ({"b": [0.5, 0.25, 0.25]}, "3 weights for 2 tokens"),
        ({"b": [0.5, 0.2]}, "sum to 1"),
        ({"b": [1.5, -0.5]}, "non-negative"),
        ({"b": [float("nan"), 1.0]}, "sum to 1"),
    ],
)
def test_wrong_given_attention_is_an_error(folder, local, tmp_path, change, message):
    weights = {name: value for name, value in {**WEIGHTS, **change}.items() if value is not None}
    with pytest.raises(DataError, match=message):
        local(folder, attention=attention_file(tmp_path, weights))


def test_given_attention_of_several_splits_is_told_apart(folder, local, tmp_path):
    weights = {**WEIGHTS, "b": [0.0, 1.0]}
    names = list(WEIGHTS)[:4]
    rows = [
        (n, split, (weights if split == "test" else WEIGHTS)[n])
        for split in ("train", "validation", "test")
        for n in names
    ]
    file = tmp_path / "records.parquet"
    pq.write_table(
        pa.table({k: list(v) for k, v in zip(("id", "split", "attention"), zip(*rows, strict=True), strict=True)}), file
    )
    data = local(folder, attention=[str(file)])
    assert data.dataset("train")[[1]].given[0, 1] == 1
    assert data.dataset("test")[[1]].given[0, 1] == 0
