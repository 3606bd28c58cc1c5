"""Jobs as the agent of a W&B sweep starts them, by the agent's own code, with the server left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from attnlab.config.location import sweeps_directory
from tests.e2e.conftest import SMALL
from tests.e2e.wandb_file import runs

# What `wandb agent` does with a run that the server sends.
AGENT = """
import json, os, sys
from wandb.wandb_agent import Agent
command, args, run = json.loads(sys.argv[1])
os.environ["WANDB_SWEEP_ID"] = "mysweep"
agent = Agent(None, None, sweep_id="mysweep")
agent._sweep_command = command
values = {name: {"value": value} for name, value in args.items()}
agent._command_run({"type": "run", "run_id": run, "program": "attnlab", "args": values})
sys.exit(agent._run_processes[run].wait())
"""


def run_by_agent(attnlab, command, args, run):
    path = f"{Path(sys.executable).parent}{os.pathsep}{attnlab.environment.get('PATH', '')}"
    environment = {**attnlab.environment, "PATH": path}
    arguments = [sys.executable, "-c", AGENT, json.dumps([command, args, run])]
    return subprocess.run(arguments, cwd=attnlab.folder, env=environment, capture_output=True, text=True, timeout=300)


def test_the_agents_run_holds_the_whole_job_and_what_the_store_had(attnlab):
    file = yaml.safe_load((sweeps_directory() / "wandb" / "bayes.yaml").read_text())
    assert file["command"][-1] == "logger.mode=online"
    command = [*file["command"], *SMALL, "protocol=[predictions,permutation]", "logger.mode=offline"]
    args = {"model.optimizer.lr": 0.00123456789, "model.encoder.hidden_size": 32}
    assert args.keys() == file["parameters"].keys()
    done = run_by_agent(attnlab, command, args, "trial1")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = runs(attnlab.folder)
    assert run["id"] == "trial1"
    assert run["exit"] == 0
    assert run["config"]["model.optimizer.lr"] == 0.00123456789
    metric = file["metric"]["name"]
    assert [row for row in run["history"] if metric in row]
    assert 0 <= run["summary"][metric] <= 1
    assert 0 <= run["summary"]["permutation/tvd"] <= 1
    assert "predictions/accuracy" in run["summary"]
    assert [row for row in run["history"] if "permutation/tvd" in row]
    assert "logger.mode=online" in done.stdout + done.stderr

    # The same job again is in the store; its run must hold the metric nevertheless.
    again = run_by_agent(attnlab, command, args, "trial2")
    assert again.returncode == 0, again.stdout + again.stderr
    second = next(run for run in runs(attnlab.folder) if run["id"] == "trial2")
    for name in (metric, "permutation/tvd", "predictions/accuracy"):
        assert second["summary"][name] == run["summary"][name]
        assert [r[name] for r in second["history"] if name in r] == [r[name] for r in run["history"] if name in r]


def test_a_study_that_is_no_grid_is_run_cell_by_cell(attnlab):
    study = "zip: {seed: [0, 1], protocol: [[predictions], [permutation]]}\ninclude: [{seed: 1, +note: a b}]\n"
    (attnlab.folder / "mine.yaml").write_text(study)
    written = attnlab("wandb", "sweep", "mine.yaml", *SMALL, "logger.mode=offline", "model=projection")
    assert written.returncode == 0, written.stderr
    file = yaml.safe_load(written.stdout)
    cells = file["parameters"]["cell"]["values"]
    assert len(cells) == 2
    done = run_by_agent(attnlab, file["command"], {"cell": cells[1]}, "trial")
    assert done.returncode == 0, done.stdout + done.stderr
    (run,) = runs(attnlab.folder)
    assert run["config"]["note"] == "a b"
    assert run["config"]["seed"] == 1
    assert "permutation/tvd" in run["summary"]


def test_several_jobs_under_an_agent_are_refused(attnlab):
    refused = attnlab("-m", *SMALL, "seed=0,1", WANDB_SWEEP_ID="mysweep", WANDB_RUN_ID="trial")
    assert refused.returncode == 2
    assert "one job at a time" in refused.stderr
