import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attnlab.data import TextDataModule
from attnlab.data.sources import LocalSource

ROWS = [("a", "good good film", "pos"), ("b", "bad film", "neg"), ("c", "a good one", "pos"), ("d", "so bad !", "neg")]


@pytest.fixture
def write_csv(tmp_path: Path) -> Callable[..., Path]:
    """Write rows of id, text and label."""

    def write(name: str = "all.csv", rows: Any = ROWS, header: Any = ("id", "text", "label")) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows] if header else rows)
        return file

    return write


@pytest.fixture
def folder(write_csv: Callable[..., Path]) -> Path:
    """A folder of three splits with the same rows."""
    for split in ("train", "dev", "test"):
        write_csv(f"set/{split}.csv")
    return write_csv("set/train.csv").parent


@pytest.fixture
def local(tmp_path: Path) -> Callable[..., TextDataModule]:
    """A data module over local files, set up."""

    def build(path: Path | str, source: dict[str, Any] | None = None, **options: Any) -> TextDataModule:
        data = TextDataModule(
            LocalSource(**(source or {})), path=str(path), cache_dir=str(tmp_path / "cache"), **options
        )
        data.setup()
        return data

    return build
