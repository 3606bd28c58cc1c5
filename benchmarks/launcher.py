"""What a sweep costs beyond its jobs: the same jobs by the launcher, and by hand, two at a time.

By hand means: the cells' work in two processes, each doing half of the jobs one after the other. Their time is given
twice: from their start, as the command's, and from when both had imported everything.
Run: python benchmarks/launcher.py [--jobs 24]
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

JOB = (
    "data=planted",
    "data.source.train=2000",
    "data.source.test=500",
    "model.encoder.hidden_size=32",
    "vectors.dim=50",
    "trainer.max_epochs=2",
    "logger=none",
    "protocol=[permutation]",
    "callbacks=none",
)


def by_hand(folder, seeds, ready, go):
    """Run jobs one after the other in this process, once everything is imported."""
    import torch

    import attnlab.launch.preload  # noqa: F401
    from attnlab.config.composing import compose
    from attnlab.job import Job
    from attnlab.run import run

    torch.set_num_threads(1)
    os.chdir(folder)
    jobs = [Job.from_config(*compose([*JOB, f"seed={seed}"])) for seed in seeds]
    ready.put(1)
    go.wait()
    for job in jobs:
        place = Path(folder) / "runs" / str(job.config["seed"])
        place.mkdir(parents=True)
        run(job, place)


def manual(jobs):
    """Seconds of the jobs in two processes: from their start, and from when both have imported everything."""
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ready, go = context.Queue(), context.Event()
        halves = [range(i, jobs, 2) for i in range(2)]
        workers = [context.Process(target=by_hand, args=(folder, half, ready, go)) for half in halves]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for _ in workers:
            ready.get()
        imported = time.perf_counter()
        go.set()
        for worker in workers:
            worker.join()
        end = time.perf_counter()
        return end - start, end - imported


def launched(jobs):
    """Seconds of the same jobs as a sweep, from command to prompt."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "attnlab", "-m", *JOB, f"seed=range({jobs})", "launcher.workers=2"]
        start = time.perf_counter()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.perf_counter() - start


def main():
    """Print the times and both ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=24)
    options = parser.parse_args()
    (hand, alone), sweep = manual(options.jobs), launched(options.jobs)
    print(f"{options.jobs} jobs, 2 at a time: by hand {hand:.1f} s, of it jobs {alone:.1f} s; sweep {sweep:.1f} s")
    print(f"ratio to by hand {sweep / hand:.3f}, to the jobs without imports {sweep / alone:.3f}")


if __name__ == "__main__":
    main()
