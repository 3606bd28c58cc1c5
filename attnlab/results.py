"""Results in the store: records, summary and figures of one protocol on one model. Nothing here imports torch."""

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
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.folder / "records.parquet"
        try:
            return pq.read_table(path)
        except (OSError, pa.ArrowInvalid) as error:
            raise StoreError(f"{path} cannot be read ({error}); remove {self.folder} and run again") from error

    @property
    def figures(self) -> list[Path]:
        """Figures as PNG files."""
        return sorted((self.folder / "figures").glob("*.png"))
