import io
import json
import tarfile

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from attnlab.data.sources import LocalSource, RatedSentences
from attnlab.errors import DataError

ROWS = [("a", "good good film", "pos"), ("b", "bad film", "neg"), ("c", "a good one", "pos"), ("d", "so bad !", "neg")]


def load(path, cache, **options):
    return LocalSource(**options).load(cache, path)


def names(data, split="train"):
    labels = data[split].features["label"].names
    return [labels[number] for number in data[split]["label"]]


def write(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


SPLITS = ("train", "valid", "test")


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "save_to_disk"])
def test_every_table_format_gives_the_same_rows(tmp_path, kind, write_csv):
    columns = dict(zip(("id", "text", "label"), map(list, zip(*ROWS, strict=True)), strict=True))
    folder = tmp_path / "set"
    folder.mkdir()
    if kind == "save_to_disk":
        DatasetDict({s: Dataset.from_dict(columns) for s in ("train", "validation", "test")}).save_to_disk(folder)
    for split in SPLITS:
        if kind == "csv":
            write_csv(f"set/{split}.csv")
        elif kind == "tsv":
            lines = ["id\ttext\tlabel", *("\t".join(row) for row in ROWS)]
            (folder / f"{split}.tsv").write_text("\n".join(lines))
        elif kind == "jsonl":
            lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in ROWS]
            (folder / f"{split}.jsonl").write_text("\n".join(lines))
        elif kind == "parquet":
            Dataset.from_dict(columns).to_parquet(folder / f"{split}-00000-of-00001.parquet")
    data = load(folder, tmp_path / "cache")
    for split in ("train", "validation", "test"):
        assert list(data[split]["id"]) == list("abcd")
        assert list(data[split]["text"]) == columns["text"]
        assert names(data, split) == columns["label"]


def test_trees_give_the_label_of_the_root_and_the_leaves(tmp_path):
    tree = "(3 (2 It) (4 (2 's) (3 -LRB-)))\n(2 (2 neutral) (1 one))\n(0 (1 bad) (2 .))\n"
    folder = write(tmp_path / "set", {f"{split}.txt": tree for split in SPLITS})
    data = load(folder, tmp_path, labels={0: "neg", 1: "neg", 3: "pos", 4: "pos"}, unlisted="drop")
    assert list(data["train"]["text"]) == ["It 's -LRB-", "bad ."]
    assert list(data["train"]["id"]) == ["train-0", "train-2"]
    assert names(data) == ["pos", "neg"]


def test_label_then_text_lines_chosen_by_a_pattern(tmp_path):
    files = {f"x.{split}": "1 very good\n0 bad , \x85 really\n" for split in SPLITS}
    write(tmp_path / "set", {**files, **{f"y.{split}": "0 no\n1 yes\n" for split in SPLITS}})
    data = load(tmp_path / "set" / "x.*", tmp_path)
    assert list(data["test"]["text"]) == ["very good", "bad , \x85 really"]
    assert names(data) == ["1", "0"]
    with pytest.raises(DataError, match=r"several files for the test split: x\.test, y\.test"):
        load(tmp_path / "set", tmp_path)


def test_columns_labels_and_quotes_of_a_file_without_header(tmp_path):
    file = tmp_path / "all.csv"
    file.write_text('"1","T, a","He said ""hi"""\n"3","nan","B"\n"4","C","D"\n' * 10)
    data = load(
        file,
        tmp_path,
        header=["label", "title", "body"],
        text=["title", "body"],
        labels={1: "World", 3: "Business"},
        unlisted="drop",
        classes=["Business", "World"],
    )
    assert data["train"].features["label"].names == ["Business", "World"]
    assert set(data["train"]["text"]) == {'T, a He said "hi"', "nan B"}


@pytest.mark.parametrize("packed", [False, True])
def test_class_folders_and_archives_of_them(tmp_path, packed):
    files = {f"{s}/{c}/{n}.txt": f"{c} {n}" for s in ("train", "test") for c in ("pos", "neg") for n in range(10)}
    path = tmp_path / "aclImdb"
    if packed:
        path = tmp_path / "set.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in {**files, "train/urls.txt": "x"}.items():
                info = tarfile.TarInfo(f"aclImdb/{name}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content.encode()))
    else:
        write(path, files)
    data = load(path, tmp_path, validation_fraction=0.2)
    assert {split: len(rows) for split, rows in data.items()} == {"train": 16, "validation": 4, "test": 20}
    assert data["test"][0] == {"id": "neg/0.txt", "text": "neg 0", "label": 0}


def test_newsgroup_messages_lose_what_gives_them_away(tmp_path):
    message = "From: x\nSubject: hockey\n\nIn article <1> y writes:\n> quoted\nReal text.\n--\nSignature\n"
    folder = write(tmp_path / "n", {f"{s}/g{n % 2}/{n}": message for s in ("train", "test") for n in range(20)})
    assert set(load(folder, tmp_path, news=True)["test"]["text"]) == {"Real text."}


def test_ids_and_texts_stay_what_they_are(write_csv, tmp_path):
    rows = [(f"{i:03}", "null" if i % 2 else "NA", "1.0") for i in range(20)]
    data = load(write_csv(rows=rows), tmp_path)
    assert set(data["train"]["id"]) <= {row[0] for row in rows}
    assert set(data["train"]["text"]) == {"null", "NA"}


def test_class_numbers_of_saved_sets_become_names_and_unlabelled_splits_are_left_out(tmp_path):
    features = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
    rows = Dataset.from_dict({"text": ["a", "b"], "label": [0, 1]}, features=features)
    DatasetDict(train=rows, test=rows, validation=rows, unsupervised=rows).save_to_disk(tmp_path / "set")
    data = load(tmp_path / "set", tmp_path, labels={"neg": "negative", "pos": "positive"})
    assert names(data) == ["negative", "positive"]


def test_rated_sentences_from_a_file(tmp_path):
    lines = [f"{i}\t{(-1) ** i * (0.5 if i < 4 else 2.0)}\ttext {i}" for i in range(24)]
    file = tmp_path / "x.txt"
    file.write_text("\r\n".join(lines))
    source = RatedSentences()
    data = source.load(tmp_path, file)
    assert source.dropped == {"rating within 0.5 of 0": 4}
    assert {split: len(rows) for split, rows in data.items()} == {"train": 16, "validation": 2, "test": 2}
    assert all(
        ("negative", "positive")[label] == ("negative" if int(i) % 2 else "positive")
        for i, label in zip(data["train"]["id"], data["train"]["label"], strict=True)
    )


@pytest.mark.parametrize(
    ("options", "content", "message"),
    [
        (
            {},
            "id,words,label\na,b,c\n",
            r"data\.source\.text: the train split has no column 'text'; it has id, words, label",
        ),
        ({}, "id,text\na,b\n", r"data\.source\.label: the train split has no column 'label'"),
        ({"id": "key"}, "text,label\na,b\n", r"data\.source\.id: the train split has no column 'key'"),
        ({}, "id,text,label\n1,a,b\n2,a,b\n1,a,c\n", r"1 ids occur more than once in the train split, such as '1'"),
        (
            {"labels": {"b": "B"}},
            "text,label\na,b\na,c\n",
            r"label 'c' in the train split is outside the label set \['b'\]",
        ),
        ({"labels": {"b": "B"}, "unlisted": "drop"}, "text,label\na,x\na,y\n", "the train split is empty"),
        ({}, "text,label\na,b\n", "split is empty"),
        ({"merge": True}, "", "cannot read|split is empty|no column"),
        ({"format": "xml"}, "a\n", r"data\.source\.format=xml"),
        ({"labels": {"b": "B"}, "classes": ["C"]}, "text,label\na,b\n", r"B not in data\.source\.classes"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path, options, content, message):
    file = tmp_path / "all.csv"
    file.write_text(content)
    with pytest.raises(DataError, match=message):
        load(file, tmp_path, **options)


def test_a_label_that_training_lacks_is_outside_the_label_set(write_csv, tmp_path):
    write_csv("set/train.csv")
    write_csv("set/test.csv", [("e", "x", "odd")])
    with pytest.raises(DataError, match=r"'odd' in the test split is outside the label set \['neg', 'pos'\]"):
        load(tmp_path / "set", tmp_path)


def test_other_encodings_must_be_named(tmp_path):
    rows = ["text,label", *[f"caf\xe9 {i},{i % 2}" for i in range(20)]]
    file = tmp_path / "all.csv"
    file.write_bytes("\n".join(rows).encode("latin-1"))
    with pytest.raises(DataError, match=r"is not utf-8 .*data\.source\.encoding"):
        load(file, tmp_path)
    assert load(file, tmp_path, encoding="latin-1")["train"][0]["text"].startswith("café")


def test_files_that_are_not_there_or_tell_nothing(tmp_path):
    with pytest.raises(DataError, match="there is no file at"):
        load(tmp_path / "nothing.csv", tmp_path)
    write(tmp_path / "two", {"a.csv": "x", "b.csv": "y"})
    with pytest.raises(DataError, match="no file is named train, validation or test among"):
        load(tmp_path / "two", tmp_path)
    write(tmp_path / "only", {"test.csv": "text,label\na,b\n"})
    with pytest.raises(DataError, match=r"no training split.*data\.source\.merge=true"):
        load(tmp_path / "only", tmp_path)
    with pytest.raises(DataError, match=r"this set needs data\.path"):
        LocalSource().load(tmp_path)
    (tmp_path / "broken.zip").write_bytes(b"no archive")
    with pytest.raises(DataError, match="not a readable archive"):
        load(tmp_path / "broken.zip", tmp_path)


def test_training_rows_are_balanced_before_they_are_split(write_csv, local):
    rows = [(str(n), f"word{n}", "rare" if n < 8 else "often") for n in range(40)]
    data = local(write_csv("train.csv", rows), {"balance": True, "stratify": True, "test_fraction": 0.25})
    assert data.counts["source"]["dropped"] == {"more of the class than of the rarest": 24}
    assert {s: sorted(data.dataset(s).labels.tolist()) for s in ("train", "validation", "test")} == {
        "train": [0] * 5 + [1] * 5,
        "validation": [0, 1],
        "test": [0, 0, 1, 1],
    }
