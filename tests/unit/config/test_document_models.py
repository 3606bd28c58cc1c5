"""What document models ask of the data and of protocols, before anything is read."""

import pytest

from attnlab.capabilities import check_job
from attnlab.config.composing import compose
from attnlab.errors import IncompatibleError
from attnlab.instantiate import instantiate
from attnlab.job import Job

HANS = ["han_gru", "han_cnn", "han_embeddings"]


@pytest.mark.parametrize("model", HANS)
@pytest.mark.parametrize("data", ["bbc", "yelp", "planted"])
def test_a_hierarchical_model_reads_any_set_as_documents(data, model):
    config, choices = compose([f"data={data}", f"model={model}", "data.max_sentences=7"])
    check_job(config)
    assert choices["model/attention"] == "additive_wide"
    assert instantiate(config["data"], "data").limits.sentences == 7
    assert not hasattr(instantiate(compose([f"data={data}"])[0]["data"], "data"), "limits")


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["model=han_gru", "level=word"], "protocol attention_leverage needs linear_readout"),
        (["model=flat_gru", "level=word"], "level: this needs a model that gives word_level"),
        (["model=han_gru", "data._target_=attnlab.data.TextDataModule"], "needs data that give document"),
        (["model=flat_gru", "data._target_=attnlab.data.DocumentDataModule"], "needs data that give single"),
    ],
)
def test_what_cannot_be_is_refused_by_name(overrides, message):
    with pytest.raises(IncompatibleError, match=message):
        check_job(compose(overrides)[0])


def test_a_level_is_another_result_of_the_same_model():
    plain, word = (Job.from_config(*compose(["model=han_gru", *level])) for level in ([], ["level=word"]))
    assert plain.model_key == word.model_key
    assert set(plain.result_keys.values()).isdisjoint(word.result_keys.values())
    assert word.cell == f"{plain.cell}-word"
