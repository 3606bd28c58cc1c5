"""The user's own files."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.data.sources.source import Source
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(kw_only=True)
class LocalSource(Source):
    """Files that ``data.path`` names; every option is that of any source."""

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """There is nothing to read without ``data.path``."""
        raise DataError("this set needs data.path=FILE_OR_FOLDER: CSV, TSV, JSON lines, Parquet or save_to_disk")
