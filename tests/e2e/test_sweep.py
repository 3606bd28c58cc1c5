"""Sweeps of real jobs: failures apart, resume by running again, interruption."""

import json
import os
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import SMALL, entries

JOB = (*SMALL, "logger=none")
NO_TORCH = ("-m", *JOB, "seed=0,1", "protocol=[permutation],[predictions]")


def records(folder):
    """Every result of a store, by key."""
    return {p.name: pq.read_table(p / "records.parquet") for p in entries(folder, "results")}


def test_failing_and_impossible_cells_stop_nothing_else(attnlab):
    axes = ("model/attention=additive,frozen", "model.optimizer.lr=0.001,1.0e+30", "+trainer.detect_anomaly=true")
    sweep = attnlab("-m", *JOB, "protocol=[permutation]", *axes)
    assert sweep.returncode == 1
    assert "2 impossible" in sweep.stdout
    assert "impossible: model/attention=frozen model.optimizer.lr=0.001: model/attention=frozen imposes" in sweep.stdout
    (failure,) = (line for line in sweep.stdout.splitlines() if line.startswith("failed: "))
    assert "model/attention=additive model.optimizer.lr=1e+30: RuntimeError" in failure
    assert "nan" in Path(failure.rpartition("(log: ")[2].rstrip(")")).read_text().lower()
    assert len(entries(attnlab.folder, "results")) == 1


def test_a_sweep_run_again_does_nothing_and_a_larger_one_only_what_is_new(attnlab):
    first = attnlab(*NO_TORCH)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "4 cells: 0 done, 4 to run (cost unknown), 2 models to train" in first.stdout
    before = records(attnlab.folder)
    again = attnlab(*NO_TORCH)
    assert "4 cells: 4 done, 0 to run" in again.stdout
    larger = attnlab("-m", *JOB, "seed=0,1,2", "protocol=[permutation],[predictions]")
    assert larger.returncode == 0
    assert "6 cells: 4 done, 2 to run" in larger.stdout
    assert "1 models to train" in larger.stdout
    after = records(attnlab.folder)
    assert all(after[key].equals(table) for key, table in before.items())
    assert len(after) == 6


def test_dry_run_prints_the_plan_and_writes_nothing(attnlab):
    plan = attnlab("-m", *JOB, "seed=0,0,1", "protocol=[permutation]", "dry_run=true")
    assert plan.returncode == 0, plan.stderr
    assert "2 cells: 0 done, 2 to run (cost unknown), 2 models to train, 1 duplicates, 0 impossible" in plan.stdout
    assert not entries(attnlab.folder, "models")
    single = attnlab(*JOB, "protocol=[permutation]", "dry_run=true")
    assert "1 cells: 0 done, 1 to run" in single.stdout


def test_the_frozen_configuration_wins_over_an_edited_one(attnlab):
    folder = "hydra.sweep.dir=outputs/sweeps/mine"
    attnlab("-m", *JOB, "seed=0,1", "protocol=[permutation]", folder)
    cells = sorted((attnlab.folder / "outputs/sweeps/mine/cells").glob("*/job.yaml"))
    assert len(cells) == 2
    stamps = [cell.stat().st_mtime_ns for cell in cells]
    attnlab("-m", *JOB, "seed=0,1", "protocol=[permutation]", folder)
    assert [cell.stat().st_mtime_ns for cell in cells] == stamps


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupted_sweep_ends_its_children_and_is_finished_by_running_it_again(attnlab, how):
    job = ("-m", *JOB, "seed=0,1", "protocol=[permutation]", "trainer.max_epochs=4000", "callbacks=none")
    process = attnlab(*job, start=True)
    beats = lambda: list((attnlab.folder / "outputs" / "sweeps").rglob("heartbeat.json"))  # noqa: E731
    while not list((attnlab.folder / "outputs").glob("store/unfinished/*/now/best.ckpt")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    children = {int(beat.read_text().split('"pid": ')[1].split(",")[0]) for beat in beats()}
    assert children
    os.kill(process.pid, how)
    process.communicate(timeout=60)
    assert process.returncode != 0
    deadline = time.monotonic() + 30
    while any(os.path.exists(f"/proc/{pid}") for pid in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in children)
    done = attnlab("-m", *JOB, "seed=0,1", "protocol=[permutation]", "trainer.max_epochs=1", "callbacks=none")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(entries(attnlab.folder, "results")) == 2


@pytest.mark.slow
def test_a_job_that_a_signal_ends_is_tried_again_where_that_is_asked_for(attnlab):
    training = ("trainer.max_epochs=60", "callbacks=none", "resume_seconds=0", "protocol=[predictions]")
    process = attnlab("-m", *JOB, *training, "seed=0", "launcher.retries.killed=1", start=True)
    outputs = attnlab.folder / "outputs"
    while not list(outputs.glob("store/unfinished/*/epoch-*")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    (beat,) = outputs.glob("sweeps/*/*/cells/*/heartbeat.json")
    os.kill(json.loads(beat.read_text())["pid"], signal.SIGKILL)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    (log,) = outputs.glob("sweeps/*/*/cells/*/output.log")
    assert "training goes on after epoch" in log.read_text()
