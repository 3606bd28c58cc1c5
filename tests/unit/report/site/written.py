"""A store with results of several protocols on one model, with texts that break careless pages."""

import numpy as np
import pyarrow as pa

from attnlab.report.spec import Statistic
from tests.unit.inspect.conftest import add_result
from tests.unit.report.conftest import add_records

NASTY = [
    [
        "<script>document.title='broken'</script>",
        "</script>",
        "<img",
        "src=x",
        "onerror=alert(1)>",
        "a\u2028b",
        "&amp;",
    ],
    ["مرحبا", "بالعالم", "!"],
    ["👩‍👩‍👧", "😀", "naïve"],
    [f"word{t}" for t in range(4000)],
]

STATISTICS = {
    "predictions": [Statistic("accuracy", "prediction", how="accuracy", by_prediction=False)],
    "gradient_correlation": [Statistic("tau", "tau", belief=(0.0, 1.0))],
    "permutation": [Statistic("tvd", "median_tvd", belief=(0.0, 0.5)), Statistic("flip_share", "flip_share")],
    "adversarial_attention": [Statistic("jsd", "jsd", belief=(0.7, 0.0))],
}

PROTOCOLS = f"protocol=[{','.join(STATISTICS)}]"


def make_records(n, seed=0):
    """Records of each protocol on the same n instances; the last is not measured by gradient_correlation.

    Those of adversarial_attention are in reverse order and lack the first instance.
    """
    rng = np.random.default_rng(seed)
    texts = (NASTY + [[f"w{i % 97}", "plain", "text", f"number{i}"] for i in range(n - len(NASTY))])[:n]
    lengths = [len(text) for text in texts]
    probability = rng.random(n)
    every = {
        "index": np.arange(n),
        "id": [f"test-{i}" for i in range(n)],
        "split": ["test"] * n,
        "label": rng.integers(0, 2, n),
        "prediction": (probability > 0.5).astype(int),
        "length": lengths,
        "max_attention": rng.random(n).astype(np.float32),
    }
    excluded = pa.array([None] * n, pa.string())
    scores = [pa.array([rng.dirichlet(np.ones(k)).astype(np.float32) for k in lengths]) for _ in range(3)]
    measured = np.arange(n) < n - 1
    own = {
        "predictions": {
            "excluded": excluded,
            "probabilities": [[1 - p, p] for p in probability],
            "attention": scores[0],
            "tokens": texts,
        },
        "gradient_correlation": {
            "excluded": [None if m else "constant scores" for m in measured],
            "tau": pa.array(rng.uniform(-1, 1, n), mask=~measured),
            "gradient": scores[1],
        },
        "permutation": {"excluded": excluded, "median_tvd": rng.random(n), "flip_share": rng.random(n).round() / 2},
        "adversarial_attention": {"excluded": excluded, "jsd": rng.random(n) * 0.7, "adversary": scores[2]},
    }
    tables = {protocol: pa.table({**every, **columns}) for protocol, columns in own.items()}
    tables["adversarial_attention"] = tables["adversarial_attention"].take(np.arange(n)[:0:-1])
    return tables


def write_store(job, tables):
    """Entries of the job's results that hold these records."""
    add_result(job)
    for protocol, table in tables.items():
        add_records(job.store.path("results", job.result_keys[protocol]), table, STATISTICS[protocol])
