"""A dashboard of a small store: the run of aggregates, and the workspace and report that show the runs of a push."""

import io
import json

import pandas as pd
import pytest

from tests.e2e.conftest import SMALL
from tests.e2e.wandb_file import read_run, runs
from tests.e2e.wandb_server import WandbServer


def test_a_dashboard_shows_the_runs_of_a_push_and_the_numbers_of_a_report(attnlab):
    for seed in (0, 1):
        done = attnlab(*SMALL, "logger=none", "model=projection", "protocol=[permutation]", f"seed={seed}")
        assert done.returncode == 0, done.stderr
    made = attnlab("wandb", "dashboard", "--mode", "offline", "--project", "mine", PYTHONPROFILEIMPORTTIME="1")
    assert made.returncode == 0, made.stderr
    imported = {line.split("|")[-1].strip() for line in made.stderr.splitlines() if line.startswith("import time:")}
    assert "wandb_workspaces" in imported
    assert not {"torch", "lightning"} & imported
    assert "wandb sync -n 8 outputs/push/wandb && attnlab wandb dashboard --project mine" in made.stdout
    specification = json.loads((attnlab.folder / "outputs/push/dashboards/store/dashboard.json").read_text())
    check_run(attnlab, specification)
    pushed = attnlab("wandb", "push", "--mode", "offline", "--project", "mine")
    assert pushed.returncode == 0, pushed.stderr
    every = {one["id"]: one for one in runs(attnlab.folder / "outputs/push")}
    assert set(shown_runs(specification)) == set(every)
    logged = {key for one in every.values() for row in one["history"] for key in row}
    assert panel_keys(specification["workspace"]["spec"]) <= logged
    assert {"permutation/tvd", "val/auroc", "report/planted/projection/page"} <= panel_keys(specification["workspace"])
    assert panel_keys(specification["report"]) == panel_keys(specification["workspace"])

    save_online_twice(attnlab, specification)


def check_run(attnlab, specification):
    """The run of aggregates, whose table is that of ``attnlab report``."""
    folder = attnlab.folder / "outputs/push/wandb"
    (path,) = folder.rglob("*.wandb")
    run = read_run(path)
    assert (run["id"], run["job_type"], run["exit"]) == (specification["run"], "report", 0)
    assert run["summary"]["report/results"] == 2
    table, matrix = [
        json.loads((path.parent / "files" / run["summary"][key]["path"]).read_text())
        for key in ("report/numbers", "report/protocols")
    ]
    numbers = pd.DataFrame(table["data"], columns=table["columns"])
    reported = attnlab("report", "--format=csv")
    expected = pd.read_csv(io.StringIO(reported.stdout))
    pd.testing.assert_frame_equal(numbers[list(expected.columns)], expected, check_dtype=False)
    (cells,) = [dict(zip(matrix["columns"], cells, strict=True)) for cells in matrix["data"]]
    tvd = expected.set_index("statistic").loc["tvd"]
    assert cells["permutation"] == pytest.approx(tvd["mean"])
    assert (cells["permutation statistic"], cells["permutation seeds"]) == ("tvd", 2)
    assert any(path.startswith("media/images/report/planted/projection/page") for path in run["files"])


def shown_runs(specification):
    (runset,) = specification["workspace"]["spec"]["section"]["runSets"]
    (only,) = runset["filters"]["filters"]
    assert (only["key"]["name"], only["op"]) == ("name", "IN")
    assert runset["grouping"] == [{"section": "run", "name": "group"}]
    return only["value"]


def panel_keys(part):
    """Metrics, horizontal axes and media of all panels, however deep."""
    if isinstance(part, list):
        return {key for inner in part for key in panel_keys(inner)}
    if not isinstance(part, dict):
        return set()
    if "viewType" in part:
        config = part["config"]
        axis = {config["xAxis"]} if "xAxis" in config else set()
        return {*config.get("metrics", ()), *config.get("mediaKeys", ()), *axis}
    return {key for inner in part.values() for key in panel_keys(inner)}


def save_online_twice(attnlab, specification):
    with WandbServer() as server:
        for mode in (("--mode", "online"), ("--mode", "offline", "--project", "mine"), ("--mode", "online")):
            done = attnlab("wandb", "dashboard", *mode, **server.environment)
            assert done.returncode == 0, done.stderr
        assert len(list((attnlab.folder / "outputs/push/wandb").glob(f"offline-run-*-{specification['run']}"))) == 1
        run = server.runs[specification["run"]]
        assert (run["job_type"], run["exit"], len(run["history"])) == ("report", 0, 1)
        views = {view["type"]: view for view in server.views.values()}
        assert len(server.views) == 2
        assert f"report: {server.url}/me/attnlab/reports/attnlab-store--{views['runs']['id']}" in done.stdout
        assert panel_keys(json.loads(views["project-view"]["spec"])) == panel_keys(specification["workspace"])
    lost = attnlab("wandb", "dashboard", "--entity", "me", "--timeout", "2", **server.environment)
    assert lost.returncode == 1
    assert "attnlab: W&B did not start a run" in lost.stderr
    assert "Traceback" not in lost.stderr
