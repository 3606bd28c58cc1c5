"""The verbs on a store and a sweep that the command line made, and sweep files up to the jobs they become."""

import json
import subprocess
import sys

import pytest

from tests.e2e.conftest import SMALL, entries


@pytest.fixture
def measured(attnlab):
    """A store with one model and two results."""
    done = attnlab(*SMALL, "logger=none", "model=projection", "protocol=[predictions,permutation]")
    assert done.returncode == 0, done.stderr
    return attnlab


def test_ls_shows_what_a_job_left_and_gc_removes_what_lost_its_results(measured):
    attnlab = measured
    results = attnlab("ls", "results", "data=planted", "trainer.max_epochs=1")
    assert results.returncode == 0, results.stderr
    assert "2 of 2 results" in results.stdout
    assert "accuracy" in results.stdout
    listed = json.loads(attnlab("ls", "results", "protocol=permutation", "--json").stdout)
    (model,) = json.loads(attnlab("ls", "models", "model=projection", "seed=0", "--json").stdout)
    (result,) = listed
    assert result["model_key"] == model["key"] == entries(attnlab.folder, "models")[0].name
    summary = json.loads((attnlab.folder / "outputs/store/results" / result["key"] / "summary.json").read_text())
    assert result["value"] == summary["statistics"]["tvd"]["all"]
    assert model["epochs"] == 1
    assert model["seconds"] > 0

    kept = attnlab("gc", "--delete")
    assert kept.returncode == 0, kept.stderr
    assert "0 models" in kept.stdout
    assert entries(attnlab.folder, "models")
    assert not list((attnlab.folder / "outputs/store/locks").iterdir())
    for entry in entries(attnlab.folder, "results"):
        entry.rename(attnlab.folder / entry.name)
    assert "1 models that no result needs" in attnlab("gc").stdout
    assert entries(attnlab.folder, "models")
    assert "removed" in attnlab("gc", "--delete").stdout
    assert not entries(attnlab.folder, "models")


def test_status_reads_cells_that_ran_failed_and_wait(attnlab):
    run_first = (
        "import sys; from pathlib import Path; from attnlab.config.composing import compose;"
        "from attnlab.launch.cell import Cell, run_cell;"
        "cells = [Cell.freeze(Path('outputs/sweeps/mine/cells'), [], *compose([*sys.argv[1:], f'seed={s}']))"
        " for s in range(2)]; run_cell(cells[0].folder)"
    )
    run = {"cwd": attnlab.folder, "env": attnlab.environment, "capture_output": True, "text": True}
    for overrides in (["model=projection"], ["model=cnn", "trainer.accelerator=gpu"]):
        arguments = [*SMALL, "logger=none", "protocol=[predictions]", *overrides]
        done = subprocess.run([sys.executable, "-c", run_first, *arguments], **run)
        assert done.returncode == 0, done.stderr
    status = attnlab("status")
    assert status.returncode == 0, status.stderr
    assert "outputs/sweeps/mine: 4 cells" in status.stdout
    assert "done 1  failed 1  dead 0  alive 0  waiting 2" in status.stdout
    assert "of work left, from the seconds of 1 cell; nothing is running" in status.stdout
    assert "1 x ConfigError: trainer" in status.stdout


def test_a_sweep_file_runs_its_cells_and_only_what_is_missing(attnlab):
    study = "grid: {model: [projection, cnn], seed: [0]}\nexclude: [{model: cnn}]\ninclude: [{logger: none}]\n"
    (attnlab.folder / "mine.yaml").write_text(study)
    command = ("+sweep=mine.yaml", *SMALL, "protocol=[predictions],[permutation]")
    first = attnlab(*command)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "2 cells: 0 done, 2 to run" in first.stdout
    assert (attnlab.folder / "outputs" / "sweeps" / "mine" / "sweep.yaml").exists()
    more = attnlab(*command, "seed=0,1")
    assert "4 cells: 2 done, 2 to run" in more.stdout
    assert "outputs/sweeps/mine: 4 cells\n  done 4" in attnlab("status", "mine").stdout
    planned = attnlab("+sweep=quickstart", "dry_run=true")
    assert planned.returncode == 0, planned.stderr
    assert "12 cells: 0 done, 12 to run (cost unknown), 4 models to train" in planned.stdout


def test_all_cells_are_frozen_before_any_has_to_wait(attnlab):
    process = attnlab(
        "-m", *SMALL, "logger=none", "seed=0,1,2", "protocol=[predictions]", "launcher.workers=1", start=True
    )
    for line in process.stdout:
        if line.startswith("done 1/3"):
            break
    frozen = list((attnlab.folder / "outputs" / "sweeps").rglob("job.yaml"))
    process.communicate()
    assert process.returncode == 0
    assert len(frozen) == 3
    assert ": 3 cells\n  done 3" in attnlab("status").stdout


def test_verbs_say_what_is_wrong_in_one_line(attnlab):
    for arguments, message in [
        (("status",), "no sweep under outputs/sweeps"),
        (("ls", "results", "seed"), "seed: filters are key=value"),
        (("ls", "runs"), "invalid choice"),
        (("+paper=jain",), "paper/jain: no such study"),
        (("+sweep=quickstart", "seed=[1"), "seed=[1"),
        (("+sweep=quickstart", "--cfg", "job"), "--cfg does not work with a study"),
    ]:
        result = attnlab(*arguments)
        assert result.returncode == 2, result.stdout + result.stderr
        assert "Traceback" not in result.stderr
        assert message in result.stderr


def test_help_lists_verbs_and_studies(attnlab):
    text = attnlab("--help").stdout
    for part in ("attnlab status [SWEEP]", "attnlab gc", "paper/jain_wallace_2019", "quickstart"):
        assert part in text
    assert "newest" in attnlab("status", "--help").stdout


def test_a_reader_that_stops_early_is_no_error(measured):
    command = f"{sys.executable} -m attnlab ls results --json | true; exit ${{PIPESTATUS[0]}}"
    run = {"cwd": measured.folder, "env": measured.environment, "capture_output": True, "text": True}
    done = subprocess.run(["bash", "-c", command], **run)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
