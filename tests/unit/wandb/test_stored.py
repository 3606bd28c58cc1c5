import json

import pytest

from attnlab.config.composing import compose
from attnlab.errors import StoreError
from attnlab.job import Job
from attnlab.launch.cell import Cell
from attnlab.store import Store
from attnlab.store.document import write_json, write_yaml
from attnlab.store.entry import write_entry
from attnlab.wandb.content import training_content
from attnlab.wandb.offline import PushedRuns
from attnlab.wandb.start import Destination
from attnlab.wandb.stored import StoredRun, of_store, of_sweep

CURVE = "epoch,step,train/loss,val/auroc\n0,6,,0.5\n0,6,0.25,\n1,13,nan,1.0\n"


@pytest.fixture
def job(tmp_path):
    overrides = ["data=planted", "protocol=[permutation]", f"paths.output_dir={tmp_path}"]
    return Job.from_config(*compose([*overrides, "logger.project=mine", "logger.tags=[x]"]))


def add_model(job):
    with job.store.create("models", job.model_key) as folder:
        write_yaml(folder / "config.yaml", job.config)
        write_json(folder / "training.json", {"selected_by": "val/auroc", "best": 1, "epochs": 2, "seconds": 1})
        write_json(folder / "provenance.json", {"time": "2026-01-02T03:04:05+00:00"})
        (folder / "metrics.csv").write_text(CURVE)
        write_entry("models", folder, job.choices)
    return job.store.path("models", job.model_key)


def test_a_stored_model_is_the_run_that_its_job_logs(job):
    run = StoredRun.read("models", add_model(job))
    assert run.identity.id == job.model_key
    assert run.identity.group == job.group
    assert run.identity.job_type == "train"
    assert "x" in run.identity.tags
    assert run.identity.config["model"] == "bilstm"
    assert run.destination(Destination("online"), None) == Destination("online", "mine")
    assert run.destination(Destination("online", entity="me"), "other").path == "me/other"
    first, second, third = run.content().rows
    assert first == {"epoch": 0, "trainer/global_step": 6, "val/auroc": 0.5}
    assert second == {"epoch": 0, "trainer/global_step": 6, "train/loss": 0.25}
    assert third["train/loss"] != third["train/loss"]
    assert isinstance(third["val/auroc"], float)


def test_damage_is_named(job):
    folder = add_model(job)
    (folder / "metrics.csv").write_text("epoch,train/loss\n0,much\n")
    with pytest.raises(StoreError, match=r"metrics\.csv cannot be read"):
        training_content(folder)
    entry = json.loads((folder / "entry.json").read_text())
    del entry["config"]["seed"]
    (folder / "entry.json").write_text(json.dumps(entry))
    with pytest.raises(StoreError, match="is damaged"):
        StoredRun.read("models", folder)


def test_a_sweep_is_what_the_store_has_of_its_cells(job, tmp_path):
    Cell.freeze(tmp_path / "sweep" / "cells", [], job.config, job.choices)
    assert of_sweep(tmp_path / "sweep").missing == 2
    folder = add_model(job)
    selection = of_sweep(tmp_path / "sweep")
    assert (selection.entries, selection.missing) == ([("models", folder)], 1)
    (folder.parent / "notes").mkdir()
    whole = of_store(Store(job.store.root))
    assert whole.entries == [("models", folder)]
    assert len(whole.problems) == 1


def test_offline_runs_are_there_when_they_are_whole_and_for_the_same_project(tmp_path):
    written = PushedRuns(tmp_path)
    run = written.runs / "offline-run-20260101_000000-abc"
    run.mkdir(parents=True)
    assert not written.has("abc", "p")
    written.mark("abc", "p")
    assert written.has("abc", "p")
    assert not written.has("abc", "q")
    written.clear("abc")
    assert not run.exists()
