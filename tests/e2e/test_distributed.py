"""Several processes on this machine measure exactly what one does."""

import pyarrow.parquet as pq
import pytest
import torch

from attnlab.config.composing import compose
from attnlab.instantiate import instantiate
from attnlab.measuring import run_protocol
from tests.conftest import make_model
from tests.e2e.conftest import PLANTED, SMALL, entries


@pytest.fixture
def one_thread():
    """As each of several processes has: sums over another number of threads differ in the last bit."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("instances", "batch"), [(33, 8), (37, 256)])
def test_records_of_two_processes_equal_those_of_one(instances, batch, tmp_path):
    overrides = [*PLANTED, f"data.source.test={instances}", f"data.eval_batch_size={batch}", "protocol=[permutation]"]
    config, _ = compose([*overrides, f"paths.cache_dir={tmp_path}", "trainer.accelerator=cpu"])
    data = instantiate(config["data"], "data")
    data.setup()
    model = make_model(vocabulary=data.vocab_size)
    protocol = instantiate(config["protocols"]["permutation"], "permutation", model=model)
    tables = []
    for devices in (1, 2):
        (tmp_path / str(devices)).mkdir()
        options = {**config["trainer"], "devices": devices}
        tables.append(run_protocol(protocol, data, "test", options, tmp_path / str(devices)))
    one, two = tables
    assert one.num_rows == instances
    assert one.equals(two)


def test_a_model_is_trained_and_measured_by_two_processes(attnlab):
    job = (
        *PLANTED,
        "data.source.test=33",
        "logger=none",
        "trainer=ddp",
        "trainer.accelerator=cpu",
        "trainer.max_epochs=2",
    )
    result = attnlab(*job, "protocol=[predictions]")
    assert result.returncode == 0, result.stderr
    (entry,) = entries(attnlab.folder, "results")
    assert pq.read_table(entry / "records.parquet")["index"].to_pylist() == list(range(33))
    (model,) = entries(attnlab.folder, "models")
    assert (model / "metrics.csv").read_text().count("\n") >= 3


@pytest.mark.slow
@pytest.mark.parametrize("devices", ["1,2", "2,1"])
def test_a_sweep_may_mix_numbers_of_devices_in_any_order(devices, attnlab):
    job = (*SMALL, "data.source.test=37", "logger=none", "trainer.accelerator=cpu", "protocol=[predictions]")
    done = attnlab("-m", *job, f"trainer.devices={devices}", "launcher.workers=1", "launcher.threads_per_job=1")
    assert done.returncode == 0, done.stdout + done.stderr
    alone = attnlab(*job, "trainer.devices=1", "paths.store=alone", OMP_NUM_THREADS="1")
    assert alone.returncode == 0
    results = entries(attnlab.folder, "results")
    assert len(results) == 2
    records = [pq.read_table(entry / "records.parquet") for entry in results]
    assert all(table["index"].to_pylist() == list(range(37)) for table in records)
    (expected,) = (attnlab.folder / "alone/results").iterdir()
    assert any(table.equals(pq.read_table(expected / "records.parquet")) for table in records)
