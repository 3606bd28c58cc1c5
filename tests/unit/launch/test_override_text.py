"""Text in Hydra's grammar, read back by Hydra's own parser."""

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import QuotedString
from hypothesis import given
from hypothesis import strategies as st

from attnlab.errors import ConfigError
from attnlab.launch.override_text import Given, render

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12) | st.text(
    "ab1.-_/,:='\"\\ []{}()$#%", max_size=8
)
KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True).filter(lambda k: k not in ("true", "false", "null"))
NUMBERS = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False)
SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS.filter(lambda text: "${" not in text)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def parsed(text):
    return plain(OverridesParser.create().parse_override(text).value())


def plain(value):
    if isinstance(value, QuotedString):
        return value.text
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    return value


@given(VALUES)
def test_hydra_reads_what_was_rendered(value):
    read = parsed(f"key={render(value)}")
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("sst", "sst"),
        ("20news", "20news"),
        ("data/files/sst.csv", "data/files/sst.csv"),
        ("a b", "'a b'"),
        ("a,b", "'a,b'"),
        ("1", "'1'"),
        ("1e-3", "'1e-3'"),
        ("null", "'null'"),
        ("True", "'True'"),
        ("", "''"),
        ("it's", r"'it\'s'"),
        ("${seed}", "'${seed}'"),
        ([["a", "b,c"], 1.5], "[[a,'b,c'],1.5]"),
        ({0: "negative", "x": None}, "{0:negative,x:null}"),
        (True, "true"),
    ],
)
def test_strings_are_quoted_only_where_they_must_be(value, text):
    assert render(value) == text


@pytest.mark.parametrize("value", [{"a b": 1}, {"1": 1}, {None: 1}, object()])
def test_what_has_no_text_is_refused(value):
    with pytest.raises(ConfigError):
        render(value)


@pytest.mark.parametrize(
    ("text", "key", "values"),
    [
        ("seed=0,1", "seed", ("0", "1")),
        ("seed=range(3)", "seed", ("0", "1", "2")),
        ("model=choice(cnn,bilstm)", "model", ("cnn", "bilstm")),
        ("protocol=[a,b],[c]", "protocol", ("[a,b]", "[c]")),
        ("+x.y='a, b'", "+x.y", ("'a, b'",)),
        ("x=${seed}", "x", ("'${seed}'",)),
        ("~callbacks", "callbacks", ()),
        ("model/attention=uniform", "model/attention", ("uniform",)),
    ],
)
def test_overrides_are_read_as_hydra_reads_them(text, key, values):
    given = Given.parse(text)
    assert (given.key, given.values) == (key, values)
    assert given.name == key.lstrip("+")


@pytest.mark.parametrize("text", ["seed=[1", "seed", "seed=interval(0,1)", "data=glob(*)", "=1="])
def test_what_cannot_be_listed_is_refused_with_the_text(text):
    with pytest.raises(ConfigError) as caught:
        Given.parse(text)
    assert text in str(caught.value)
