"""W&B as users expect it: runs, groups, job types, tags, config, metrics, tables and figures, offline."""

import pytest

from tests.e2e.conftest import SMALL, entries
from tests.e2e.wandb_file import runs


def test_each_job_is_runs_of_its_own_grouped_without_the_seed(attnlab):
    sweep = attnlab(
        "-m", *SMALL, "seed=0,1", "protocol=[permutation]", "logger.max_rows=7", f"logger.tags=[{'x' * 80}]"
    )
    assert sweep.returncode == 0, sweep.stderr
    found = runs(attnlab.folder)
    assert len(found) == 4
    assert {run["exit"] for run in found} == {0}
    assert len({run["group"] for run in found}) == 1
    assert sorted(run["job_type"] for run in found) == ["permutation", "permutation", "train", "train"]
    stored = {entry.name for kind in ("models", "results") for entry in entries(attnlab.folder, kind)}
    assert {run["id"] for run in found} == stored
    for run in found:
        assert {"planted", "bilstm"} <= set(run["tags"])
        assert max(map(len, run["tags"])) <= 64
        assert run["config"]["trainer.max_epochs"] == 1
        assert run["config"]["model.encoder.hidden_size"] == 8
    assert {run["config"]["seed"] for run in found} == {0, 1}

    train = next(run for run in found if run["job_type"] == "train")
    assert any("val/auroc" in row for row in train["history"])
    result = next(run for run in found if run["job_type"] == "permutation")
    assert 0 <= result["summary"]["permutation/tvd"] <= 1
    assert result["summary"]["permutation/measured"] == 60
    assert result["summary"]["permutation/records"]["nrows"] == 7
    assert result["summary"]["permutation/median_tvd"]["_type"] == "image-file"


def test_jobs_that_differ_in_more_than_the_seed_are_other_groups(attnlab):
    attnlab("-m", *SMALL, "model.optimizer.lr=0.01,0.001", "protocol=[predictions]")
    assert len({run["group"] for run in runs(attnlab.folder)}) == 2


def test_a_failed_training_ends_as_failed(attnlab):
    # The loss is not finite from the first step on, which Lightning is told to refuse.
    failing = ("model.optimizer.lr=1.0e+30", "+trainer.detect_anomaly=true", "trainer.max_epochs=3")
    result = attnlab(*SMALL, *failing, "protocol=[predictions]")
    assert result.returncode == 1
    (run,) = runs(attnlab.folder)
    assert run["job_type"] == "train"
    assert run["exit"] == 1


@pytest.mark.parametrize("logger", ["none", "csv"])
def test_other_loggers_leave_nothing_of_wandb(attnlab, logger):
    result = attnlab(*SMALL, f"logger={logger}", "protocol=[permutation]")
    assert result.returncode == 0, result.stderr
    assert not list(attnlab.folder.rglob("*wandb*"))
    assert len(list(attnlab.folder.rglob("permutation.csv"))) == (1 if logger == "csv" else 0)


def test_an_unreachable_server_costs_a_warning(attnlab):
    online = {"WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": "http://127.0.0.1:9"}
    result = attnlab(*SMALL, "logger.mode=online", "logger.init_timeout=3", "protocol=[predictions]", **online)
    assert result.returncode == 0, result.stderr
    assert "W&B did not start" in result.stdout + result.stderr
    assert len(entries(attnlab.folder, "results")) == 1
