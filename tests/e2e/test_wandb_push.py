"""The W&B project made again from the store equals the one that jobs logged themselves."""

import json
import shutil

from tests.e2e.conftest import SMALL, entries
from tests.e2e.wandb_file import runs
from tests.e2e.wandb_server import WandbServer

JOB = (*SMALL, "trainer.max_epochs=2", "protocol=[predictions,permutation]")

CLOCK = ("_timestamp", "_runtime", "_wandb")


def shown(run):
    """What a run holds, without what tells when and where it was written."""
    summary = {k: v for k, v in run["summary"].items() if k not in CLOCK}
    files = {name for name, value in summary.items() if isinstance(value, dict)}
    for name in files:  # their paths are random
        summary[name] = {k: v for k, v in summary[name].items() if "path" not in k}
    history = [{k: v for k, v in row.items() if k not in {*CLOCK, *files}} for row in run["history"]]
    config = {k: v for k, v in run["config"].items() if k != "_wandb"}
    return {**run, "summary": summary, "history": history, "config": config, "files": media(run)}


def media(run):
    """Names of tables and figures without their hashes."""
    return sorted(path.rsplit("_", 2)[0] for path in run["files"] if path.startswith("media/"))


def test_what_is_pushed_is_what_a_job_logs_itself(attnlab):
    done = attnlab(*JOB)
    assert done.returncode == 0, done.stderr
    own = {run["id"]: shown(run) for run in runs(attnlab.folder)}
    shutil.rmtree(attnlab.folder / "outputs")

    done = attnlab(*JOB, "logger=none")
    assert done.returncode == 0, done.stderr
    assert not runs(attnlab.folder)
    push_offline(attnlab, own)
    push_online_twice(attnlab, own)
    push_damaged_store(attnlab)
    refusals(attnlab)


def push_offline(attnlab, own):
    pushed = attnlab("wandb", "push", "--mode", "offline")
    assert pushed.returncode == 0, pushed.stderr
    assert "pushed 1 model and 2 results" in pushed.stdout
    assert "wandb sync -n 8 outputs/push/wandb" in pushed.stdout
    again = {run["id"]: shown(run) for run in runs(attnlab.folder)}
    assert again == own
    assert len(again) == 3
    assert {run["exit"] for run in again.values()} == {0}
    train = next(run for run in again.values() if run["job_type"] == "train")
    assert [row["_step"] for row in train["history"]] == list(range(len(train["history"])))
    assert {row["trainer/global_step"] for row in train["history"] if "val/auroc" in row} == {6, 13}
    twice = attnlab("wandb", "push", "--mode", "offline")
    assert "pushed 0 models and 0 results, 3 were there" in twice.stdout
    assert len(list((attnlab.folder / "outputs/push/wandb").glob("offline-run-*"))) == 3


def push_online_twice(attnlab, own):
    with WandbServer() as server:
        online = attnlab("wandb", "push", **server.environment)
        assert online.returncode == 0, online.stderr
        once = json.dumps({key: run["history"] for key, run in server.runs.items()})
        again = attnlab("wandb", "push", **server.environment)
        assert again.returncode == 0, again.stderr
        assert json.dumps({key: run["history"] for key, run in server.runs.items()}) == once
    assert server.runs.keys() == own.keys()
    for key, run in server.runs.items():
        assert run["exit"] == 0
        assert (run["group"], run["job_type"]) == (own[key]["group"], own[key]["job_type"])
        assert run["config"]["trainer.max_epochs"] == 2
        assert shown({**own[key], "history": run["history"]})["history"] == own[key]["history"]


def push_damaged_store(attnlab):
    result, other = entries(attnlab.folder, "results")
    (result / "records.parquet").write_bytes(b"no table")
    (other.parent / "notes").mkdir()
    # A run without its mark was left by a push that was killed.
    killed = attnlab.folder / f"outputs/push/wandb/offline-run-20260101_000000-{other.name}"
    killed.mkdir(parents=True)
    pushed = attnlab("wandb", "push", "--mode", "offline", "--project", "mine", PYTHONPROFILEIMPORTTIME="1")
    assert pushed.returncode == 1
    assert "pushed 1 model and 1 result" in pushed.stdout
    assert not killed.exists()
    lines = [line for line in pushed.stderr.splitlines() if not line.startswith("import time:")]
    assert [line for line in lines if str(result) in line and "records.parquet" in line and "skipped" in line]
    assert [line for line in lines if "notes" in line and "skipped" in line]
    imported = {line.split("|")[-1].strip() for line in pushed.stderr.splitlines() if line.startswith("import time:")}
    assert "wandb" in imported
    assert not {"torch", "lightning"} & imported


def refusals(attnlab):
    online = {"WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": "http://127.0.0.1:9"}
    unreachable = attnlab("wandb", "push", "--timeout", "2", **online)
    assert unreachable.returncode == 1
    assert "W&B did not start a run" in unreachable.stderr
    assert "Traceback" not in unreachable.stderr
    refused = attnlab("wandb", "push")
    assert refused.returncode == 2
    assert "--mode online needs an account" in refused.stderr
