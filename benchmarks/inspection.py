"""Seconds that the verbs take with thousands of cells in the store, and whether one of them imports torch.

Makes a synthetic store of results (four to a model, and one model that none needs) and a sweep of as many cells: real
configurations, keys that are counted up, 90 % of the cells done, a few failed, the rest waiting. Every verb runs in a
process of its own; the best and the worst of the rounds are printed.
Run: python benchmarks/inspection.py [--cells 10000] [--rounds 3]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attnlab.config.composing import compose
from attnlab.job import Job
from attnlab.launch.cell import keys_of
from attnlab.store.entry import ENTRY

PROTOCOLS = ("permutation", "leave_one_out", "gradient_correlation", "adversarial_attention")
MODELS = ("bilstm", "cnn", "projection")
LIMIT = 1.5


def key(kind, number):
    """A key of the right form."""
    return f"{'a' if kind == 'models' else 'b'}{number:019x}"


def write(path, content):
    """A JSON file in a folder that may not exist."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def make(root, cells):
    """Store and sweep under ``root``."""
    jobs = {m: Job.from_config(*compose([f"model={m}", f"paths.output_dir={root}/outputs"])) for m in MODELS}
    store = root / "outputs" / "store"
    (store / "locks").mkdir(parents=True)
    unneeded = {"choices": {}, "seed": 0, "config": {}}
    write(store / "models" / key("models", cells) / ENTRY, unneeded)
    (store / "models" / key("models", cells) / "config.yaml").touch()
    for number in range(cells):
        model, seed = MODELS[number // 4 % 3], number // 12
        job, protocol = jobs[model], PROTOCOLS[number % 4]
        common = {"choices": job.choices, "seed": seed, "seconds": 1.5, "time": "2026-01-01T00:00:00+00:00"}
        config = {**job.config, "seed": seed}
        if number % 4 == 0:
            own = {"selected_by": "val/auroc", "value": 0.9, "epochs": 8, "config": config}
            write(store / "models" / key("models", number // 4) / ENTRY, {**common, **own})
        name = key("results", number)
        own = {"protocol": protocol, "model_key": key("models", number // 4), "split": "test", "statistic": "tau"}
        write(store / "results" / name / ENTRY, {**common, **own, "value": 0.5, "config": config})
        (store / "locks" / f"results-{name}.lock").touch()
        make_cell(root / "outputs" / "sweeps" / "synthetic" / "cells" / f"{number:016x}", number, job, seed, protocol)


def make_cell(folder, number, job, seed, protocol):
    """A cell that is done, failed or waiting."""
    done = number % 10 != 9
    keys = {**keys_of(job), "seed": seed, "results": {protocol: key("results" if done else "models", number)}}
    write(folder / "cell.json", keys)
    if done:
        write(folder / "done.json", {"seconds": 2.0, "results": keys["results"]})
    elif number % 100 == 99:
        write(folder / "error.json", {"type": "DataError", "message": f"file {number % 3} is missing", "traceback": ""})


def seconds(arguments, folder):
    """Wall seconds of one call, and the seconds of it that a process needs to start."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "attnlab", *arguments], cwd=folder, capture_output=True, text=True
    )
    took = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    return took, bool(imported & {"torch", "lightning"})


def main():
    """Print a line for each verb."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ.pop("ATTNLAB_OUTPUT", None)
    verbs = [
        ["status"],
        ["ls", "results"],
        ["ls", "results", "model=cnn", "trainer.max_epochs=8", "protocol=permutation"],
        ["ls", "results", "--json"],
        ["ls", "models"],
        ["gc"],
    ]
    slow = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make(root, options.cells)
        for verb in verbs:
            took, torch = zip(*(seconds(verb, root) for _ in range(options.rounds)), strict=True)
            slow += max(took) > LIMIT
            print(f"attnlab {' '.join(verb):<70} {min(took):5.2f} to {max(took):5.2f} s, torch imported: {any(torch)}")
    print(f"{options.cells} results and cells; {'all' if not slow else 'not all'} under {LIMIT} s")


if __name__ == "__main__":
    main()
