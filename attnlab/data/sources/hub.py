"""Data sets of the Hugging Face hub."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.data.sources.files import dataset_tables
from attnlab.data.sources.source import Source
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(kw_only=True)
class HubSource(Source):
    """A data set of the hub; ``data.path`` reads local files of the same columns in its place.

    Args:
        name: Repository, such as ``stanfordnlp/imdb``.
        config: Configuration of that repository; null where it has one only.
        revision: Commit, tag or branch; null is its newest.
        test_sample: Share of the test split that is kept, chosen by ``split_seed``.
    """

    name: str
    config: str | None = None
    revision: str | None = None
    test_sample: float = 1.0

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Download, or read from the hub's cache.

        Raises:
            DataError: the hub cannot be reached or has no such data set.
        """
        import datasets

        try:
            loaded = datasets.load_dataset(
                self.name, self.config, revision=self.revision, cache_dir=str(cache_dir / "hub")
            )
        except Exception as error:  # the hub's client has dozens of its own
            raise DataError(
                f"cannot load {self.name} from the Hugging Face hub ({_reason(error)}); set data.path=FILE_OR_FOLDER"
                " with train, validation and test files as CSV, TSV, JSON lines or Parquet, or a save_to_disk folder"
            ) from error
        return dataset_tables(loaded, self.skip)

    def _split(self, rows: "dict[str, pa.Table]") -> "dict[str, pa.Table]":
        from attnlab.data.sources.splits import carve

        parts = super()._split(rows)
        if self.test_sample < 1:
            parts["test"] = carve(parts["test"], {"kept": self.test_sample}, self.split_seed)["kept"]
        return parts


def _reason(error: Any) -> str:  # noqa: ANN401 - any exception
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:160]}"
