"""Word-level tokenisation and the vocabulary, with the tokenizers library."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import WordLevelTrainer

from attnlab.errors import ConfigError

PAD, UNKNOWN, START, END = range(4)
SPECIAL_TOKENS = ("<pad>", "<unk>", "<start>", "<end>")
NUMBER = "qqq"
"""What every token with a digit becomes (Jain & Wallace 2019, section 2)."""

# Words, English clitics apart from their word (do n't, it 's), runs of dots and dashes, other signs one by one.
_WORDS = r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b|\w+|\.{2,}|-{2,}|[^\w\s]"

Count = Literal["texts", "words"]
"""What the frequency of a word is: the texts that hold it, or every time that it occurs."""

_CHUNK = 1000
"""Texts that are handed to the tokenizer at a time, so that memory stays small."""


@dataclass(frozen=True)
class Rules:
    """How a text becomes tokens.

    Attributes:
        tokens: ``word`` separates words, clitics and punctuation; ``whitespace`` takes tokenised text as it is.
        lowercase: Lower-case everything.
        numbers: Replace each token that holds a digit by ``qqq``.
        replacements: Pairs of a regular expression and what replaces it, applied first and in order.
    """

    tokens: str = "word"
    lowercase: bool = True
    numbers: bool = True
    replacements: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if self.tokens not in ("word", "whitespace"):
            raise ConfigError(f"data.tokens={self.tokens}: choose word or whitespace")

    def tokenizer(self, tokens: Sequence[str] = SPECIAL_TOKENS) -> Tokenizer:
        """A tokenizer with a vocabulary; a token's id is its place in it."""
        vocabulary = {token: number for number, token in enumerate(tokens)}
        tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=SPECIAL_TOKENS[UNKNOWN]))
        tokenizer.normalizer = normalizers.Sequence([self.replacer(), *self._normalizers()])
        tokenizer.pre_tokenizer = self._pre_tokenizer()
        tokenizer.post_processor = TemplateProcessing(
            single=f"{SPECIAL_TOKENS[START]} $A {SPECIAL_TOKENS[END]}",
            special_tokens=[(SPECIAL_TOKENS[START], START), (SPECIAL_TOKENS[END], END)],
        )
        return tokenizer

    def replacer(self) -> normalizers.Normalizer:
        """What applies the replacements, and nothing else.

        Raises:
            ConfigError: a pattern is no regular expression.
        """
        steps: list[normalizers.Normalizer] = []
        for pattern, replacement in self.replacements:
            try:
                steps.append(normalizers.Replace(Regex(pattern), replacement))
            except Exception as error:  # the library raises bare exceptions
                raise ConfigError(f"data.replacements: {pattern!r} is no regular expression ({error})") from error
        return normalizers.Sequence(steps)

    def _normalizers(self) -> list[normalizers.Normalizer]:
        steps: list[normalizers.Normalizer] = []
        if self.lowercase:
            steps.append(normalizers.Lowercase())
        if self.numbers:
            token = r"\w*\d(?:[\w.,:]*\w)?" if self.tokens == "word" else r"\S*\d\S*"
            steps.append(normalizers.Replace(Regex(token), NUMBER))
        return steps

    def _pre_tokenizer(self) -> pre_tokenizers.PreTokenizer:
        if self.tokens == "whitespace":
            return pre_tokenizers.WhitespaceSplit()
        return pre_tokenizers.Split(Regex(_WORDS), behavior="removed", invert=True)


def build_vocabulary(
    rules: Rules,
    texts: Sequence[str],
    min_frequency: int = 1,
    max_vocabulary: int | None = None,
    count: Count = "texts",
) -> list[str]:
    """Tokens of the training texts, by falling frequency.

    Args:
        rules: How texts become tokens.
        texts: The training texts.
        min_frequency: Least frequency of a token.
        max_vocabulary: At most so many tokens, the most frequent, special tokens not counted.
        count: What the frequency is: the ``texts`` that hold the token, or all ``words`` that are it.

    Returns:
        The special tokens, then tokens by falling frequency, ties in alphabetical order.
    """
    tokenizer = rules.tokenizer()
    trainer = WordLevelTrainer(vocab_size=2**31 - 1, min_frequency=0, show_progress=False, special_tokens=[])
    tokenizer.train_from_iterator(chunks(texts), trainer)
    words = np.array(sorted(tokenizer.get_vocab()), dtype=object)
    full = rules.tokenizer([*SPECIAL_TOKENS, *words])
    frequency = np.zeros(len(words) + len(SPECIAL_TOKENS), np.int64)
    for flat, lengths in _encoded_chunks(full, texts):
        if count == "texts":
            rows = np.repeat(np.arange(len(lengths)), lengths)
            flat = np.unique(rows * len(frequency) + flat) % len(frequency)
        frequency += np.bincount(flat, minlength=len(frequency))
    counts = frequency[len(SPECIAL_TOKENS) :]
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] >= min_frequency][:max_vocabulary]
    return [*SPECIAL_TOKENS, *words[order]]


def encode(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """Token ids of many texts, start and end included.

    Returns:
        All ids one after another (int32), and the offsets of the texts among them (len(texts) + 1).
    """
    flats, lengths = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for flat, sizes in _encoded_chunks(tokenizer, texts):
        ends = np.cumsum(sizes + 2)
        framed = np.empty(ends[-1], np.int32)
        framed[np.concatenate(([0], ends[:-1]))] = START
        framed[ends - 1] = END
        inside = np.ones(len(framed), bool)
        inside[ends - 1] = inside[np.concatenate(([0], ends[:-1]))] = False
        framed[inside] = flat
        flats.append(framed)
        lengths.append(sizes + 2)
    return np.concatenate(flats), np.cumsum(np.concatenate(lengths))


def surface_tokens(tokenizer: Tokenizer, text: str) -> list[str]:
    """The content tokens of a text, unknown ones too."""
    normal = tokenizer.normalizer.normalize_str(text)
    return [token for token, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]


def _encoded_chunks(
    tokenizer: Tokenizer, texts: Sequence[str]
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    for chunk in chunks(texts):
        encoded = [encoding.ids for encoding in tokenizer.encode_batch_fast(chunk, add_special_tokens=False)]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        flat = np.fromiter((number for ids in encoded for number in ids), np.int64, int(lengths.sum()))
        # A text may hold the very letters "<pad>": that is an unknown word, not padding.
        flat[flat < len(SPECIAL_TOKENS)] = UNKNOWN
        yield flat, lengths


def chunks(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts, some at a time."""
    for start in range(0, len(texts), _CHUNK):
        yield list(texts[start : start + _CHUNK])
