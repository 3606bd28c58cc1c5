"""Protocols that need further models, from the command line to the store."""

import json
import math

import pyarrow.parquet as pq

from tests.e2e.conftest import PLANTED, entries

JOB = (*PLANTED, "logger=none", "model=projection", "model.encoder.hidden_size=8", "vectors.dim=16", "split=train")
TRAINED = ("callbacks=none", "trainer.max_epochs=8", "model.optimizer.lr=0.02")
PROTOCOLS = (
    "protocol=[predictions,uniform_baseline,seed_variance,attention_substitution,model_adversary,guided_mlp]",
    "protocols.seed_variance.seeds=[0,1,2]",
    "protocols.attention_substitution.trained=[uniform,permuted]",
    "protocols.model_adversary.strengths=[0,100]",
    "protocols.model_adversary.models.adversary.trainer.max_epochs=40",
    "protocols.guided_mlp.sources=[learned,base,adversary,gradient,cnn]",
    "protocols.guided_mlp.models.adversary.given.by.trainer.max_epochs=1",
)


def by_protocol(folder, **choices):
    """Results of a protocol whose choices include these."""
    found = {}
    for result in entries(folder, "results"):
        entry = json.loads((result / "entry.json").read_text())
        if all(entry["choices"].get(group) == option for group, option in choices.items()):
            found.setdefault((entry["protocol"], entry["split"], entry["seed"]), result)
    return found


def test_every_model_is_trained_once_and_kept_and_what_they_say_is_compared(attnlab):
    command = (*JOB, *TRAINED, *PROTOCOLS)
    # The model, uniform, two other seeds, permuted and two adversaries; then the adversary and the CNN that guide, and
    # one guided model for each of five sources.
    planned = attnlab(*command, "dry_run=true")
    assert "14 models to train" in planned.stdout, planned.stdout + planned.stderr
    done = attnlab(*command)
    assert done.returncode == 0, done.stderr
    output = done.stdout + done.stderr
    assert output.count(": training planted") == len(entries(attnlab.folder, "models")) == 14
    own = by_protocol(attnlab.folder, model="projection", **{"model/attention": "additive"})
    check_distances(own)
    check_guided(attnlab.folder, own)
    again = attnlab(*command)
    assert "all 6 results are in the store" in again.stdout + again.stderr
    assert "0 models" in attnlab("gc").stdout


def check_distances(results):
    """Each column is what the records of both models give; a strong adversary differs, a weak one agrees."""
    statistics = {
        name: {key: s["all"] for key, s in json.loads((folder / "summary.json").read_text())["statistics"].items()}
        for (name, split, seed), folder in results.items()
        if (split, seed) == ("train", 0)
    }
    assert statistics["model_adversary"]["tvd_0"] < 0.02
    assert statistics["model_adversary"]["jsd_100"] > 0.85 * math.log(2)
    base, other = (
        pq.read_table(results["predictions", "train", seed] / "records.parquet").to_pandas() for seed in (0, 1)
    )
    seeds = pq.read_table(results["seed_variance", "train", 0] / "records.parquet").to_pandas()
    expected = [abs(a[1] - b[1]) for a, b in zip(base.probabilities, other.probabilities, strict=True)]
    assert max(abs(a - b[0]) for a, b in zip(expected, seeds.tvd_of_each, strict=True)) < 1e-6
    assert {len(each) for each in seeds.jsd_of_each} == {2}
    assert statistics["uniform_baseline"]["f1"] == statistics["predictions"]["f1"]
    figures = {p.name for folder in results.values() for p in (folder / "figures").iterdir()}
    assert {"curve.png", "prediction_difference.pdf", "jsd_by_seeds.png", "tvd_uniform.png"} <= figures


def check_guided(folder, own):
    """Imposed attention is given back exactly, on every split that was needed."""
    base = pq.read_table(own["predictions", "train", 0] / "records.parquet")
    (guided,) = by_protocol(folder, model="guided", **{"model/attention": "base"}).values()
    records = pq.read_table(guided / "records.parquet")
    assert records["id"].equals(base["id"])
    assert records["attention"].equals(base["attention"])
    assert not records["probabilities"].equals(base["probabilities"])
