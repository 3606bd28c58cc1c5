"""Tasks of two texts from the command line."""

import pyarrow.parquet as pq
import yaml

from tests.e2e.conftest import entries

SMALL = ("data.source.train=200", "data.source.validation=50", "data.source.test=50", "trainer.max_epochs=1")


def test_a_pair_model_is_trained_and_measured_by_every_protocol_that_applies(attnlab):
    quick = ("protocols.adversarial_attention.steps=10", "protocols.permutation.draws=10", "logger=none")
    run = attnlab("data=babi1", "model=pair_bilstm", *SMALL, *quick)
    assert run.returncode == 0, run.stderr
    results = {
        yaml.safe_load((r / "config.yaml").read_text())["protocol"]: r for r in entries(attnlab.folder, "results")
    }
    assert len(results) == 7
    for row in pq.read_table(results["predictions"] / "records.parquet").to_pylist():
        assert len(row["tokens"]) == len(row["attention"]) == row["length"]
        assert len(row["probabilities"]) == 6
        assert row["question"][:2] == ["where", "is"]
        assert row["rationale"]
    for row in pq.read_table(results["adversarial_attention"] / "records.parquet").to_pylist():
        assert row["solver"] == "search"
        assert row["tvd"] <= 0.05
    bare = attnlab("data=babi1", *SMALL, "logger=none")
    assert bare.returncode == 2
    (line,) = bare.stderr.strip().splitlines()
    assert "this model needs data that give single, but they give pair" in line
