"""News articles with a missing entity (Hermann et al. 2015)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.data.fingerprint import find_files
from attnlab.data.sources.files import decoded, documents
from attnlab.data.sources.source import Source
from attnlab.data.sources.splits import split_of
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

ENTITY = r"@entity\d+"


@dataclass(kw_only=True)
class NewsQuestions(Source):
    """Files of the official form, ``questions/SPLIT/ID.question``, in a folder or an archive.

    A file holds its address, the article, the question with ``@placeholder``, the answer and the names of the entities,
    parted by empty lines. Classes are all entities that occur in an article of any split.
    """

    question: str | Sequence[str] | None = "question"

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """The files are not on any index."""
        raise DataError(
            "this set needs data.path=FOLDER_OR_ARCHIVE with questions/{training,validation,test}/*.question"
        )

    def read_local(self, path: Path, cache_dir: Path) -> "dict[str, pa.Table]":
        """Articles, questions and answers by split.

        Raises:
            DataError: there are no such files, or one has another form.
        """
        import pyarrow as pa

        path = path.expanduser()
        rows: dict[str, list[dict[str, Any]]] = {}
        for name, content in documents(find_files(path), path):
            split = split_of(Path(name).parent.name)
            if split and name.endswith(".question"):
                rows.setdefault(split, []).append(_row(name, decoded(content, name, self.encoding)))
        if not rows:
            raise DataError(f"data.path: {path} holds no files of the form questions/training/ID.question")
        return {split: pa.Table.from_pylist(sorted(group, key=lambda row: row["id"])) for split, group in rows.items()}

    def _classes(self, raw: "dict[str, pa.Table]") -> Sequence[str] | None:
        if self.classes or self.labels:
            return self.classes
        found = {entity for table in raw.values() for text in table["text"].to_pylist() for entity in _entities(text)}
        return sorted(found, key=lambda entity: int(entity.removeprefix("@entity")))


def _row(name: str, text: str) -> dict[str, Any]:
    parts = [part.strip() for part in re.split(r"\r?\n\r?\n", text)]
    if len(parts) < 4 or not re.fullmatch(ENTITY, parts[3]):
        raise DataError(f"{name}: not address, article, question and answer such as @entity7, parted by empty lines")
    _, article, question, answer = parts[:4]
    return {"id": Path(name).stem, "text": article, "question": question, "label": answer}


def _entities(text: str) -> list[str]:
    return re.findall(ENTITY, text)
