"""A generated set whose labels are decided by known tokens."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.data.sources.source import Source
from attnlab.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@dataclass(kw_only=True)
class PlantedSource(Source):
    """Filler words among which cue words decide the label; the positions of the deciding cues are recorded.

    Each class has its own cue words. A text of a class holds ``cues`` words of it and ``distractors`` words of
    every other class; distractors are fewer, so that the majority decides. With a positional shortcut one neutral
    word ``marker`` stands in every text: in the training split it stands, with probability ``shortcut``, in that
    of C equal segments of the text whose number is the label; elsewhere its place says nothing. A text of several
    sentences is cut into runs of equal length, each ended by a full stop.

    Args:
        train: Number of training texts.
        validation: Number of validation texts.
        test: Number of test texts.
        num_classes: Number of classes, each equally frequent.
        min_words: Least number of words in a text.
        max_words: Greatest number of words in a text.
        fillers: Number of different filler words.
        cue_words: Number of different cue words of each class.
        cues: Cue words of the right class in a text.
        distractors: Cue words of each wrong class in a text.
        shortcut: How strongly a marker's place gives the label away in training, 0 (no marker) to 1.
        sentences: Sentences of a text; one has no full stop.
        data_seed: Decides all of it.
    """

    train: int = 2000
    validation: int = 500
    test: int = 500
    num_classes: int = 2
    min_words: int = 8
    max_words: int = 24
    fillers: int = 200
    cue_words: int = 5
    cues: int = 2
    distractors: int = 1
    shortcut: float = 0.0
    sentences: int = 1
    data_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        special = self.cues + self.distractors * (self.num_classes - 1) + (self.shortcut > 0)
        if self.num_classes < 2 or not 0 <= self.distractors < self.cues:
            raise DataError("data.source: planted texts need num_classes >= 2 and 0 <= distractors < cues")
        if not special <= self.min_words <= self.max_words:
            raise DataError(
                f"data.source.min_words={self.min_words}: {special} words decide and distract;"
                " need that many <= min_words <= max_words"
            )
        if not 1 <= self.sentences <= self.min_words:
            raise DataError(f"data.source.sentences={self.sentences}: choose from 1 to min_words={self.min_words}")
        if not 0 <= self.shortcut <= 1:
            raise DataError(f"data.source.shortcut={self.shortcut}: choose a strength from 0 to 1")

    def read(self, cache_dir: Path) -> "dict[str, pa.Table]":
        """Generate every split."""
        import numpy as np
        import pyarrow as pa

        splits = {"train": self.train, "validation": self.validation, "test": self.test}
        tables = {}
        for number, (split, size) in enumerate(splits.items()):
            random = np.random.default_rng([self.data_seed, number])
            labels = random.permutation(np.arange(size) % self.num_classes)
            shortcut = self.shortcut if split == "train" else 0.0
            rows = [self._instance(int(label), shortcut, random) for label in labels]
            tables[split] = pa.Table.from_pylist(rows, schema=_schema())
        return tables

    def _instance(self, label: int, shortcut: float, random: "np.random.Generator") -> dict[str, Any]:
        length = int(random.integers(self.min_words, self.max_words + 1))
        words = [f"filler{n}" for n in random.integers(self.fillers, size=length)]
        places = random.permutation(length)
        if self.shortcut > 0:
            marker = self._marker_place(label, length, shortcut, random)
            words[marker] = "marker"
            places = places[places != marker]
        start, rationale = 0, []
        for klass in range(self.num_classes):
            number = self.cues if klass == label else self.distractors
            chosen = places[start : start + number]
            start += number
            for place, cue in zip(chosen, random.integers(self.cue_words, size=number), strict=True):
                words[place] = f"cue{klass}x{cue}"
            if klass == label:
                rationale = sorted(chosen.tolist())
        text, rationale = self._with_stops(words, rationale)
        return {"text": text, "label": f"class{label}", "rationale": rationale}

    def _with_stops(self, words: list[str], rationale: list[int]) -> tuple[str, list[int]]:
        if self.sentences == 1:
            return " ".join(words), rationale
        ends = [len(words) * number // self.sentences for number in range(1, self.sentences + 1)]
        runs = [" ".join(words[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
        return " . ".join(runs) + " .", [place + sum(end <= place for end in ends) for place in rationale]

    def _marker_place(self, label: int, length: int, shortcut: float, random: "np.random.Generator") -> int:
        if random.random() >= shortcut:
            return int(random.integers(length))
        low, high = (length * edge // self.num_classes for edge in (label, label + 1))
        return int(random.integers(low, high))


def _schema() -> "pa.Schema":
    import pyarrow as pa

    return pa.schema({"text": pa.string(), "label": pa.string(), "rationale": pa.list_(pa.int64())})
