from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hydra.utils import instantiate
from omegaconf import OmegaConf

from attnlab.data.fingerprint import fingerprint

CONF = Path(__file__).parents[3] / "conf"


def configs(group):
    return sorted(file.stem for file in (CONF / group).glob("*.yaml"))


def composed(group, name, *overrides):
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose(
            overrides=[f"+{group}={name}", "+paths.cache_dir=/nowhere", "+seed=0", "++task.vector_size=300", *overrides]
        )
    return OmegaConf.to_container(config, resolve=True)[group]


@pytest.mark.parametrize("name", configs("data"))
def test_every_set_builds_without_reading_anything(name):
    config = composed("data", name)
    data = instantiate(config, _convert_="all")
    assert data.recipe.source.identity()
    assert fingerprint(config) == fingerprint({**config, "cache_dir": "/elsewhere"})
    first = (CONF / "data" / f"{name}.yaml").read_text().splitlines()[0]
    assert first.startswith("# ")


def test_labels_of_a_set_can_be_overridden_for_local_files():
    config = composed("data", "sst", "data.source.labels={0:negative,1:positive}", "data.source.merge=true")
    assert instantiate(config, _convert_="all").recipe.source.labels[1] == "positive"


@pytest.mark.parametrize("name", ["random", "glove"])
def test_word_vectors_build(name):
    assert instantiate(composed("vectors", name)).dim in (50, 300)
