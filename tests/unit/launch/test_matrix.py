"""Combinations against GitHub's documented example, and against its rules applied one combination at a time."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from attnlab.launch.matrix import combinations


def test_the_example_of_githubs_documentation():
    grid = {"fruit": ["apple", "pear"], "animal": ["cat", "dog"]}
    include = [
        {"color": "green"},
        {"color": "pink", "animal": "cat"},
        {"fruit": "apple", "shape": "circle"},
        {"fruit": "banana"},
        {"fruit": "banana", "animal": "cat"},
    ]
    assert combinations(grid, {}, include) == [
        {"fruit": "apple", "animal": "cat", "color": "pink", "shape": "circle"},
        {"fruit": "apple", "animal": "dog", "color": "green", "shape": "circle"},
        {"fruit": "pear", "animal": "cat", "color": "pink"},
        {"fruit": "pear", "animal": "dog", "color": "green"},
        {"fruit": "banana"},
        {"fruit": "banana", "animal": "cat"},
    ]


def test_exclude_comes_first_and_include_can_bring_a_combination_back():
    grid = {"os": ["a", "b"], "version": ["1", "2"]}
    exclude = [{"os": "a"}]
    back = [{"os": "a", "version": "2"}, {"os": "a", "version": "2", "x": "y"}]
    assert combinations(grid, {}, back, exclude) == [
        {"os": "b", "version": "1"},
        {"os": "b", "version": "2"},
        *back,
    ]


def test_include_alone_makes_one_combination_each():
    entries = [{"a": "1"}, {"b": "2"}]
    assert combinations({}, {}, entries) == entries


def test_zipped_axes_advance_together_within_the_grid():
    zipped = {"data": ["sst", "imdb"], "batch": ["32", "8"]}
    assert combinations({"seed": ["0", "1"]}, zipped) == [
        {"seed": "0", "data": "sst", "batch": "32"},
        {"seed": "0", "data": "imdb", "batch": "8"},
        {"seed": "1", "data": "sst", "batch": "32"},
        {"seed": "1", "data": "imdb", "batch": "8"},
    ]
    assert combinations({}, zipped) == [{"data": "sst", "batch": "32"}, {"data": "imdb", "batch": "8"}]


def brute_force(grid, zipped, include, exclude):
    """The rules as GitHub words them, over index tuples and sets of pairs, nothing shared with the implementation."""
    length = max((len(v) for v in zipped.values()), default=1)
    originals = []
    for position in itertools.product(*(range(len(v)) for v in grid.values()), range(length)):
        pairs = [(key, grid[key][i]) for key, i in zip(grid, position, strict=False)]
        pairs += [(key, values[position[-1]]) for key, values in zipped.items()]
        if pairs and not any(set(entry.items()) <= set(pairs) for entry in exclude):
            originals.append(pairs)
    results = [dict(pairs) for pairs in originals]
    new = []
    for entry in include:
        added = False
        for pairs, result in zip(originals, results, strict=True):
            overwrites = any(key in dict(pairs) and dict(pairs)[key] != value for key, value in entry.items())
            if not overwrites:
                added = True
                for key, value in entry.items():
                    if key not in dict(pairs):
                        result[key] = value
        if not added:
            new.append(dict(entry))
    return results + new


AXES = st.dictionaries(st.sampled_from("abc"), st.lists(st.sampled_from("012"), min_size=1, max_size=3), max_size=3)
ENTRIES = st.lists(st.dictionaries(st.sampled_from("abcdez"), st.sampled_from("0123"), min_size=1), max_size=4)


@st.composite
def zips(draw):
    length = draw(st.integers(1, 3))
    return draw(
        st.dictionaries(st.sampled_from("de"), st.lists(st.sampled_from("012"), min_size=length, max_size=length))
    )


@given(AXES, zips(), ENTRIES, ENTRIES)
def test_any_study_expands_as_github_would(grid, zipped, include, exclude):
    axes = {*grid, *zipped}
    exclude = [{k: v for k, v in entry.items() if k in axes} for entry in exclude]
    exclude = [entry for entry in exclude if entry]
    assert combinations(grid, zipped, include, exclude) == brute_force(grid, zipped, include, exclude)
