import numpy as np
import pyarrow as pa
import pytest


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
