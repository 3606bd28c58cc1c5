"""Local files as raw tables by split."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attnlab.data.fingerprint import find_files
from attnlab.data.sources.archive import is_archive, members
from attnlab.data.sources.newsgroups import message_body
from attnlab.data.sources.splits import split_of
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from attnlab.data.sources.source import Source

FORMATS = ("csv", "tsv", "jsonl", "parquet", "dataset", "trees", "label_text", "folders")

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


def read_path(path: Path, source: "Source", cache_dir: Path) -> "dict[str, pa.Table]":
    """Raw rows by split from a file, a folder or a pattern.

    Splits are told by the names of files: train, dev/val/valid/validation, test. A single file without such
    a name is the pool that fractions are taken from.

    Raises:
        DataError: nothing is there, or it cannot be read as what it should be.
    """
    if source.format not in (None, *FORMATS):
        raise DataError(f"data.source.format={source.format}: choose one of {', '.join(FORMATS)}")
    path = path.expanduser()
    files = [file for file in find_files(path) if not (source.skip and source.skip in file.name)]
    if not files:
        raise DataError(f"data.source.skip={source.skip}: the name of every file at {path} holds this")
    if source.format in (None, "dataset") and _is_saved_dataset(path):
        return _read_saved(path, source.skip)
    if source.format == "folders" or is_archive(files[0]) or _is_class_tree(path, files):
        return _read_folders(files, path, source)
    by_split = _split_files(files)
    return {split: _read_files(group, source, cache_dir) for split, group in by_split.items()}


def dataset_tables(
    loaded: Any,  # noqa: ANN401 - DatasetDict or Dataset
    skip: str | None = None,
) -> "dict[str, pa.Table]":
    """Raw tables of a loaded data set by split; class numbers become class names.

    Args:
        loaded: The data set.
        skip: Splits whose name holds this are left out.
    """
    from datasets import ClassLabel, Dataset

    splits = {"train": loaded} if isinstance(loaded, Dataset) else dict(loaded)
    tables = {}
    for name, dataset in splits.items():
        split = split_of(name)
        if split is None or (skip and skip in name):
            continue  # such as the unlabelled reviews of IMDB
        table = dataset.with_format("arrow")[:]
        for column, feature in dataset.features.items():
            if isinstance(feature, ClassLabel):
                table = _with_names(table, column, feature.names)
        tables[split] = table
    return tables


def _with_names(table: "pa.Table", column: str, names: list[str]) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = table[column].combine_chunks()
    # Unlabelled rows carry -1.
    numbers = pc.if_else(pc.less(numbers, 0), None, numbers)
    return table.set_column(table.column_names.index(column), column, pa.array(names).take(numbers))


def _split_files(files: list[Path]) -> dict[str, list[Path]]:
    known: dict[str, list[Path]] = {}
    for file in files:
        split = split_of(file.name)
        if split:
            known.setdefault(split, []).append(file)
    if not known:
        if len(files) > 1:
            names = ", ".join(file.name for file in files[:4])
            raise DataError(f"data.path: no file is named train, validation or test among {names}; name one file")
        return {"train": files}
    for split, group in known.items():
        if len(group) > 1 and not all(re.search(r"\d+-of-\d+", file.name) for file in group):
            names = ", ".join(file.name for file in group[:3])
            raise DataError(f"data.path: several files for the {split} split: {names}; use a pattern such as 'x.*'")
    return known


def _read_files(files: list[Path], source: "Source", cache_dir: Path) -> "pa.Table":
    kind = source.format or _format_of(files[0])
    if kind in ("trees", "label_text"):
        return _line_table(files, _tree_row if kind == "trees" else _label_row, source.encoding)
    if kind != "parquet":
        for file in files:
            _check_encoding(file, source.encoding)
    return _read_with_library(files, kind, source, cache_dir)


def _format_of(file: Path) -> str:
    suffixes = [suffix for suffix in file.suffixes if suffix in _SUFFIXES]
    if suffixes:
        return _SUFFIXES[suffixes[-1]]
    with file.open("rb") as stream:
        first = stream.readline(4096)
    if re.match(rb"\(\d+ \(", first):
        return "trees"
    if re.match(rb"\S+ \S", first):
        return "label_text"
    raise DataError(f"data.source.format: cannot tell the format of {file.name}; set one of {', '.join(FORMATS)}")


def _read_with_library(files: list[Path], kind: str, source: "Source", cache_dir: Path) -> "pa.Table":
    import datasets

    builder = {"csv": "csv", "tsv": "csv", "jsonl": "json", "parquet": "parquet"}.get(kind)
    if builder is None:
        raise DataError(f"data.source.format={kind} needs a folder, not {files[0].name}")
    options = _csv_options(files[0], kind, source) if builder == "csv" else {}
    names = [str(file) for file in files]
    try:
        loaded = datasets.load_dataset(
            builder, data_files=names, split="train", cache_dir=str(cache_dir / "files"), **options
        )
    except Exception as error:  # whatever the library's readers raise, it is the file
        cause = error.__cause__ or error
        detail = (str(cause).strip().splitlines() or [type(cause).__name__])[0][:200]
        raise DataError(f"cannot read {files[0]} as {kind}: {detail}; see data.source.format and header") from error
    return dataset_tables(loaded)["train"]


def _csv_options(file: Path, kind: str, source: "Source") -> dict[str, Any]:
    import csv

    from datasets import Features, Value

    separator = "," if kind == "csv" else "\t"
    quotes = source.quotes if source.quotes is not None else kind == "csv"
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    if source.header:
        names, header = list(source.header), {"column_names": list(source.header)}
    else:
        with file.open(encoding=source.encoding, newline="") as stream:
            names = next(csv.reader(stream, delimiter=separator, quoting=quoting), [])
        header = {}
    # All strings: an id 007 stays one, and a text "nan" is a text.
    features = Features({name.lstrip("\ufeff"): Value("string") for name in names})
    return {
        "sep": separator,
        "quoting": quoting,
        "keep_default_na": False,
        "encoding": source.encoding,
        "features": features,
        **header,
    }


def _check_encoding(file: Path, encoding: str) -> None:
    try:
        with file.open(encoding=encoding) as stream:
            while stream.read(1 << 20):
                pass
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file} is not {encoding} (byte {error.start}); convert it, or set data.source.encoding, such as latin-1"
        ) from error


def _tree_row(line: str) -> tuple[str, str]:
    # (3 (2 It) (4 's)): the first digit is the label of the whole, and leaves are "digit word".
    match = re.match(r"\((\d+) ", line)
    if not match:
        raise ValueError("no tree")
    return match[1], " ".join(re.findall(r"\(\d+ ([^()\s]+)\)", line))


def _label_row(line: str) -> tuple[str, str]:
    label, space, text = line.partition(" ")
    if not space:
        raise ValueError("no label")
    return label, text


def _line_table(files: list[Path], parse: Callable[[str], tuple[str, str]], encoding: str) -> "pa.Table":
    import pyarrow as pa

    rows = []
    for file in files:
        _check_encoding(file, encoding)
        for number, line in enumerate(file.read_text(encoding).split("\n"), start=1):
            try:
                rows += [parse(line)] if line.strip() else []
            except ValueError as error:
                raise DataError(f"{file}:{number}: {error} in this line; see data.source.format") from error
    return pa.table({"label": [label for label, _ in rows], "text": [text for _, text in rows]})


def _is_saved_dataset(path: Path) -> bool:
    return any((path / name).is_file() for name in ("dataset_dict.json", "state.json"))


def _read_saved(path: Path, skip: str | None) -> "dict[str, pa.Table]":
    import datasets

    if not _is_saved_dataset(path):
        raise DataError(f"data.path: {path} is no folder written by save_to_disk; see data.source.format")
    return dataset_tables(datasets.load_from_disk(str(path)), skip)


def _is_class_tree(path: Path, files: list[Path]) -> bool:
    return path.is_dir() and any(len(file.relative_to(path).parts) > 2 for file in files)


def _read_folders(files: list[Path], path: Path, source: "Source") -> "dict[str, pa.Table]":
    """Texts in files under split/class/, in a folder or an archive, as of IMDB and 20 Newsgroups."""
    import pyarrow as pa

    rows: dict[str, list[dict[str, str]]] = {}
    for name, content in documents(files, path):
        parts = Path(name).parts
        split = next((s for s in map(split_of, parts[:-2]) if s), "train")
        # Files beside the class folders, such as lists of addresses, are none of the texts.
        if len(parts) >= 2 and split_of(parts[-2]) is None:
            text = decoded(content, name, source.encoding)
            row = {"id": f"{parts[-2]}/{parts[-1]}", "label": parts[-2]}
            rows.setdefault(split, []).append({**row, "text": message_body(text) if source.news else text})
    if not rows:
        raise DataError(f"data.path: {path} holds no files of the form split/class/text")
    return {split: pa.Table.from_pylist(sorted(group, key=lambda row: row["id"])) for split, group in rows.items()}


def documents(files: list[Path], path: Path) -> Iterator[tuple[str, bytes]]:
    """Names inside a folder or an archive, and contents, of all files."""
    for file in files:
        if is_archive(file):
            yield from members(file)
        elif path.is_dir():
            yield str(file.relative_to(path)), file.read_bytes()


def decoded(content: bytes, name: str, encoding: str) -> str:
    """Bytes as text.

    Raises:
        DataError: they are of another encoding.
    """
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not {encoding}; set data.source.encoding, such as latin-1") from error
