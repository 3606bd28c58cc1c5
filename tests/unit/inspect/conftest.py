"""A small store and a sweep, written without training anything."""

import json

import pytest

from attnlab.config.composing import compose
from attnlab.job import Job
from attnlab.launch.cell import Cell
from attnlab.store.document import write_json, write_yaml
from attnlab.store.entry import write_entry

TIME = "2026-01-02T03:04:05+00:00"


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """``outputs/`` of an empty working directory."""
    monkeypatch.delenv("ATTNLAB_OUTPUT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "outputs"


@pytest.fixture
def make_job(outputs):
    """A job from overrides, on generated data."""

    def make(*overrides):
        return Job.from_config(*compose(["data=planted", "protocol=[permutation]", *overrides]))

    return make


def add_model(job):
    """The entry that training the job's model leaves, without weights."""
    with job.store.create("models", job.model_key) as folder:
        write_yaml(folder / "config.yaml", job.config)
        training = {"selected_by": "val/auroc", "best": 0.75, "epochs": 3, "seconds": 12.5}
        write_json(folder / "training.json", training)
        write_json(folder / "provenance.json", {"time": TIME})
        write_entry("models", folder, job.choices)
    return job.store.path("models", job.model_key)


def add_result(job, value=0.5):
    """The entries that measuring the job leaves, without records."""
    for protocol, key in job.result_keys.items():
        with job.store.create("results", key) as folder:
            about = {"protocol": protocol, "model_key": job.model_key, "models": job.models, "choices": job.choices}
            write_yaml(folder / "config.yaml", {**about, **job.config})
            about = {"higher_is_better": None, "by_prediction": {}}
            statistics = {"tvd": {"all": value, **about}, "other": {"all": 1.0, **about}}
            summary = {"n": 1, "measured": 1, "excluded": {}, "statistics": statistics}
            write_json(folder / "summary.json", summary)
            write_json(folder / "provenance.json", {"seconds": 0.25, "time": TIME})
            write_entry("results", folder)
    return job.store.path("results", key)


def add_cell(sweep, job, **files):
    """A cell of a sweep, with JSON files such as ``done={"seconds": 2}``."""
    cell = Cell.freeze(sweep / "cells", [], job.config, job.choices)
    for name, content in files.items():
        (cell.folder / f"{name}.json").write_text(json.dumps(content))
    return cell.folder
