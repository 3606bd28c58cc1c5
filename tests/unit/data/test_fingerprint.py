import subprocess
import sys

import pytest

from attnlab.data.fingerprint import fingerprint
from attnlab.errors import DataError

CONFIG = {"_target_": "x", "path": None, "cache_dir": "/a", "num_workers": 0, "source": {"labels": {1: "b"}}}


def test_what_does_not_determine_the_data_does_not_count():
    same = {**CONFIG, "cache_dir": "/b", "num_workers": 4, "pin_memory": True}
    assert fingerprint(same) == fingerprint(CONFIG)
    assert fingerprint({**CONFIG, "source": {"labels": {1: "c"}}}) != fingerprint(CONFIG)
    assert fingerprint(dict(reversed(CONFIG.items()))) == fingerprint(CONFIG)


def test_contents_count_and_places_do_not(tmp_path):
    for name, content in {"a/x.csv": "1", "b/y.csv": "1", "c/x.csv": "2"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(content)
    keys = [fingerprint({"path": str(tmp_path / name)}) for name in ("a/x.csv", "b/y.csv", "c/x.csv")]
    assert keys[0] == keys[1] != keys[2]
    lists = [fingerprint({"attention": [str(tmp_path / n)]}) for n in ("a/x.csv", "c/x.csv")]
    assert lists[0] != lists[1]


def test_folders_count_by_their_names_and_contents(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder / "s").mkdir(parents=True)
        (tmp_path / folder / "s" / "train.csv").write_text("1")
        (tmp_path / folder / "s" / "test.csv").write_text("2")
    first = fingerprint({"path": str(tmp_path / "a")})
    assert fingerprint({"path": str(tmp_path / "b")}) == first
    assert fingerprint({"path": str(tmp_path / "b" / "s" / "*.csv")}) == fingerprint(
        {"path": str(tmp_path / "a" / "s")}
    )
    (tmp_path / "b" / "s" / "test.csv").rename(tmp_path / "b" / "s" / "dev.csv")
    assert fingerprint({"path": str(tmp_path / "b")}) != first


def test_a_file_that_changes_is_read_again(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("1")
    before = fingerprint({"path": str(file)})
    file.write_text("22")
    assert fingerprint({"path": str(file)}) != before


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="there is no file at"):
        fingerprint({"path": str(tmp_path / "none")})


def test_neither_sources_nor_fingerprints_import_torch():
    code = "import sys, attnlab.data.sources, attnlab.data.fingerprint; print({'torch', 'datasets'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
