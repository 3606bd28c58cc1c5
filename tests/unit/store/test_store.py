import multiprocessing
import time

import pytest

from attnlab.errors import StoreError
from attnlab.store import Store
from attnlab.store.document import read_json, read_yaml, write_json, write_yaml


def test_an_entry_appears_whole_or_not_at_all(tmp_path):
    store = Store(tmp_path)
    with store.create("models", "abc") as draft:
        (draft / "weights").write_text("1")
        assert not store.has("models", "abc")
    assert (store.path("models", "abc") / "weights").read_text() == "1"
    with pytest.raises(ZeroDivisionError), store.create("models", "abd") as draft:
        (draft / "weights").write_text(str(1 / 0))
    assert not store.has("models", "abd")
    assert not list((tmp_path / "drafts").iterdir())


def test_what_a_killed_writer_left_is_swept(tmp_path):
    store = Store(tmp_path)
    leftover = tmp_path / "drafts" / "models-abc-12345678"
    leftover.mkdir(parents=True)
    with store.create("models", "abc"):
        assert not leftover.exists()


def test_an_entry_is_found_by_the_start_of_its_key(tmp_path):
    store = Store(tmp_path)
    for key in ("abc1", "abd2"):
        with store.create("results", key):
            pass
    assert store.find("results", "abc") == store.path("results", "abc1")
    with pytest.raises(StoreError, match="2 entries"):
        store.find("results", "ab")
    with pytest.raises(StoreError, match="no entry"):
        store.find("results", "x")


def _build_once(root):
    store = Store(root)
    with store.lock("models", "k"):
        if store.has("models", "k"):
            return 0
        with store.create("models", "k"):
            time.sleep(0.3)
        return 1


def test_processes_that_want_the_same_entry_make_it_once(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert sum(pool.map(_build_once, [tmp_path] * 4)) == 1


def test_a_store_that_cannot_be_written_is_one_line_with_a_remedy(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match=r"paths\.output_dir"),
        Store(tmp_path / "file").create("models", "k"),
    ):
        pass


def test_documents_hold_plain_values_and_name_the_damaged_file(tmp_path):
    write_json(tmp_path / "a.json", {"x": float("nan"), "y": [1, {"z": "é"}]})
    assert read_json(tmp_path / "a.json") == {"x": None, "y": [1, {"z": "é"}]}
    write_yaml(tmp_path / "a.yaml", {"b": 1, "a": [None, 1e-5]})
    assert read_yaml(tmp_path / "a.yaml") == {"b": 1, "a": [None, 1e-5]}
    (tmp_path / "a.json").write_text('{"x": 1')
    with pytest.raises(StoreError, match=r"a\.json cannot be read"):
        read_json(tmp_path / "a.json")
    (tmp_path / "bad.yaml").write_text("!!python/object/apply:os.system [true]")
    with pytest.raises(StoreError, match=r"bad\.yaml"):
        read_yaml(tmp_path / "bad.yaml")
