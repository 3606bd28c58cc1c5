import importlib.util

import pyarrow as pa
import pytest

from attnlab.errors import ConfigError
from attnlab.report.cells import read_cells
from attnlab.report.grid import make_grid
from attnlab.report.matrix import matrix_sheet
from attnlab.report.sheet import Column, Sheet, text
from attnlab.report.spec import Statistic
from attnlab.wandb.aggregate import Aggregate, identify_report
from attnlab.wandb.dashboard import main, place_name
from attnlab.wandb.logged import find_logged
from attnlab.wandb.start import Destination
from attnlab.wandb.stored import of_sweep
from attnlab.wandb.views import LONGEST, as_plain, make_report, make_workspace
from tests.unit.inspect.conftest import add_cell, add_model, add_result
from tests.unit.report.conftest import add_records, make_job, outputs

__all__ = ["make_job", "outputs"]

TVD = [Statistic("tvd", "tvd")]


@pytest.fixture
def sweep(outputs, make_job):
    """Two seeds of a projection, and a bilstm of the same store that is no part of the sweep."""
    for seed, tvd in enumerate((0.25, 0.75)):
        job = make_job("model=projection", f"seed={seed}")
        (add_model(job) / "metrics.csv").write_text("epoch,step,train/loss,val/auroc\n0,6,0.5,0.5\n")
        records = pa.table({"id": ["a"], "prediction": [0], "tvd": [tvd], "excluded": pa.nulls(1, pa.string())})
        folder = add_result(job)
        add_records(folder, records, TVD)
        (folder / "figures").mkdir()
        (folder / "figures" / "median.png").touch()
        add_cell(outputs / "sweeps" / "s+1", job)
    add_model(make_job("model=bilstm"))
    add_records(add_result(make_job("model=bilstm")))
    return outputs / "sweeps" / "s+1"


def aggregate(cells, rows=1):
    sheet = Sheet("numbers", [Column("data", ("data",))], [[text("movie")]] * rows)
    return Aggregate(
        identify_report("s", cells), {"report/numbers": sheet}, {"report/page": None}, {"report/results": 2}
    )


def test_panels_show_what_the_runs_of_the_sweep_log_and_nothing_else(sweep, make_job):
    jobs = [make_job("model=projection", f"seed={seed}") for seed in (0, 1)]
    cells = read_cells(sweep)
    logged = find_logged(cells, of_sweep(sweep).entries)
    assert set(logged.trainings) == {job.model_key for job in jobs}
    assert list(logged.curves) == ["train/loss", "val/auroc"]
    (protocol,) = logged.protocols.values()
    assert set(protocol.runs) == {job.result_keys["permutation"] for job in jobs}
    assert (list(protocol.statistics), list(protocol.figures)) == (["permutation/tvd"], ["permutation/median"])
    shown = aggregate(cells)
    target = Destination("offline", "mine", "me")
    plain = as_plain(make_workspace("s", target, logged, shown), make_report("s", target, logged, shown))
    section = plain["workspace"]["spec"]["section"]
    (runset,) = section["runSets"]
    (only,) = runset["filters"]["filters"]
    assert set(only["value"]) == {*logged.runs, shown.identity.id}
    report, train, permutation = section["panelBankConfig"]["sections"]
    assert [panel["viewType"] for panel in report["panels"]] == ["Weave", "Media Browser"]
    assert [panel["config"]["metrics"] for panel in train["panels"]] == [["train/loss"], ["val/auroc"]]
    bar, media = permutation["panels"]
    assert bar["config"]["metrics"] == ["permutation/tvd"]
    assert (bar["config"]["groupBy"], bar["config"]["groupAgg"]) == ("group", "mean")
    assert media["config"]["mediaKeys"] == ["permutation/median"]
    grids = [block["metadata"] for block in plain["report"]["spec"]["blocks"] if block["type"] == "panel-grid"]
    runs = {grid["runSets"][0]["name"]: grid["runSets"][0]["filters"]["filters"][0]["value"] for grid in grids}
    assert runs == {
        "report": [shown.identity.id],
        "permutation": protocol.runs,
        "train": list(logged.trainings),
    }


def test_long_tables_are_left_to_tables_with_pages(sweep):
    cells = read_cells(sweep)
    logged = find_logged(cells, [])
    shown = [make_report("s", Destination(), logged, aggregate(cells, rows)) for rows in (LONGEST, LONGEST + 1)]
    kinds = [[type(block).__name__ for block in report.blocks] for report in shown]
    assert ["MarkdownBlock" in blocks for blocks in kinds] == [True, False]


def test_the_run_is_told_apart_by_the_place_and_its_results(sweep, outputs):
    cells = read_cells(sweep)
    ids = {identify_report(name, some).id for name in "st" for some in (cells, cells[:1])}
    assert len(ids) == 4
    assert identify_report("s", cells[::-1]).id == identify_report("s", cells).id
    assert (place_name(sweep.absolute()), place_name((outputs / "store").absolute())) == ("s-1", "store")


def test_the_matrix_has_a_cell_for_each_model_and_protocol(sweep, outputs):
    problems = []
    sheet = matrix_sheet(make_grid(read_cells(outputs)), problems)
    found = {row[1].text: row[2] for row in sheet.rows}
    assert found["projection"].values == (0.5, "tvd", 2)
    assert found["projection"].text == "tvd 0.5000 (2 seeds)"
    assert problems == []


def test_what_cannot_be_shown_is_one_line(sweep, make_job, monkeypatch):
    other = make_job("model=cnn", "logger.project=other")
    add_model(other)
    add_records(add_result(other))
    with pytest.raises(ConfigError, match=r"--project is needed: the jobs here logged to several \(attnlab, other\)"):
        main(["--mode", "offline"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'attnlab\[dashboards\]'"):
        main([])
