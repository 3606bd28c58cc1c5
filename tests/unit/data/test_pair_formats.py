"""The shipped sets of two texts, from small local files of their original forms."""

import json
import tarfile

import pytest

from attnlab.config.composing import compose
from attnlab.data.sources import NewsQuestions
from attnlab.errors import DataError
from attnlab.instantiate import instantiate

QUESTION = (
    "http://a.b/{id}\n\n( @entity1 ) @entity10 met @entity2{more} .\n\n@placeholder met @entity2\n\n{answer}\n\n"
    "@entity1:CNN\n"
)


@pytest.fixture
def load(tmp_path):
    """A shipped set over the files of a folder."""

    def load(name, *overrides):
        path = f'data.path="{tmp_path / "files"}"'
        config, _ = compose(
            [f"data={name}", "model=pair_bilstm", path, "paths.cache_dir=" + str(tmp_path / "cache"), *overrides]
        )
        data = instantiate(config["data"], "data")
        data.setup()
        return data

    return load


@pytest.fixture
def write(tmp_path):
    """A file under the folder that is read."""

    def write(name, text):
        file = tmp_path / "files" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def nli(label, number=0):
    keys = {"gold_label": label, "sentence1": f"A man sleeps {number}.", "sentence2": "A man is awake."}
    return json.dumps({**keys, "pairID": f"p{number}", "annotator_labels": ["neutral"]})


def test_inference_pairs_without_a_gold_label_are_dropped_and_counted(load, write):
    for split in ("train", "dev", "test"):
        rows = [nli(label) for label in ("neutral", "entailment", "contradiction", "-", "neutral")]
        write(f"snli_1.0_{split}.jsonl", "\n".join(rows))
    data = load("snli", "data.min_frequency=1")
    assert data.classes == ["entailment", "neutral", "contradiction"]
    assert data.dataset("train").labels.tolist() == [1, 0, 2, 1]
    assert data.counts["source"] == {"dropped": {"label not listed": 3}}
    assert data.dataset("test").tokens(0) == ["a", "man", "sleeps", "qqq", "."]
    assert data.dataset("test").question(0) == ["a", "man", "is", "awake", "."]


def test_the_matched_dev_file_is_what_is_measured(load, write):
    write("multinli_1.0_train.jsonl", "\n".join(nli("neutral", n) for n in range(100)))
    write("multinli_1.0_dev_matched.jsonl", "\n".join(nli("entailment", n) for n in range(3)))
    write("multinli_1.0_dev_mismatched.jsonl", nli("contradiction"))
    data = load("mnli", "data.min_frequency=1")
    assert [len(data.dataset(split)) for split in ("train", "validation", "test")] == [98, 2, 3]
    assert set(data.dataset("test").labels) == {0}
    other = load("mnli", "data.min_frequency=1", "data.source.skip=_matched")
    assert other.dataset("test").labels.tolist() == [2]


def test_one_file_is_parted_by_the_column_that_names_its_splits(load, write):
    lines = ["pair_ID\tsentence_A\tsentence_B\tentailment_label\tSemEval_set"]
    lines += [f"{n}\tA dog runs\tA {n} dog\tNEUTRAL\t{s}" for n, s in enumerate(["TRAIN", "TEST", "TRAIN", "TRIAL"])]
    write("SICK.txt", "\n".join(lines))
    data = load("sick")
    assert [data.dataset(split).ids for split in ("train", "validation", "test")] == [["0", "2"], ["3"], ["1"]]
    assert data.dataset("train").labels.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("name", "header", "row"),
    [
        ("rte", "index\tsentence1\tsentence2\tlabel", "{n}\tone {n}\ttwo\tentailment"),
        ("mrpc", "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", '1\t{n}\t8\tone {n}\t"two'),
        ("qqp", "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "{n}\t1\t2\tone {n}\ttwo\t1"),
    ],
)
def test_glue_files_whose_test_split_has_no_labels(load, write, name, header, row):
    for split, size in (("train", 60), ("dev", 4)):
        write(f"{split}.tsv", "\n".join([header, *(row.format(n=n) for n in range(size))]))
    write("test.tsv", "index\tsentence1\tsentence2\n0\tone\ttwo")
    data = load(name, "data.min_frequency=1", "data.source.validation_fraction=0.1")
    assert [len(data.dataset(split)) for split in ("train", "validation", "test")] == [54, 6, 4]
    assert set(data.dataset("test").labels) == {1}
    assert data.dataset("test").tokens(0)[0] == "one"


def news(write, folder="cnn/questions"):
    for split, answer, more in (
        ("training", "@entity1", ""),
        ("validation", "@entity10", ""),
        ("test", "@entity2", " and @entity3"),
    ):
        for n in range(2):
            write(f"{folder}/{split}/{split}{n}.question", QUESTION.format(id=n, answer=answer, more=more))


@pytest.mark.parametrize("packed", [False, True])
def test_news_questions_offer_the_entities_of_their_article(load, write, tmp_path, packed):
    news(write)
    write("cnn/questions/test/unanswered.question", QUESTION.format(id=9, answer="@entity77", more=""))
    path = ()
    if packed:
        with tarfile.open(tmp_path / "cnn.tgz", "w:gz") as archive:
            archive.add(tmp_path / "files" / "cnn", "cnn")
        path = (f"data.path={tmp_path / 'cnn.tgz'}",)
    data = load("cnn", *path)
    assert data.classes == ["@entity1", "@entity2", "@entity3", "@entity10"]
    assert set(data.vocabulary[4:]) == set(data.classes)
    assert data.counts["source"] == {"dropped": {"label not listed": 1}}
    assert data.dataset("test")[[0]].candidates.tolist() == [[True, True, True, True]]
    assert data.dataset("train")[[0]].candidates.tolist() == [[True, True, False, True]]
    assert data.dataset("train").question(0) == ["@placeholder", "met", "@entity2"]


def test_news_files_of_another_form_are_named(write, tmp_path):
    write("questions/training/a.question", "no such thing")
    with pytest.raises(DataError, match=r"a\.question: not address, article, question and answer"):
        NewsQuestions().load(tmp_path, tmp_path / "files")
    with pytest.raises(DataError, match="no files of the form"):
        NewsQuestions().load(tmp_path, tmp_path / "files" / "questions" / "training" / "a.question")


def test_a_split_column_with_other_values_and_a_skipped_folder_are_refused(load, write):
    write("SICK.txt", "pair_ID\tsentence_A\tsentence_B\tentailment_label\tSemEval_set\n1\ta\tb\tNEUTRAL\tFIRST")
    with pytest.raises(DataError, match="'FIRST' is no split"):
        load("sick")
    with pytest.raises(DataError, match=r"data\.source\.skip=SICK"):
        load("sick", "data.source.skip=SICK")
