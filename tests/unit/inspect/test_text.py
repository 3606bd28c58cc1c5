import pytest

from attnlab.inspect.text import columns, seconds_text, size_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.25, "0.2 s"), (42.4, "42 s"), (150, "2 min"), (4800, "1 h 20 min"), (180000, "2 d 2 h")],
)
def test_seconds(seconds, text):
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (3400, "3.4 kB"), (25e6, "25 MB"), (2e13, "20.0 TB")]
)
def test_sizes(size, text):
    assert size_text(size) == text


def test_columns_are_as_wide_as_their_widest_cell():
    assert columns(["a", "bb"], [["xxx", "1"], ["y", "22"]], right=["bb"]) == "a    bb\nxxx   1\ny    22"
