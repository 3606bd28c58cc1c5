import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from attnlab.errors import ConfigError
from attnlab.launch.matrix import combinations
from attnlab.launch.sweepfile import expand

STUDY = {
    "grid": {"data": ["sst", "imdb"], "protocol": [["permutation"], ["predictions"]], "seed": [0, 1]},
    "exclude": [{"data": "imdb", "seed": 1}],
    "include": [{"data": "imdb", "data.batch_size": 8}, {"data": "planted", "model": "cnn"}],
}


def test_jobs_come_in_the_order_of_the_axes_with_what_include_adds():
    assert expand(STUDY) == [
        ["data=sst", "protocol=[permutation]", "seed=0"],
        ["data=sst", "protocol=[permutation]", "seed=1"],
        ["data=sst", "protocol=[predictions]", "seed=0"],
        ["data=sst", "protocol=[predictions]", "seed=1"],
        ["data=imdb", "protocol=[permutation]", "seed=0", "data.batch_size=8"],
        ["data=imdb", "protocol=[predictions]", "seed=0", "data.batch_size=8"],
        ["data=planted", "model=cnn"],
    ]


def test_an_override_of_an_axis_replaces_it_and_drops_what_include_says_of_other_values():
    assert expand(STUDY, ["data=sst", "seed=5,6", "protocol=[predictions]"]) == [
        ["data=sst", "protocol=[predictions]", "seed=5"],
        ["data=sst", "protocol=[predictions]", "seed=6"],
    ]


def test_an_axis_can_take_values_that_the_study_does_not_name():
    study = {"grid": {"model": ["cnn"]}, "zip": {"data": ["sst", "imdb"], "vectors.dim": [50, 300]}}
    assert expand(study, ["model=range(2)", "data=a,b"]) == [
        [f"model={m}", f"data={d}", f"vectors.dim={v}"] for m in (0, 1) for d, v in (("a", 50), ("b", 300))
    ]


def test_other_overrides_are_added_to_every_job_and_win():
    jobs = expand(STUDY, ["data.batch_size=64", "+trainer.x='a, b'", "~callbacks", "seed=0"])
    assert len(jobs) == 5
    for job in jobs:
        assert [o for o in job if o.startswith("data.batch_size")] == ["data.batch_size=64"]
        assert {"+trainer.x='a, b'", "~callbacks", "seed=0"} <= set(job)


def test_a_sweep_over_another_key_is_another_axis():
    assert expand({"grid": {"seed": [0, 1]}}, ["split=test,validation"]) == [
        [f"seed={seed}", f"split={split}"] for seed in (0, 1) for split in ("test", "validation")
    ]


def test_a_single_value_for_a_zipped_axis_goes_with_every_value_of_the_others():
    study = {"zip": {"data": ["sst", "imdb"], "data.batch_size": [32, 8]}}
    assert expand(study, ["data=planted"]) == [
        ["data=planted", "data.batch_size=32"],
        ["data=planted", "data.batch_size=8"],
    ]
    with pytest.raises(ConfigError, match=r"zip: .*data has 3, data.batch_size has 2"):
        expand(study, ["data=a,b,c"])


def test_a_list_value_is_one_value_and_lists_are_compared_whole():
    study = {
        "grid": {"protocol": [["permutation"], ["permutation", "predictions"]]},
        "include": [{"protocol": ["permutation"], "protocols.permutation.draws": 7}],
    }
    assert expand(study) == [
        ["protocol=[permutation]", "protocols.permutation.draws=7"],
        ["protocol=[permutation,predictions]"],
    ]
    assert expand(study, ["protocol=[ permutation ]"])[0][1] == "protocols.permutation.draws=7"


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({}, "needs a grid"),
        ({"grids": {"a": [1]}}, "grids: unknown part of a study; did you mean 'grid'"),
        ({"grid": {"a": []}}, r"grid\.a: the axis is empty"),
        ({"grid": {"a": 1}}, r"grid\.a: expected a list of values, such as \[1\]"),
        ({"grid": [1]}, "grid: expected axes"),
        ({"grid": {"a b": [1]}}, r"grid\.a b: not the name"),
        ({"grid": {"a": [{"x y": 1}]}}, r"grid\.a: .*cannot be written"),
        ({"zip": {"a": [1], "b": [1, 2]}}, "zip: axes must have equally many values, but a has 1, b has 2"),
        ({"zip": {"a": [1]}, "grid": {"a": [1]}}, "a: an axis is in grid or in zip"),
        ({"grid": {"a": [1]}, "exclude": [{"b": 1}]}, "exclude: b is no axis"),
        ({"grid": {"a": [1]}, "exclude": {"a": 1}}, "exclude: expected a list of combinations"),
        ({"grid": {"a": [1]}, "include": [{}]}, "include: expected a list of combinations"),
        ({"grid": {"a": [1]}, "exclude": [{"a": 1}]}, "the study has no job"),
    ],
)
def test_a_malformed_study_is_one_line_that_names_the_place(study, message):
    with pytest.raises(ConfigError, match=message):
        expand(study)


def test_an_axis_cannot_be_removed():
    with pytest.raises(ConfigError, match="~seed: an axis of the study cannot be removed"):
        expand(STUDY, ["~seed"])


NAMES = st.sampled_from(["a", "b", "c.d", "e/f"])
VALUES = st.integers(0, 2) | st.sampled_from(["x", "y z", "1"]) | st.lists(st.integers(0, 1), max_size=2)
AXES = st.dictionaries(NAMES, st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=3)
ENTRIES = st.lists(st.dictionaries(NAMES | st.just("g"), VALUES, min_size=1), max_size=3)


@given(AXES, ENTRIES)
def test_without_overrides_a_study_is_its_matrix(grid, include):
    from attnlab.launch.override_text import render

    texts = {key: [render(v) for v in values] for key, values in grid.items()}
    entries = [{key: render(v) for key, v in entry.items()} for entry in include]
    expected = [[f"{k}={v}" for k, v in c.items()] for c in combinations(texts, {}, entries)]
    assert expand({"grid": grid, "include": include}) == expected


@given(AXES, ENTRIES, st.dictionaries(NAMES | st.just("h"), st.lists(st.integers(0, 5), min_size=1, max_size=3)))
def test_the_command_line_always_wins(grid, include, given):
    overrides = [f"{key}={','.join(map(str, values))}" for key, values in given.items()]
    parser = OverridesParser.create()
    jobs = expand({"grid": grid, "include": include}, overrides)
    assert jobs
    for job in jobs:
        values = {o.key_or_group: o.value() for o in parser.parse_overrides(job)}
        assert len(values) == len(job)
        for key, allowed in given.items():
            assert values[key] in allowed
