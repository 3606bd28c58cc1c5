"""Erasure of weights and of tokens through the command line, on texts whose deciding words are known."""

import json

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import PLANTED, entries

RANKINGS = ("attention", "gradient", "product")


def results_by_protocol(folder):
    found = {}
    for entry in entries(folder, "results"):
        summary = json.loads((entry / "summary.json").read_text())
        name = next(
            n for n in ("comprehensiveness_attention", "regret_attention", "js_top") if n in summary["statistics"]
        )
        found[name.split("_")[0]] = (entry, pq.read_table(entry / "records.parquet"), summary["statistics"])
    return found


def test_weights_and_tokens_are_erased_on_the_same_instances(attnlab):
    learning = ("vectors.dim=32", "model.encoder.hidden_size=32", "model.optimizer.lr=0.02", "trainer.max_epochs=4")
    job = attnlab(
        *PLANTED,
        *learning,
        "data.source.num_classes=3",
        "logger=csv",
        "model=projection",
        "protocol=[single_weight,set_erasure,input_erasure]",
        "protocols.input_erasure.token_budget=2000",
        "data.eval_batch_size=7",
    )
    assert job.returncode == 0, job.stderr
    found = results_by_protocol(attnlab.folder)
    (folder, tokens, statistics), (_, weights, _) = found["comprehensiveness"], found["regret"]
    assert (folder / "figures" / "fraction.png").exists()
    # The same orders on both sides, whatever the batches.
    for name in (*RANKINGS, "random"):
        assert tokens[f"weights_{name}"].to_pylist() == weights[f"removed_{name}"].to_pylist()
    assert statistics["comprehensiveness_product"]["all"] > 0.2 > statistics["comprehensiveness_random"]["all"]
    assert statistics["sufficiency_product"]["all"] < statistics["sufficiency_random"]["all"]
    for row in tokens.to_pylist():
        assert len(row["comprehensiveness_random_bins"]) == 5
        assert len(row["change_attention"]) == 3
        assert (row["fraction_attention"] is not None) == row["flips_attention"]
    by_class = found["js"][2]["effect_top"]["by_class"]
    assert list(by_class) == ["class0", "class1", "class2"]
    assert found["js"][2]["effect_top"]["all"] == pytest.approx(sum(by_class.values()) / 3)
    assert "effect_top,class1," in next(attnlab.folder.rglob("single_weight.summary.csv")).read_text().replace('"', "")
