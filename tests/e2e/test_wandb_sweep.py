"""Jobs as the agent of a W&B sweep starts them, by the agent's own code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from attnlab.config.location import sweeps_directory
from tests.e2e.conftest import SMALL
from tests.e2e.wandb_server import WandbServer

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


def run_by_agent(attnlab, command, args, run, **extra):
    path = f"{Path(sys.executable).parent}{os.pathsep}{attnlab.environment.get('PATH', '')}"
    environment = {**attnlab.environment, "PATH": path, **extra}
    arguments = [sys.executable, "-c", AGENT, json.dumps([command, args, run])]
    return subprocess.run(arguments, cwd=attnlab.folder, env=environment, capture_output=True, text=True, timeout=300)


def test_the_agents_run_holds_the_whole_job_and_what_the_store_had(attnlab):
    file = yaml.safe_load((sweeps_directory() / "wandb" / "bayes.yaml").read_text())
    command = [*file["command"], *SMALL, "protocol=[predictions,permutation]"]
    args = {"model.optimizer.lr": 0.00123456789, "model.encoder.hidden_size": 32}
    assert args.keys() == file["parameters"].keys()
    metrics = (file["metric"]["name"], "permutation/tvd", "predictions/accuracy")
    with WandbServer() as server:
        # The second job is in the store when it starts; its run must hold the metric nevertheless.
        for trial in ("trial1", "trial2"):
            done = run_by_agent(attnlab, command, args, trial, **server.environment)
            assert done.returncode == 0, done.stdout + done.stderr
    assert server.runs.keys() == {"trial1", "trial2"}
    first, second = server.runs["trial1"], server.runs["trial2"]
    for run in (first, second):
        assert run["sweep"] == "mysweep"
        assert run["job_type"] == "trial"
        assert run["exit"] == 0
        assert run["config"]["model.optimizer.lr"] == 0.00123456789
    for name in metrics:
        assert 0 <= first["summary"][name] <= 1
        assert second["summary"][name] == first["summary"][name]
        values = [row[name] for row in first["history"] if name in row]
        assert values
        assert [row[name] for row in second["history"] if name in row] == values


def test_a_study_that_is_no_grid_is_run_cell_by_cell(attnlab):
    study = "zip: {seed: [0, 1], protocol: [[predictions], [permutation]]}\ninclude: [{seed: 1, +note: a b}]\n"
    (attnlab.folder / "mine.yaml").write_text(study)
    written = attnlab("wandb", "sweep", "mine.yaml", *SMALL, "logger.mode=offline", "model=projection")
    assert written.returncode == 0, written.stderr
    file = yaml.safe_load(written.stdout)
    cells = file["parameters"]["cell"]["values"]
    assert len(cells) == 2
    done = run_by_agent(attnlab, [*file["command"], "--cfg", "job"], {"cell": cells[1]}, "trial")
    assert done.returncode == 0, done.stdout + done.stderr
    config = yaml.safe_load(done.stdout)
    assert config["note"] == "a b"
    assert config["seed"] == 1
    assert list(config["protocols"]) == ["permutation"]
    assert config["trainer"]["max_epochs"] == 1


def test_several_jobs_under_an_agent_are_refused(attnlab):
    refused = attnlab("-m", *SMALL, "seed=0,1", WANDB_SWEEP_ID="mysweep", WANDB_RUN_ID="trial")
    assert refused.returncode == 2
    assert "one job at a time" in refused.stderr
