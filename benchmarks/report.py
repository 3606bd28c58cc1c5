"""Seconds and memory that ``attnlab report`` takes with thousands of cells in the store, and whether it imports torch.

Makes a synthetic store: real configurations and statistics, random records (five seeds to a setting; four protocols,
one of them with an area under the curve, two with medians), keys that are counted up. Each report runs in a process of
its own. Run: python benchmarks/report.py [--cells 10000] [--instances 2000]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from attnlab.config.composing import compose
from attnlab.job import Job
from attnlab.protocols.adversarial.adversarial_attention import AdversarialAttention
from attnlab.protocols.adversarial.permutation import Permutation
from attnlab.protocols.diagnostic.gradient_correlation import GradientCorrelation
from attnlab.protocols.diagnostic.predictions import Predictions
from attnlab.report.spec import to_dict
from attnlab.report.summary import summarise
from attnlab.store.entry import ENTRY

PROTOCOLS = {
    "predictions": Predictions,
    "gradient_correlation": GradientCorrelation,
    "permutation": Permutation,
    "adversarial_attention": AdversarialAttention,
}
SEEDS = 5
RECORDS = 40
"""Different record files to a protocol; the rest are links to them, read as files of their own."""


def records(rng, n):
    """All columns of the four protocols."""
    probability = rng.random(n)
    excluded = rng.random(n) < 0.05
    columns = {name: np.where(excluded, np.nan, rng.random(n)) for name in ("tau", "p_value", "median_tvd")}
    columns |= {name: np.where(excluded, np.nan, rng.random(n)) for name in ("flip_share", "jsd", "tvd")}
    ends = np.arange(0, 25 * n + 1, 25, dtype=np.int32)
    return pa.table(
        {
            "index": np.arange(n),
            "id": [f"test-{i}" for i in range(n)],
            "split": ["test"] * n,
            "label": (probability + rng.normal(0, 0.3, n) > 0.5).astype(int),
            "prediction": (probability > 0.5).astype(int),
            "length": rng.integers(5, 50, n),
            "max_attention": rng.random(n).astype(np.float32),
            "excluded": pa.array(["single token" if e else None for e in excluded], pa.string()),
            "probabilities": np.stack([1 - probability, probability], 1).tolist(),
            "attention": pa.ListArray.from_arrays(ends, rng.random(25 * n).astype(np.float32)),
            **{name: pa.array(column, from_pandas=True) for name, column in columns.items()},
        }
    )


def make(root, cells, instances):
    """A store under ``root``."""
    rng = np.random.default_rng(0)
    shared = {name: [] for name in PROTOCOLS}
    for name, protocol in PROTOCOLS.items():
        for number in range(min(RECORDS, cells)):
            folder = root / "records" / f"{name}-{number}"
            folder.mkdir(parents=True)
            table = records(rng, instances)
            pq.write_table(table, folder / "records.parquet", compression="zstd")
            summary = summarise(table, protocol.statistics, ["negative", "positive"])
            (folder / "summary.json").write_text(json.dumps(summary))
            specification = {"classes": ["negative", "positive"], "figures": []}
            specification["statistics"] = [to_dict(s) for s in protocol.statistics]
            (folder / "specification.json").write_text(json.dumps(specification))
            shared[name].append(folder)
    job = Job.from_config(*compose([f"paths.output_dir={root}/outputs"]))
    for number in range(cells):
        add_result(root / "outputs" / "store" / "results", number, job, shared)


def add_result(results, number, job, shared):
    """One entry."""
    protocol = list(PROTOCOLS)[number % 4]
    seed, setting = number // 4 % SEEDS, number // (4 * SEEDS)
    data, model = setting // 20, setting % 20
    choices = {**job.choices, "data": f"set{data}", "model": f"model{model}"}
    folder = results / f"b{number:019x}"
    folder.mkdir(parents=True)
    about = {"choices": choices, "seed": seed, "seconds": 1.5, "time": "2026-01-01T00:00:00+00:00"}
    own = {"protocol": protocol, "model_key": f"a{number // 4:019x}", "split": "test", "statistic": "x", "value": 0.5}
    (folder / ENTRY).write_text(json.dumps({**about, **own, "config": {**job.config, "seed": seed}}))
    source = shared[protocol][number // 4 % len(shared[protocol])]
    for file in source.iterdir():
        os.link(file, folder / file.name)


def measure(arguments, folder):
    """Wall seconds, processor seconds, peak memory in MB, and whether torch was imported."""
    start = time.perf_counter()
    command = [sys.executable, "-X", "importtime", "-m", "attnlab", "report", *arguments]
    with open(folder / "errors.txt", "w") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    text = (folder / "errors.txt").read_text()
    if status:
        raise SystemExit("\n".join(line for line in text.splitlines() if not line.startswith("import time")))
    imported = {line.rpartition("|")[2].strip() for line in text.splitlines()}
    return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, bool(imported & {"torch", "lightning"})


def main():
    """Print a line for each report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--instances", type=int, default=2_000)
    options = parser.parse_args()
    os.environ.pop("ATTNLAB_OUTPUT", None)
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.cells, options.instances)
        print(f"{options.cells} cells of {options.instances} instances, {SEEDS} seeds, 1000 replicates")
        for arguments in (["--format=csv"], [], ["--compare"]):
            took, used, memory, torch = measure(["--incomplete", *arguments], Path(folder))
            name = " ".join(["attnlab report", *arguments])
            print(
                f"{name:<32} {took:6.1f} s ({used:.1f} s of processor)  {memory:6.0f} MB  torch imported: {torch}",
                flush=True,
            )


if __name__ == "__main__":
    main()
