"""Results in the store: records, summary and figures of one protocol on one model. Nothing here imports torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.errors import StoreError
from attnlab.store.document import read_json, read_yaml

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Result:
    """One protocol's result.

    Attributes:
        protocol: Its name in the configuration.
        folder: Entry of the store.
    """

    protocol: str
    folder: Path

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Statistics over the records, as :func:`attnlab.report.summary.summarise` gives them."""
        return read_json(self.folder / "summary.json")

    @cached_property
    def config(self) -> dict[str, Any]:
        """The resolved configuration that made it."""
        return read_yaml(self.folder / "config.yaml")

    @property
    def records(self) -> "pa.Table":
        """One row per instance.

        Raises:
            StoreError: the file is missing or damaged.
        """
        return read_records(self.folder)

    @property
    def figures(self) -> list[Path]:
        """Figures as PNG files."""
        return sorted((self.folder / "figures").glob("*.png"))


def read_records(folder: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Records of a result, or some of their columns.

    Args:
        folder: Entry of the store.
        columns: Names; all where it is None.

    Raises:
        StoreError: the file is missing or damaged, or lacks one of the columns.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "records.parquet"
    try:
        # Small files: threads and read-ahead cost more than they save.
        with pq.ParquetFile(path, pre_buffer=False) as file:
            table = file.read(columns=columns, use_threads=False)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise StoreError(f"{path} cannot be read ({reason}); remove {folder} and run again") from error
    missing = set(columns or ()) - set(table.column_names)
    if missing:
        raise StoreError(f"{path} has no column {', '.join(sorted(missing))}; remove {folder} and run again")
    return table
