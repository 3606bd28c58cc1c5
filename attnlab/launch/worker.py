"""The process of one cell, forked from a server that has imported everything and started nothing."""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

SCRUBBED = (
    *("LOCAL_RANK", "NODE_RANK", "GROUP_RANK", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"),
    *("MASTER_ADDR", "MASTER_PORT", "PL_GLOBAL_SEED", "PL_SEED_WORKERS", "TORCHELASTIC_RUN_ID"),
)
"""What an earlier distributed run may have left; a job that inherits it measures a part of the data."""

GRACE_SECONDS = 10.0
"""What a job gets between SIGTERM and SIGKILL."""

CLUSTER = ("SLURM_", "SUBMITIT_")
"""Variables of a cluster, by which Lightning would look for other processes of the same job."""


def work(folder: str, devices: tuple[str, ...], threads: int, only_model: bool = False) -> None:
    """Run a cell in this process and exit with its code.

    Args:
        folder: Of the cell.
        devices: GPUs that it may use; empty leaves that as it is.
        threads: Of its tensor operations.
        only_model: Train the cell's model, and measure nothing.
    """
    os.setsid()
    _die_with_sweep()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for name in [name for name in os.environ if name in SCRUBBED or name.startswith(CLUSTER)]:
        del os.environ[name]
    if devices:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(devices)
    os.environ["OMP_NUM_THREADS"] = str(threads)
    _redirect(Path(folder) / "output.log")

    import torch

    from attnlab.launch.cell import run_cell

    torch.set_num_threads(threads)
    sys.exit(run_cell(Path(folder), only_model))


def start_below(cell: str, threads: int, only_model: bool = False) -> BaseProcess:
    """Start :func:`work` in a fresh process below this one, which a cluster started."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(cell, (), threads, only_model))
    process.start()
    return process


def _die_with_sweep() -> None:
    """End when the sweep ends, however it was killed: nobody would collect what this job does."""
    sweep = multiprocessing.parent_process()
    if sweep is None:
        return

    def watch() -> None:
        sweep.join()
        for sign in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(0, sign)
            time.sleep(GRACE_SECONDS)

    threading.Thread(target=watch, daemon=True).start()


def _redirect(log: Path) -> None:
    """Send everything that this process prints to the cell's log."""
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.close(target)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=logging.INFO, format=form, datefmt="%H:%M:%S", stream=sys.stderr, force=True)
    for noisy in ("fontTools", "datasets", "httpx"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
