from attnlab.config.composing import compose
from attnlab.job import Job
from attnlab.wandb.identity import identify, run_config, short_tag


def job(*overrides):
    return Job.from_config(*compose(["data=planted", "model=cnn", "protocol=[permutation]", *overrides]))


def test_a_run_is_known_by_its_key_and_by_what_the_job_chose():
    made = job("seed=3")
    identity = identify(made, made.model_key, "train", ["mine", "planted"])
    assert identity.id == made.model_key
    assert identity.group == made.group == job("seed=4").group
    assert identity.name == "planted-cnn-additive-random-seed3-train"
    assert {"planted", "cnn", "additive", "random", "mine"} <= set(identity.tags)
    assert len(set(identity.tags)) == len(identity.tags)
    assert identity.config["data"] == "planted"
    assert identity.config["model/attention"] == "additive"
    assert identity.config["seed"] == 3


def test_how_a_job_is_shown_is_no_part_of_its_configuration():
    assert run_config(job("logger=none")) == run_config(job("logger.project=other"))


def test_tags_fit_and_stay_apart():
    long = [short_tag("x" * 80 + end) for end in "ab"]
    assert {len(tag) for tag in long} == {64}
    assert long[0] != long[1]
    assert short_tag("x" * 64) == "x" * 64
