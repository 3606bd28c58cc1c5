import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attnlab.report.spec import Statistic, to_dict
from attnlab.report.summary import summarise
from attnlab.store.document import write_json
from tests.unit.inspect.conftest import make_job, outputs

__all__ = ["make_job", "outputs"]


def add_records(folder, records=None, statistics=None):
    """Give an entry records, and what describes them; a summary too where there are statistics."""
    table = pa.table({"index": [0], "excluded": [None]}) if records is None else records
    pq.write_table(table, folder / "records.parquet")
    if statistics is not None:
        write_json(folder / "summary.json", summarise(table, statistics, ["a", "b"]))
    described = [to_dict(s) for s in statistics or [Statistic("tvd", "tvd")]]
    about = {"classes": ["a", "b"], "unit": "words"}
    write_json(folder / "specification.json", {**about, "statistics": described, "figures": []})


@pytest.fixture
def records():
    """200 instances of two classes, every tenth excluded."""
    rng = np.random.default_rng(0)
    n = 200
    probability = rng.random(n)
    excluded = np.arange(n) % 10 == 0
    tau = rng.uniform(-1, 1, n)
    return pa.table(
        {
            "index": np.arange(n),
            "label": (probability + rng.normal(0, 0.3, n) > 0.5).astype(int),
            "prediction": (probability > 0.5).astype(int),
            "max_attention": rng.random(n),
            "probabilities": [[1 - p, p] for p in probability],
            "tau": pa.array([None if e else t for e, t in zip(excluded, tau, strict=True)]),
            "low": probability * 0.5,
            "high": probability * 0.5 + 0.5,
            "probability": probability,
            "excluded": ["constant scores" if e else None for e in excluded],
        }
    )
