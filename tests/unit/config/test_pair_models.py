"""What models of two texts ask of the data and of protocols, before anything is read."""

import pytest

from attnlab.capabilities import check_job
from attnlab.config.composing import compose
from attnlab.errors import AttnlabError
from attnlab.instantiate import instantiate


@pytest.mark.parametrize("model", ["pair_bilstm", "pair_cnn", "pair_projection"])
@pytest.mark.parametrize("attention", ["additive", "scaled_dot"])
def test_a_pair_model_is_measured_by_default_by_all_that_applies(model, attention):
    config, _ = compose(["data=babi1", f"model={model}", f"model/attention={attention}"])
    check_job(config)
    assert len(config["protocols"]) == 7
    assert config["protocols"]["adversarial_attention"]["epsilon"] == 0.05
    assert config["selection"]["monitor"] == "val/accuracy"
    named, _ = compose(["data=babi1", f"model={model}", "protocol=[permutation]", "trainer.max_epochs=3"])
    assert list(named["protocols"]) == ["permutation"]
    assert named["trainer"]["max_epochs"] == 3


def test_what_a_data_set_decides_leaves_others_as_they_were():
    config, _ = compose([])
    assert config["protocols"]["adversarial_attention"]["epsilon"] == 0.01
    assert config["selection"]["monitor"] == "val/auroc"
    assert config["trainer"]["max_epochs"] == 8
    assert config["callbacks"]["early_stopping"]["patience"] == 3
    assert config["model"]["embedding_dim"] == 300


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["data=babi1"], "this model needs data that give single, but they give pair"),
        (["data=planted", "model=pair_cnn"], "this model needs data that give pair, but they give single"),
        (["data=babi1", "model=han_gru"], "two texts, of which this model reads one; choose model=pair_bilstm"),
        (["data=babi1", "model=pair_cnn", "protocol=[attention_leverage]"], "attention_leverage needs linear_readout"),
        (["data=babi1", "model=pair_cnn", "protocol=[input_erasure]"], "input_erasure needs linear_readout, single"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(overrides, message):
    with pytest.raises(AttnlabError, match=message) as refused:
        prepare(compose(overrides)[0])
    assert "\n" not in str(refused.value)


def prepare(config):
    """The checks that come before data is read."""
    check_job(config)
    instantiate(config["data"], "data")
