import os
import time

import pytest
from filelock import FileLock

from attnlab.inspect.gc import main
from tests.unit.inspect.conftest import add_cell, add_model, add_result


@pytest.fixture
def store(make_job):
    """One model with a result and one without."""
    needed, unneeded = make_job("seed=0"), make_job("seed=1")
    for job in (needed, unneeded):
        with job.store.lock("models", job.model_key):
            add_model(job)
    add_result(needed)
    return needed, unneeded


def content(root):
    """All paths below a folder."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_a_model_without_a_result_is_shown_and_only_removed_when_told(store, outputs, capsys):
    needed, unneeded = store
    before = content(outputs)
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "1 models that no result needs" in out
    assert unneeded.model_key in out
    assert needed.model_key not in out
    assert "2 lock files" in out
    assert content(outputs) == before
    assert main(["--delete"]) == 0
    assert "removed 3 of 3" in capsys.readouterr().out
    assert not unneeded.store.has("models", unneeded.model_key)
    assert needed.store.has("models", needed.model_key)
    assert not list((outputs / "store" / "drafts").iterdir())
    main([])
    assert "0 models" in capsys.readouterr().out


def test_drafts_of_the_dead_go_and_those_in_use_stay(store, outputs, capsys):
    needed, _ = store
    drafts = outputs / "store" / "drafts"
    dead, used = (drafts / f"results-{digit * 20}-01234567" for digit in "ab")
    for draft in (dead, used):
        draft.mkdir(parents=True)
        (draft / "records.parquet").write_text("half")
    with needed.store.lock("results", "b" * 20):
        main(["--delete"])
        captured = capsys.readouterr()
        assert not dead.exists()
        assert used.exists()
        assert (outputs / "store" / "locks" / f"results-{'b' * 20}.lock").exists()
    assert "jobs are running" in captured.err


def test_no_model_goes_while_a_job_runs_or_a_result_cannot_be_read(store, outputs, capsys):
    needed, unneeded = store
    with needed.store.lock("results", "c" * 20):
        main(["--delete"])
    (result,) = (outputs / "store" / "results").iterdir()
    (result / "entry.json").write_text("{")
    main(["--delete"])
    assert unneeded.store.has("models", unneeded.model_key)
    assert "1 results cannot be read, so what they need is unknown" in capsys.readouterr().err


def test_a_model_that_an_unfinished_cell_will_measure_stays(store, outputs, make_job, capsys):
    _, unneeded = store
    sweep = outputs / "sweeps" / "study"
    add_cell(sweep, unneeded)
    main(["--delete"])
    assert unneeded.store.has("models", unneeded.model_key)
    assert "1 models: unfinished cells of sweeps need them" in capsys.readouterr().err


def test_what_is_not_of_the_store_is_named_and_stays(store, outputs, tmp_path, capsys):
    root = outputs / "store"
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "config.yaml").write_text("")
    strangers = [root / "models" / "my-model", root / "drafts" / "thesis", root / "locks" / "x.lock"]
    for path in strangers:
        path.parent.mkdir(exist_ok=True)
        path.mkdir()
    link = root / "models" / ("d" * 20)
    link.symlink_to(precious)
    bare = root / "models" / ("e" * 20)
    bare.mkdir()
    main(["--delete"])
    captured = capsys.readouterr()
    assert all(path.exists() for path in [*strangers, link, bare, precious / "config.yaml"])
    assert all(str(path) in captured.err for path in strangers)


def test_a_lock_without_an_entry_stays_until_it_was_not_used_for_long(store, outputs):
    locks = outputs / "store" / "locks"
    fresh, old = (locks / f"models-{digit * 20}.lock" for digit in "ab")
    for path in (fresh, old):
        FileLock(path).acquire().lock.release()
    os.utime(old, (time.time() - 7200,) * 2)
    main(["--delete"])
    assert fresh.exists()
    assert not old.exists()


def test_an_empty_store_has_no_garbage_and_is_not_made(outputs, capsys):
    assert main(["--delete"]) == 0
    assert "removed 0 of 0" in capsys.readouterr().out
    assert not outputs.exists()


def test_further_models_that_a_result_or_an_unfinished_cell_needs_stay(outputs, make_job, capsys):
    measured, waiting = (make_job("protocol=[uniform_baseline]", f"seed={seed}") for seed in (7, 8))
    for job in (measured, waiting):
        for other in (job, *job.all_further()):
            add_model(other)
    add_result(measured)
    add_cell(outputs / "sweeps" / "study", waiting)
    main(["--delete"])
    assert all(job.store.has("models", key) for job in (measured, waiting) for key in job.models)
    assert "2 models: unfinished cells of sweeps need them" in capsys.readouterr().err
