"""bAbI question answering (Weston et al. 2015): generated, or from the official files."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from attnlab.data.fingerprint import find_files
from attnlab.data.sources.babi_stories import QUESTIONS, stories
from attnlab.data.sources.source import Source
from attnlab.data.sources.splits import split_of
from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(kw_only=True)
class BabiSource(Source):
    """Stories with questions; sentences are parted by full stops, and the supporting ones are the rationale.

    Without ``data.path``, tasks 1, 2 and 3 are generated: actors, places, things and verbs are those of the official
    files, stories have five questions, and what happens how often and what is asked is much as there.

    Args:
        task: 1, 2 or 3 to generate; 1 to 20 of the official files.
        train: Number of training questions.
        validation: Number of validation questions.
        test: Number of test questions.
        data_seed: Decides the generated stories.
    """

    question: str | Sequence[str] | None = "question"
    task: int = 1
    train: int = 10000
    validation: int = 1000
    test: int = 1000
    data_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.task <= 20:
            raise DataError(f"data.source.task={self.task}: bAbI has tasks 1 to 20")
        if min(self.train, self.validation, self.test) < 1:
            raise DataError("data.source: train, validation and test must each be at least 1 question")

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Generate every split.

        Raises:
            DataError: the task is in the official files only.
        """
        import pyarrow as pa

        if self.task > 3:
            raise DataError(
                f"data.source.task={self.task}: tasks 1 to 3 are generated; set data.path to a folder of the official"
                " files, such as tasks_1-20_v1-2/en-10k"
            )
        tables = {}
        for split, size in {"train": self.train, "validation": self.validation, "test": self.test}.items():
            found = stories(self.task, Random(f"{self.data_seed} {split}"))
            rows = [
                _row(f"{split}-{number}_{n}", sentences[:seen], question.text, question.answer, question.support)
                for number, (sentences, asked) in enumerate(islice(found, -(-size // QUESTIONS)))
                for n, (seen, question) in enumerate(asked)
            ]
            tables[split] = pa.Table.from_pylist(rows[:size], schema=_schema())
        return tables

    def read_local(self, path: Path, cache_dir: Path) -> "dict[str, pa.Table]":
        """The official files of the task, such as ``qa1_single-supporting-fact_train.txt``.

        Raises:
            DataError: there are none, those of several folders, or a line is not of their form.
        """
        import pyarrow as pa

        name = re.compile(rf"qa{self.task}_(?:.*_)?(?:train|valid|test)\.txt")
        files = [file for file in find_files(path) if name.fullmatch(file.name)]
        if not files:
            raise DataError(
                f"data.path: {path} has no file qa{self.task}_…_train.txt; name a folder such as tasks_1-20_v1-2/en-10k"
            )
        if len({file.parent for file in files}) > 1:
            folders = ", ".join(sorted({str(file.parent) for file in files}))
            raise DataError(f"data.path: {path} has task {self.task} in several folders; name one of {folders}")
        return {
            str(split_of(file.stem)): pa.Table.from_pylist(_official(file, self.encoding), schema=_schema())
            for file in files
        }


def _official(file: Path, encoding: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    story: dict[int, str] = {}
    number = 0
    for place, line in enumerate(file.read_text(encoding).splitlines(), start=1):
        form = re.fullmatch(r"(\d+) ([^\t]+)(?:\t([^\t]+)\t([\d ]+))?\s*", line)
        if form is None:
            raise DataError(f"{file}:{place}: neither 'NUMBER sentence' nor 'NUMBER question?<tab>answer<tab>facts'")
        if form[1] == "1":
            story, number = {}, number + 1
        text = form[2].strip().rstrip(".?").strip()
        if form[3] is None:
            story[int(form[1])] = text
            continue
        sentences = list(story)
        support = sorted(sentences.index(int(fact)) for fact in form[4].split())
        rows.append(_row(f"{file.stem}-{number}_{form[1]}", list(story.values()), text, form[3].strip(), support))
    return rows


def _row(name: str, sentences: Sequence[str], question: str, answer: str, support: Sequence[int]) -> dict[str, Any]:
    words = [sentence.split() for sentence in sentences]
    starts = [0]
    for sentence in words:
        starts.append(starts[-1] + len(sentence) + 1)  # and its full stop
    places = [starts[n] + place for n in support for place in range(len(words[n]))]
    text = " . ".join(" ".join(sentence) for sentence in words)
    return {"id": name, "text": text, "question": question, "label": answer, "rationale": places}


def _schema() -> "pa.Schema":
    import pyarrow as pa

    names = ("id", "text", "question", "label")
    return pa.schema([*((name, pa.string()) for name in names), ("rationale", pa.list_(pa.int64()))])
