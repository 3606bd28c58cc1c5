import json

import pytest

from attnlab.errors import StoreError
from attnlab.report.cells import read_cells
from tests.unit.inspect.conftest import add_cell, add_result
from tests.unit.report.conftest import add_records


def test_a_store_and_a_sweep_give_the_same_cells_with_what_made_them(outputs, make_job):
    jobs = [make_job(f"seed={seed}", f"model={model}") for model in ("cnn", "bilstm") for seed in (1, 0)]
    for job in jobs:
        add_records(add_result(job))
        add_cell(outputs / "sweeps" / "study", job)
    add_cell(outputs / "sweeps" / "study", make_job("seed=7"))
    cells = read_cells()
    assert [(c.model, c.seed) for c in cells] == [("bilstm", 0), ("bilstm", 1), ("cnn", 0), ("cnn", 1)]
    assert cells == read_cells("study") == read_cells(outputs) == read_cells(outputs / "store")
    first, job = cells[0], jobs[3]
    assert (first.data, first.attention, first.vectors) == ("planted", "additive", "random")
    assert (first.protocol, first.split, first.group) == ("permutation", "test", job.group)
    assert (first.key, first.model_key) == (job.result_keys["permutation"], job.model_key)
    assert first.config["model"] == job.config["model"]
    assert first.summary["statistics"]["tvd"]["all"] == 0.5


def test_a_group_is_all_seeds_wherever_they_ran_and_nothing_else(make_job):
    group = make_job("seed=0").group
    assert make_job("seed=5", "trainer.accelerator=gpu", "launcher.workers=2", "logger=none").group == group
    assert make_job("trainer.max_epochs=3").group != group


def test_what_is_damaged_or_foreign_is_named_and_left_out(outputs, make_job):
    good, cut, foreign, empty, bare = [add_result(make_job(f"seed={seed}")) for seed in range(5)]
    for folder in (good, cut, foreign, empty):
        add_records(folder)
    text = (cut / "summary.json").read_text()
    (cut / "summary.json").write_text(text[: len(text) // 2])
    (foreign / "summary.json").write_text(json.dumps({"accuracy": 0.9}))
    (empty / "entry.json").write_text("")
    (outputs / "store" / "results" / "notes.txt").write_text("not an entry")
    problems = []
    cells = read_cells(problems=problems)
    assert [cell.folder for cell in cells] == [good]
    assert len(problems) == 5
    for name in (cut.name, foreign.name, empty.name, bare.name, "notes.txt"):
        assert sum(name in line for line in problems) == 1


def test_a_place_that_is_neither_sweep_nor_store_is_one_line(outputs):
    with pytest.raises(StoreError, match="nothing: neither a sweep nor a store"):
        read_cells("nothing")
