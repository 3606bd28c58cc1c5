"""Where the sentences of a text end, counted in its tokens."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import chain

import numpy as np
import numpy.typing as npt

from attnlab.data.tokenization import Rules, chunks
from attnlab.errors import ConfigError

LINES = "lines"


def check_splitter(splitter: str) -> None:
    """Refuse what is neither a language code nor ``lines``.

    Raises:
        ConfigError: it is something else.
    """
    if splitter != LINES and not re.fullmatch(r"[a-z]{2,3}", splitter):
        raise ConfigError(f"data.sentences={splitter}: choose a language code such as en, or lines")


def splitter_identity(splitter: str) -> list[str]:
    """What decides where a splitter ends sentences, for the key of the data."""
    return [splitter] if splitter == LINES else [splitter, version("sentencex")]


def sentence_sizes(
    rules: Rules, texts: Sequence[str], splitter: str
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Tokens of each sentence of many texts; sentences without tokens do not count.

    The tokens are those of the whole text: a sentence ends between two of them, and a token belongs to the sentence
    that it starts in.

    Args:
        rules: How texts become tokens.
        texts: The texts.
        splitter: Language whose sentences are told apart, or ``lines``.

    Returns:
        The sizes one after another (int32), and the offsets of the texts among them (len(texts) + 1). The sizes of a
        text sum to its content tokens.
    """
    sizes, counts = [np.zeros(0, np.int32)], [0]
    for starts, boundaries in _positions(rules, texts, splitter):
        sentence = np.searchsorted(boundaries, starts, side="right")
        filled = np.unique(sentence, return_counts=True)[1]
        sizes.append(filled.astype(np.int32))
        counts.append(len(filled))
    return np.concatenate(sizes), np.cumsum(np.array(counts, np.int64))


def _positions(
    rules: Rules, texts: Sequence[str], splitter: str
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Characters at which the tokens, and those at which the sentences of each text start."""
    # A replacement such as that of a line break can be what ends a sentence: it comes before the splitter.
    replaced = rules.replacer()
    tokenizer = replace(rules, replacements=()).tokenizer()
    for chunk in chunks(texts):
        clean = [replaced.normalize_str(text) for text in chunk]
        for text, encoding in zip(clean, tokenizer.encode_batch(clean, add_special_tokens=False), strict=True):
            offsets = np.fromiter(chain.from_iterable(encoding.offsets), np.int64, 2 * len(encoding))
            yield offsets[::2], np.array(_starts(text, splitter), np.int64)


def _starts(text: str, splitter: str) -> list[int]:
    if splitter == LINES:
        return [0, *(match.end() for match in re.finditer("\n", text))]
    from sentencex import get_sentence_boundaries

    return [sentence["start_index"] for sentence in get_sentence_boundaries(splitter, text)]
