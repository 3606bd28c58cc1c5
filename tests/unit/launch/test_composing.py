"""Cells composed from a shared base are those that Hydra composes one by one."""

import pytest
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException

from attnlab.config.composing import compose, composer, load_with_hydra
from attnlab.launch.composing import Composing

CELLS = (
    ["seed=3"],
    ["data=planted", "seed=1", "data.source.train=7"],
    [
        "data=planted",
        "model=cnn",
        "model.encoder.hidden_size=4",
        "protocol=[permutation]",
        "protocols.permutation.draws=9",
    ],
    ["model/attention=uniform", "protocol=[predictions,set_erasure]", "++trainer.accumulate_grad_batches=2"],
    ["~callbacks", "trainer=ddp", "trainer.devices=3", "data.batch_size=${seed}"],
    ["~selection.mode", "+selection.mode=min", "hydra.sweep.dir=elsewhere", "vectors=random", "vectors.dim=5"],
    ["+cluster=slurm", "cluster.minutes=5", "+cluster.sbatch.nice=3"],
    ["data=planted", "seed=2", "data.source.train=7"],
)


@pytest.fixture
def composing():
    with composer():
        yield Composing(load_with_hydra, GlobalHydra.instance().config_loader())


def test_the_same_as_hydra(composing):
    found = [composing.compose(cell) for cell in CELLS]
    assert len(composing.bases) == len(CELLS) - 1
    GlobalHydra.instance().clear()
    assert found == [compose(cell) for cell in CELLS]


def test_a_value_that_is_not_there_is_refused(composing):
    with pytest.raises(HydraException, match="no_such_key"):
        composing.compose(["data=planted", "no_such_key=1"])
