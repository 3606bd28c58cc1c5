"""One job from the command line to the store."""

import json
import os
import signal
import time

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import SMALL, entries


def check_text(records):
    """Tokens and attention go together, and the planted rationale holds the words that decide the label."""
    for row in records.to_pylist():
        assert len(row["tokens"]) == len(row["attention"]) == row["length"]
        assert abs(sum(row["attention"]) - 1) < 1e-5
        assert len(row["rationale"]) == 2
        assert {row["tokens"][place][: len(f"cue{row['label']}")] for place in row["rationale"]} == {
            f"cue{row['label']}"
        }


def test_a_job_leaves_table_records_summary_figures_and_logs_and_is_not_done_twice(attnlab):
    first = attnlab(*SMALL, "logger=none")
    assert first.returncode == 0, first.stderr
    for part in ("planted-bilstm-additive-random, seed 0, test split", "accuracy ↑", "adversarial_attention", "jsd"):
        assert part in first.stdout
    (model,) = entries(attnlab.folder, "models")
    assert {p.name for p in model.iterdir()} == {
        *("weights.safetensors", "config.yaml", "task.yaml", "tokenizer.json"),
        *("training.json", "metrics.csv", "provenance.json", "entry.json"),
    }
    results = entries(attnlab.folder, "results")
    assert len(results) == 8
    for result in results:
        records = pq.read_table(result / "records.parquet")
        summary = json.loads((result / "summary.json").read_text())
        assert records.num_rows == summary["n"] == summary["measured"] + sum(summary["excluded"].values())
        assert records["index"].to_pylist() == list(range(records.num_rows))
        assert len(set(records["id"].to_pylist())) == records.num_rows
        if "tokens" in records.column_names:
            check_text(records)
    drawn = {p.name for result in results for p in (result / "figures").iterdir()}
    assert {"jsd.pdf", "jsd.png", "tau.pdf", "median_tvd.png", "leverage.png", "fraction.pdf"} <= drawn
    (run,) = (attnlab.folder / "outputs" / "runs").glob("*/*")
    assert (run / "permutation" / "records.parquet").exists()
    assert "measuring permutation" in (run / "attnlab.log").read_text()

    before = {p: p.stat().st_mtime_ns for p in (attnlab.folder / "outputs" / "store").rglob("*") if p.is_file()}
    second = attnlab(*SMALL, "logger=none", "paths.output_dir=outputs", "trainer.enable_progress_bar=false")
    assert second.returncode == 0, second.stderr
    assert "all 8 results are in the store" in second.stderr + second.stdout
    assert second.stdout.splitlines()[-3:] == first.stdout.splitlines()[-3:]
    after = {p: p.stat().st_mtime_ns for p in (attnlab.folder / "outputs" / "store").rglob("*") if p.is_file()}
    assert after == before


def test_the_same_job_gives_the_same_records_and_a_changed_protocol_keeps_the_model(attnlab):
    attnlab(*SMALL, "logger=none", "protocol=[permutation]", "paths.store=one")
    attnlab(*SMALL, "logger=none", "protocol=[permutation]", "paths.store=two")
    one, two = (next((attnlab.folder / s / "results").iterdir()) for s in ("one", "two"))
    assert one.name == two.name
    assert pq.read_table(one / "records.parquet").equals(pq.read_table(two / "records.parquet"))
    again = attnlab(*SMALL, "logger=none", "protocol=[permutation]", "protocols.permutation.draws=7", "paths.store=one")
    assert "is in the store" in again.stdout + again.stderr
    assert len(list((attnlab.folder / "one" / "models").iterdir())) == 1
    assert len(list((attnlab.folder / "one" / "results").iterdir())) == 2


def test_a_killed_job_leaves_no_half_entry_and_is_finished_by_running_it_again(attnlab):
    job = (*SMALL, "logger=none", "protocol=[predictions]", "trainer.max_epochs=500", "callbacks=none")
    process = attnlab(*job, start=True)
    store = attnlab.folder / "outputs" / "store"
    while not list(store.glob("unfinished/*/now/best.ckpt")):
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not entries(attnlab.folder, "models")
    done = attnlab(*job, "trainer.max_epochs=1")
    assert done.returncode == 0, done.stderr
    (model,) = entries(attnlab.folder, "models")
    again = attnlab(*job, "trainer.max_epochs=1")
    assert "all 1 results are in the store" in again.stdout + again.stderr
    assert model.is_dir()


PROTOCOLS = (
    *("permutation", "attention_leverage", "predictions", "gradient_correlation"),
    *("leave_one_out", "single_weight", "set_erasure", "input_erasure"),
)


@pytest.mark.parametrize("processes", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_processes_that_want_the_same_model_train_it_once(processes, attnlab):
    wanted = PROTOCOLS[:processes]
    started = [attnlab(*SMALL, "logger=none", f"protocol=[{name}]", start=True) for name in wanted]
    outputs = ["".join(process.communicate(timeout=300)) for process in started]
    assert [process.returncode for process in started] == [0] * processes, outputs
    assert sum("training planted" in output for output in outputs) == 1
    assert len(entries(attnlab.folder, "models")) == 1
    assert len(entries(attnlab.folder, "results")) == processes


def test_every_combination_of_a_multirun_is_measured(attnlab):
    sweep = attnlab("-m", *SMALL, "logger=csv", "seed=0,1", "model=bilstm,projection", "protocol=[predictions]")
    assert sweep.returncode == 0, sweep.stderr
    assert len(entries(attnlab.folder, "models")) == 4
    assert len(entries(attnlab.folder, "results")) == 4
    assert len(list((attnlab.folder / "outputs" / "sweeps").glob("*/*/cells/*/predictions.summary.csv"))) == 4


def test_attention_of_one_model_is_imposed_on_another(attnlab):
    quiet = ("logger=none", "protocol=[predictions]")
    made = attnlab("-m", *SMALL, *quiet, "split=train,validation,test")
    assert made.returncode == 0, made.stderr
    given = {p: pq.read_table(p / "records.parquet") for p in entries(attnlab.folder, "results")}
    paths = ",".join(str(p / "records.parquet") for p in given)
    frozen = attnlab(*SMALL, *quiet, "model=projection", "model/attention=frozen", f"data.attention=[{paths}]")
    assert frozen.returncode == 0, frozen.stderr
    (new,) = set(entries(attnlab.folder, "results")) - set(given)
    test = next(table for table in given.values() if table["split"][0].as_py() == "test")
    assert pq.read_table(new / "records.parquet")["attention"].to_pylist() == test["attention"].to_pylist()
    refused = attnlab(*SMALL, "logger=none", "model/attention=frozen", f"data.attention=[{paths}]")
    assert refused.returncode == 2
    assert "protocol leave_one_out needs content_attention" in refused.stderr
