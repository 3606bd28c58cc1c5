"""What every source does: read rows, name their columns, map their labels, and split them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.data.fingerprint import digest, hash_contents
from attnlab.data.sources.columns import column_named, identifiers, joined_text, plain_strings, rationales, renamed
from attnlab.data.sources.labels import LabelRule
from attnlab.data.sources.splits import SPLITS, balanced, carve, parted
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import DatasetDict


@dataclass(kw_only=True)
class Source(ABC):
    """Labelled texts in three splits.

    Args:
        text: Column or columns with the text; several are joined by a space.
        question: Column or columns with the second text of a pair; null where there is none.
        label: Column with the label; of several names the first that exists.
        id: Column with ids that are unique in each split; without such a column, rows are numbered.
        labels: Class name of each label value; without it, values are their own names.
        classes: Class names in their order; the last of two is the positive one. Without it, the order of
            ``labels``, or else the sorted values of the training split.
        names: Name here of columns that local files call otherwise.
        splits: Split that each split of the source becomes; those not named are left out. Without it, all are kept.
        split_column: Column that tells the split of each row, where one file holds all.
        skip: Files and splits whose name holds this are not read.
        unlisted: What happens to a row whose value is not in ``labels``: ``error`` or ``drop``.
        merge: Pool all files and split anew.
        balance: Keep as many training rows of each class as the rarest has, before splits are taken from them.
        validation_fraction: Share of the pool that becomes the validation split where there is none.
        test_fraction: Share of the pool that becomes the test split where there is none.
        split_seed: Decides the split; the seed of a run never does.
        stratify: Take the same share of each class.
        group: Rows that must not be parted: null, ``text`` (equal texts) or ``document`` (ids ``DOC_SENTENCE``).
        format: Format of local files; null finds it by name and first line.
        header: Column names of local CSV and TSV files that have no header line.
        quotes: Whether quotes in local CSV and TSV files enclose fields; null: in CSV only.
        encoding: Encoding of local text files.
        news: Drop header, quotes and signature from raw newsgroup messages in local files.
    """

    text: str | Sequence[str] = "text"
    question: str | Sequence[str] | None = None
    label: str | Sequence[str] = "label"
    id: str = "id"
    labels: Mapping[Any, str] | None = None
    classes: Sequence[str] | None = None
    names: Mapping[str, str] | None = None
    splits: Mapping[str, str] | None = None
    split_column: str | None = None
    skip: str | None = None
    unlisted: str = "error"
    merge: bool = False
    balance: bool = False
    validation_fraction: float = 0.1
    test_fraction: float = 0.1
    split_seed: int = 0
    stratify: bool = False
    group: str | None = None
    format: str | None = None
    header: Sequence[str] | None = None
    quotes: bool | None = None
    encoding: str = "utf-8"
    news: bool = False
    dropped: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.unlisted not in ("error", "drop"):
            raise DataError(f"data.source.unlisted={self.unlisted}: choose error or drop")
        if self.group not in (None, "text", "document"):
            raise DataError(f"data.source.group={self.group}: choose null, text or document")
        if min(self.validation_fraction, self.test_fraction) < 0 or (
            self.validation_fraction + self.test_fraction >= 1
        ):
            raise DataError("data.source: validation_fraction + test_fraction must lie between 0 and 1")

    @abstractmethod
    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Raw rows by split; a source without splits gives ``train`` alone."""

    def load(self, cache_dir: str | Path, path: str | Path | None = None) -> "DatasetDict":
        """Read, name, map and split.

        Args:
            cache_dir: Where downloads are kept.
            path: Local file, folder or pattern to be read in place of the source's own files.

        Returns:
            ``train``, ``validation`` and ``test`` with columns id, text, label (ClassLabel) and, where the
            source has them, question, and rationale (positions of content tokens).

        Raises:
            DataError: something is missing or malformed; the message says what, where and what to do.
        """
        self.dropped = {}
        raw = self.read(Path(cache_dir)) if path is None else self.read_local(Path(path), Path(cache_dir))
        if path is not None and self.names:
            raw = {split: renamed(table, self.names) for split, table in raw.items()}
        if self.split_column is not None:
            raw = parted(raw, self.split_column)
        if self.splits is not None:
            raw = {new: raw[old] for old, new in self.splits.items() if old in raw}
        if self.merge:
            raw = {"train": _pooled(raw)}
        if "train" not in raw:
            raise DataError(
                f"data: no training split, only {', '.join(sorted(raw)) or 'nothing'};"
                " name a file *train*, or set data.source.merge=true to pool and split what there is"
            )
        rows, classes = self._rows(raw)
        return _dataset_dict(self._split(rows), classes)

    def read_local(self, path: Path, cache_dir: Path) -> "dict[str, pa.Table]":
        """Raw rows by split from local files in place of the source's own."""
        from attnlab.data.sources.files import read_path

        return read_path(path, self, cache_dir)

    def identity(self, path: str | Path | None = None) -> str:
        """Hash of all that decides what ``load`` gives."""
        options = {name: value for name, value in asdict(self).items() if name != "dropped"}
        options["labels"] = self.labels and [[str(k), v] for k, v in self.labels.items()]
        contents = None if path is None else hash_contents(path)
        return digest({"class": type(self).__qualname__, "options": options, "contents": contents})

    def _rows(self, raw: "dict[str, pa.Table]") -> "tuple[dict[str, pa.Table], list[str]]":
        values = {split: plain_strings(self._label_column(table, split)) for split, table in raw.items()}
        rule = LabelRule.build(values["train"], self.labels, self._classes(raw), self.unlisted)
        rows = {split: self._labelled(raw[split], values[split], rule, split) for split in raw}
        return rows, rule.classes

    def _classes(self, raw: "dict[str, pa.Table]") -> Sequence[str] | None:
        """Class names in their order, where something else than the labels decides them."""
        return self.classes

    def _label_column(self, table: "pa.Table", split: str) -> "pa.ChunkedArray":
        names = [self.label] if isinstance(self.label, str) else list(self.label)
        present = next((name for name in names if name in table.column_names), names[0])
        return column_named(table, present, "data.source.label", split)

    def _labelled(self, table: "pa.Table", values: "pa.Array", rule: LabelRule, split: str) -> "pa.Table":
        import pyarrow as pa

        columns = {
            "id": identifiers(table, self.id, split),
            "text": joined_text(table, self.text, "data.source.text", split),
            "label": rule.apply(values, split),
        }
        if self.question is not None:
            columns["question"] = joined_text(table, self.question, "data.source.question", split)
        if "rationale" in table.column_names:
            columns["rationale"] = rationales(table)
        rows = pa.table(columns)
        kept = rows.filter(rows["label"].is_valid())
        self.count_dropped("label not listed", len(rows) - len(kept))
        return kept

    def count_dropped(self, reason: str, number: int) -> None:
        """Remember that the source left rows out; the data module reports it."""
        if number:
            self.dropped[reason] = self.dropped.get(reason, 0) + number

    def _split(self, rows: "dict[str, pa.Table]") -> "dict[str, pa.Table]":
        fractions = {"test": self.test_fraction, "validation": self.validation_fraction}
        wanted = {name: share for name, share in fractions.items() if name not in rows}
        pool = rows["train"]
        if self.balance:
            pool = balanced(pool, self.split_seed)
            self.count_dropped("more of the class than of the rarest", len(rows["train"]) - len(pool))
        parts = {**rows, **carve(pool, wanted, self.split_seed, self.stratify, self.group)}
        for split in SPLITS:
            if not len(parts[split]):
                raise DataError(
                    f"data: the {split} split is empty; check the files, data.source.labels and"
                    " data.source.{validation,test}_fraction"
                )
        return {split: parts[split] for split in SPLITS}


def _pooled(raw: "dict[str, pa.Table]") -> "pa.Table":
    import pyarrow as pa

    tables = []
    for split, table in raw.items():
        # Row numbers restart in each file, so that pooled rows keep the name of the file.
        ids = identifiers(table, "id", split)
        tables.append(table.drop_columns(["id"] if "id" in table.column_names else []).append_column("id", ids))
    return pa.concat_tables(tables, promote_options="permissive")


def _dataset_dict(parts: "dict[str, pa.Table]", classes: list[str]) -> "DatasetDict":
    from datasets import ClassLabel, Dataset, DatasetDict, DatasetInfo, Features

    sets = {}
    for split, table in parts.items():
        features = Features({**Features.from_arrow_schema(table.schema), "label": ClassLabel(names=classes)})
        sets[split] = Dataset(table.combine_chunks(), info=DatasetInfo(features=features))
    return DatasetDict(sets)
