"""Further models that protocols declare: their configurations, their keys, and what a plan makes of them."""

import pytest

from attnlab.config.composing import compose, composer
from attnlab.errors import ConfigError, IncompatibleError
from attnlab.further import Declarer, merged
from attnlab.job import Job
from attnlab.launch.plan import make_plan
from attnlab.launch.studies import expand_file
from attnlab.store.document import write_json

BASE = ("data=planted", "logger=none")
ADVERSARY = "protocols.model_adversary.models.adversary"


@pytest.fixture
def job(tmp_path):
    def make(*overrides):
        return Job.from_config(*compose([*BASE, f"paths.output_dir={tmp_path}", *overrides]))

    return make


@pytest.fixture
def plan(tmp_path):
    def make(*jobs):
        with composer() as one:
            options = [[*BASE, f"paths.output_dir={tmp_path}", *overrides] for overrides in jobs]
            return make_plan(options, one, lambda choices: one([*BASE, *choices]))

    return make


def test_a_target_replaces_and_other_mappings_are_merged():
    config = {"model": {"attention": {"_target_": "A", "share": 1.0}, "dropout": 0.1}, "seed": 0}
    changed = merged(config, {"model": {"attention": {"_target_": "B"}}})
    assert changed == {"model": {"attention": {"_target_": "B"}, "dropout": 0.1}, "seed": 0}
    assert config["model"]["attention"]["_target_"] == "A"


def test_a_declared_model_is_the_one_that_a_job_of_its_own_would_train(job):
    measured = job("protocol=[uniform_baseline,seed_variance]", "seed=10")
    (uniform,) = measured.further["uniform_baseline"]["uniform"]
    alone = job("protocol=[predictions]", "model/attention=uniform", "seed=10")
    assert (uniform.model_key, uniform.result_keys, uniform.cell) == (alone.model_key, alone.result_keys, alone.cell)
    seeded = measured.further["seed_variance"]["seeded"]
    alone = job("protocol=[predictions]", "seed=50")
    assert len(seeded) == 8
    assert (seeded[0].model_key, seeded[0].result_keys) == (alone.model_key, alone.result_keys)
    assert measured.models[0] == measured.model_key
    assert len(set(measured.models)) == 10


def test_the_models_own_seed_is_no_other_seed(job):
    others = [job("protocol=[seed_variance]", f"seed={seed}").further["seed_variance"]["seeded"] for seed in (2, 3)]
    assert [len(jobs) for jobs in others] == [7, 8]


def test_a_result_depends_on_the_models_that_it_needs_and_not_on_how_they_are_told(job):
    plain = job("protocol=[model_adversary]")
    longer = job("protocol=[model_adversary]", f"{ADVERSARY}.trainer.max_epochs=3")
    same = job("protocol=[model_adversary]", f"+{ADVERSARY}.trainer.accelerator=cpu")
    assert plain.model_key == longer.model_key
    assert plain.result_keys != longer.result_keys
    assert plain.result_keys == same.result_keys


def test_what_a_model_is_trained_on_is_part_of_its_key(job):
    first, second = (
        {name: jobs[0] for name, jobs in job("protocol=[guided_mlp]", over).further["guided_mlp"].items()}
        for over in ("trainer.max_epochs=8", "model.encoder.hidden_size=7")
    )
    assert first["uniform"].model_key == second["uniform"].model_key
    for name in ("base", "adversary"):
        assert first[name].model_key != second[name].model_key
        assert set(first[name].source.jobs) == {"train", "validation", "test"}
    adversary = first["adversary"].source.jobs["train"]
    assert adversary.config["trainer"]["max_epochs"] == 80
    assert adversary.source.jobs["train"].model_key == first["base"].source.jobs["train"].model_key
    assert first["base"].config["trainer"]["max_epochs"] == 8


def test_a_plan_counts_every_model_once_and_trains_shared_ones_first(plan):
    found = plan(
        ["protocol=[seed_variance]", "seed=10"],
        ["protocol=[uniform_baseline]", "seed=10"],
        *(["protocol=[predictions]", f"seed={seed}"] for seed in (10, 50, 257)),
        ["protocol=[predictions]", "seed=10", "model/attention=uniform"],
    )
    assert not found.impossible
    assert len(found.models) == 10
    assert list(found.waiting[-1].job.result_keys) == ["uniform_baseline"]
    assert all(list(entry.job.result_keys) == ["predictions"] for entry in found.waiting[:4])
    uniform = next(e.job for e in found.waiting if e.job.cell == "planted-bilstm-uniform-random")
    with uniform.store.create("models", uniform.model_key) as folder:
        write_json(folder / "training.json", {"seconds": 1.0})
    assert len(found.models) == 9


def test_the_study_of_wiegreffe_and_pinter_trains_22_models_for_each_set(plan):
    found = plan(*expand_file("paper/wiegreffe_pinter_2019", ["data=planted"]))
    assert not found.impossible
    assert len(found.waiting) == 6
    # The model, uniform, 8 seeds, 8 adversaries of which one guides, and 4 guided models.
    assert len(found.models) == 1 + 1 + 8 + 8 + 4


def test_several_models_are_compared_at_their_last_layer_alone(job):
    document = ("model=han_gru", "data.source.sentences=3")
    assert len(job("protocol=[seed_variance]", *document).untrained) == 9
    with pytest.raises(IncompatibleError, match="seed_variance compares the last attention layers"):
        job("protocol=[seed_variance]", "level=word", *document)
    assert job("protocol=[attention_substitution]", "level=word", *document).untrained


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({"a": {"modle": {}}}, "protocols.p.models.a: a configuration has no 'modle'"),
        ({"a": {"each": {"seed": []}}}, r"protocols.p.models.a.each.seed: expected a list of one value or more"),
        ({"a": {"given": {"output": "x"}}}, "protocols.p.models.a.given.output=x: choose one of attention, gradient"),
        ({"only": ["b"], "a": {}}, "protocols.p: there is no 'b'; choose from a"),
    ],
)
def test_a_malformed_declaration_is_named(models, message):
    with pytest.raises(ConfigError, match=message):
        Declarer({"seed": 0, "protocols": {"p": {"models": models}}}).of_protocol("p")
