"""W&B sweeps: what an agent would run, by W&B's own function, is what the study says."""

import itertools
import json
import subprocess
import sys

import pytest
import yaml
from wandb.sdk.launch.sweeps.utils import create_sweep_command, create_sweep_command_args

from attnlab.config.composing import composer
from attnlab.config.location import sweeps_directory
from attnlab.errors import ConfigError
from attnlab.job import Job
from attnlab.launch.studies import expand_file, studies
from attnlab.launch.sweepfile import expand
from attnlab.wandb.cell import job_overrides
from attnlab.wandb.sweep import sweep


def agent_commands(file):
    """Command lines of every run of a grid, after a journey through YAML and the server's JSON."""
    file = json.loads(json.dumps(yaml.safe_load(yaml.safe_dump(file))))
    names, values = zip(*((name, axis["values"]) for name, axis in file["parameters"].items()), strict=True)
    for combination in itertools.product(*values):
        args = {name: {"value": value} for name, value in zip(names, combination, strict=True)}
        axes = create_sweep_command_args({"args": args})["args_no_hyphens"]
        command = create_sweep_command(list(file["command"]))
        place = command.index("${args_no_hyphens}")
        yield [*command[:place], *axes, *command[place + 1 :]]


def overrides(command):
    """What Hydra is given by a command line."""
    assert command[0] == "attnlab"
    return job_overrides(command[3:]) if command[1:3] == ["wandb", "cell"] else command[1:]


def as_sets(jobs):
    return sorted(sorted(job) for job in jobs)


@pytest.mark.parametrize("name", studies())
def test_the_agent_runs_exactly_the_jobs_of_a_study(name):
    jobs = expand_file(name)
    run = [overrides(command) for command in agent_commands(sweep(name, jobs))]
    assert as_sets(run) == as_sets([*job, "logger.mode=online"] for job in jobs)


STUDIES = {
    "grid": {"grid": {"model": ["cnn", "bilstm"], "seed": [0, 1], "protocol": [["permutation"], ["predictions"]]}},
    "one job": {"grid": {"seed": [0]}},
    "constants": {"grid": {"seed": [0, 1]}, "include": [{"+note": 'it\'s ${a}, "b"'}]},
    "zip": {"zip": {"seed": [0, 1], "trainer.max_epochs": [2, 3]}},
    "exclude": {"grid": {"seed": [0, 1], "model": ["cnn", "bilstm"]}, "exclude": [{"seed": 0, "model": "cnn"}]},
    "include": {"grid": {"seed": [0, 1]}, "include": [{"seed": 1, "+note": "a b"}]},
    "new key": {"grid": {"+note": ["x", "y=1, [z]"]}},
    "numbers": {"grid": {"model.optimizer.lr": [1.0, 0.5, 1e-5, 1e16], "+x": ["1", "1.50", "null", True, None, "inf"]}},
}


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_kind_of_study_survives(study):
    jobs = expand(study)
    run = [overrides(command) for command in agent_commands(sweep("mine", jobs))]
    assert as_sets(run) == as_sets([*job, "logger.mode=online"] for job in jobs)


def test_axes_are_parameters_with_numbers_as_numbers():
    file = sweep("mine", expand({**STUDIES["grid"], "include": [{"trainer.max_epochs": 2}]}))
    assert file["parameters"]["seed"] == {"values": [0, 1]}
    assert file["parameters"]["protocol"] == {"values": ["[permutation]", "[predictions]"]}
    assert file["command"] == ["attnlab", "trainer.max_epochs=2", "${args_no_hyphens}", "logger.mode=online"]
    assert sweep("mine", expand(STUDIES["grid"], ["logger=none"]))["command"][-1] == "${args_no_hyphens}"


@pytest.mark.parametrize("path", sorted((sweeps_directory() / "wandb").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_file_opens_with_its_command_and_its_jobs_compose(path):
    text = path.read_text()
    assert f"#   wandb sweep sweeps/wandb/{path.name} " in text
    file = yaml.safe_load(text)
    assert file["command"][-1] == "logger.mode=online"
    for axis in file["parameters"].values():
        axis.setdefault("values", [axis.get("min"), axis.get("max")])
    commands = list(agent_commands(file))
    with composer() as compose:
        made = [Job.from_config(*compose(overrides(command))) for command in (commands[0], commands[-1])]
    assert made[0].model_key != made[1].model_key
    assert {job.config["logger"]["mode"] for job in made} == {"online"}


def test_a_cell_that_is_none_is_told():
    for arguments, message in [([], "needs cell="), (["cell='a"], "No closing quotation")]:
        with pytest.raises(ConfigError, match=message):
            job_overrides(arguments)


def test_writing_a_sweep_imports_neither_torch_nor_wandb():
    code = (
        "import sys; from attnlab.wandb.verb import main; main(['sweep', 'quickstart', 'seed=0,1']);"
        "sys.exit(bool({'torch', 'lightning', 'wandb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "#   attnlab wandb sweep quickstart seed=0,1 > sweep.yaml" in done.stdout
