from itertools import pairwise

import pytest
from tokenizers import Tokenizer

from attnlab.data.tokenization import Rules, build_vocabulary, encode, surface_tokens
from attnlab.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("It's a film, isn't it?", ["it", "'s", "a", "film", ",", "is", "n't", "it", "?"]),
        ("In 1994, $3,000.50 at 10:30.", ["in", "qqq", ",", "$", "qqq", "at", "qqq", "."]),
        ("Well... café-goers can’t", ["well", "...", "café", "-", "goers", "ca", "n’t"]),
        ("  \t\n ", []),
    ],
)
def test_words(text, tokens):
    assert surface_tokens(Rules().tokenizer(), text) == tokens


def test_whitespace_takes_tokens_as_they_are_and_replaces_any_with_a_digit():
    tokenizer = Rules(tokens="whitespace").tokenizer()
    assert surface_tokens(tokenizer, "Is n't the 10-year-old , e.g.") == ["is", "n't", "the", "qqq", ",", "e.g."]


def test_replacements_come_first_and_case_and_numbers_can_be_kept():
    rules = Rules(lowercase=False, numbers=False, replacements=(("-LRB-", ""), (r"\W", " ")))
    assert surface_tokens(rules.tokenizer(), "-LRB- A 10-year plan") == ["A", "10", "year", "plan"]


def test_vocabulary_counts_texts_not_occurrences():
    texts = ["b b b b a", "a c", "a c d", "e"]
    assert build_vocabulary(Rules(), texts)[4:] == ["a", "c", "b", "d", "e"]
    assert build_vocabulary(Rules(), texts, min_frequency=2)[4:] == ["a", "c"]
    assert build_vocabulary(Rules(), texts, max_vocabulary=3)[4:] == ["a", "c", "b"]


def test_ids_are_framed_and_unknown_words_and_special_spellings_are_unknown():
    tokenizer = Rules(tokens="whitespace").tokenizer(["<pad>", "<unk>", "<start>", "<end>", "a", "b"])
    flat, offsets = encode(tokenizer, ["a b", "z <pad> b", ""])
    assert [flat[i:j].tolist() for i, j in pairwise(offsets)] == [
        [2, 4, 5, 3],
        [2, 1, 1, 5, 3],
        [2, 3],
    ]


def test_the_saved_tokenizer_gives_the_same_ids():
    tokenizer = Rules().tokenizer(build_vocabulary(Rules(), ["it is 1 film"]))
    again = Tokenizer.from_str(tokenizer.to_str())
    assert again.encode("it is 2 films").ids == encode(tokenizer, ["it is 2 films"])[0].tolist()


def test_wrong_options_name_their_key():
    with pytest.raises(ConfigError, match=r"data\.tokens=letters"):
        Rules(tokens="letters")
    with pytest.raises(ConfigError, match=r"data\.replacements"):
        Rules(replacements=(("(", ""),)).tokenizer()
