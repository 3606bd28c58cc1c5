import platform

import pytest

from attnlab.capabilities import check_job
from attnlab.config.composing import composer
from attnlab.errors import IncompatibleError
from attnlab.job import Job
from attnlab.launch.cell import Cell, State, cell_id
from attnlab.launch.plan import labels, make_plan
from attnlab.store.document import write_json

BASE = ["data=planted", "protocol=[permutation]"]


@pytest.fixture
def plan(tmp_path):
    def make(*jobs, started=None):
        with composer() as compose:
            options = [[*BASE, f"paths.output_dir={tmp_path}", *job] for job in jobs]
            return make_plan(options, compose, lambda o: compose(BASE), on_work=started or (lambda: None))

    return make


def finish(entry, seconds):
    """Put a finished model and result of a cell into its store."""
    with entry.job.store.create("models", entry.job.model_key) as folder:
        write_json(folder / "training.json", {"seconds": seconds})
    for key in entry.job.result_keys.values():
        with entry.job.store.create("results", key) as folder:
            write_json(folder / "provenance.json", {"seconds": 1.0})


def test_the_first_cell_of_each_model_comes_first(plan):
    protocols = ("protocol=[permutation]", "protocol=[set_erasure]")
    found = plan(*([f"seed={s}", p] for p in protocols for s in (0, 1)))
    assert len({e.job.model_key for e in found.waiting[:2]}) == 2
    assert len(found.models) == 2


def test_what_the_store_has_is_done_and_prices_the_rest(plan):
    first = plan(["seed=0"], ["seed=1"])
    finish(first.waiting[0], seconds=30.0)
    second = plan(["seed=0"], ["seed=1"])
    assert [len(second.done), len(second.waiting), len(second.models)] == [1, 1, 1]
    assert second.waiting[0].seconds == pytest.approx(31.0)


def test_same_cells_are_one_and_impossible_ones_have_a_reason(plan):
    started = []
    found = plan(["seed=1"], ["seed=1"], ["seed=x"], ["model/attention=frozen"], started=lambda: started.append(1))
    assert found.duplicates == 1
    assert len(found.waiting) == len(started) == 1
    reasons = dict(found.impossible)
    assert "expected a whole number" in reasons["seed=x"]
    assert "data.attention" in reasons["model/attention=frozen"]


def test_labels_leave_out_what_all_cells_share():
    assert labels([["a=1", "b=2"], ["a=1", "b=3"]]) == ["b=2", "b=3"]
    assert labels([["a=1", "b=2"]]) == ["a=1 b=2"]


def test_a_cell_tells_its_state_from_the_disk(plan, tmp_path):
    entry = plan(["seed=0"]).waiting[0]
    cell = Cell.freeze(tmp_path / "cells", entry.overrides, entry.job.config, entry.job.choices)
    assert cell.id == cell_id(entry.job)
    assert cell.state() is State.WAITING
    write_json(cell.folder / "heartbeat.json", {"pid": 2**22 + 1, "host": platform.node()})
    assert cell.state() is State.DEAD
    write_json(cell.folder / "error.json", {"type": "E", "message": "m", "traceback": ""})
    assert cell.state() is State.FAILED
    finish(entry, 1.0)
    assert Cell(cell.folder).state() is State.DONE


def test_a_frozen_cell_keeps_its_first_configuration(plan, tmp_path):
    entry = plan(["seed=0"]).waiting[0]
    cell = Cell.freeze(tmp_path / "cells", entry.overrides, entry.job.config, entry.job.choices)
    edited = {**entry.job.config, "logger": {"_target_": "attnlab.logger.NoMirror"}}
    again = Cell.freeze(tmp_path / "cells", entry.overrides, edited, entry.job.choices)
    assert again.folder == cell.folder
    assert again.frozen["config"]["logger"] == entry.job.config["logger"]
    assert isinstance(again.job, Job)


def test_a_failed_cell_is_frozen_anew(plan, tmp_path):
    entry = plan(["seed=0"]).waiting[0]
    cell = Cell.freeze(tmp_path / "cells", entry.overrides, entry.job.config, entry.job.choices)
    write_json(cell.folder / "error.json", {"type": "E", "message": "m", "traceback": ""})
    mended = {**entry.job.config, "logger": {"_target_": "attnlab.logger.NoMirror"}}
    again = Cell.freeze(tmp_path / "cells", entry.overrides, mended, entry.job.choices)
    assert again.frozen["config"]["logger"] == mended["logger"]


def test_what_a_protocol_needs_is_checked_without_torch():
    given = {"_target_": "attnlab.nn.Frozen"}
    config = {
        "data": {"_target_": "attnlab.data.TextDataModule", "attention": "x.parquet"},
        "model": {"_target_": "attnlab.models.SequenceClassifier", "attention": given},
        "protocols": {"leave_one_out": {"_target_": "attnlab.protocols.erasure.leave_one_out.LeaveOneOut"}},
    }
    with pytest.raises(IncompatibleError, match="leave_one_out needs content_attention"):
        check_job(config)
