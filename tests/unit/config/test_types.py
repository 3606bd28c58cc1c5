import pytest

from attnlab.config.types import check_types
from attnlab.errors import ConfigError

DEFAULTS = {
    "seed": 0,
    "trainer": {
        "max_epochs": 8,
        "lr": 0.1,
        "devices": 1,
        "precision": "32-true",
        "clip": None,
        "sampler": False,
    },
    "kernels": [1, 3],
}


@pytest.mark.parametrize(
    "override",
    [
        {"seed": 3},
        {"seed": None},
        {"trainer": {"lr": 1}},
        {"trainer": {"devices": "auto"}},
        {"trainer": {"precision": 16}},
        {"trainer": {"clip": "x"}},
        {"kernels": [5]},
        {"unknown": "checked by Hydra itself"},
    ],
)
def test_fitting_values_pass(override):
    check_types(override, DEFAULTS)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"seed": "abc"}, r"seed=abc: expected a whole number \(as the default 0\), not text"),
        ({"seed": 1.5}, "seed=1.5: expected a whole number"),
        ({"seed": True}, "seed=True"),
        ({"trainer": {"max_epochs": "two"}}, "trainer.max_epochs=two"),
        ({"trainer": {"lr": "fast"}}, "trainer.lr=fast: expected a number"),
        ({"trainer": {"sampler": 1}}, "expected true or false"),
        ({"trainer": 3}, "expected a group of keys"),
        ({"kernels": 3}, "expected a list"),
    ],
)
def test_other_types_are_refused_with_the_key(override, message):
    with pytest.raises(ConfigError, match=message):
        check_types(override, DEFAULTS)
