"""Places for jobs on this machine: GPUs, or shares of the processor."""

import os
import shutil
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Slot:
    """Where one job runs at a time.

    Attributes:
        devices: What CUDA_VISIBLE_DEVICES is set to; empty for no GPU.
        threads: Threads that its tensor operations use.
    """

    devices: tuple[str, ...]
    threads: int


def make_slots(
    workers: int | None = None, gpus_per_job: int = 1, jobs_per_gpu: int = 1, threads_per_job: int | None = None
) -> list[Slot]:
    """Slots for this machine.

    Args:
        workers: Jobs at a time; as many as there is room for when not given.
        gpus_per_job: GPUs of each job, where there are any.
        jobs_per_gpu: Jobs that share a GPU.
        threads_per_job: Threads of each job; the processor's cores shared equally when not given.

    Returns:
        At least one slot. GPUs are those that this process may use.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = visible_gpus()
    sets = [tuple(gpus[i : i + gpus_per_job]) for i in range(0, len(gpus) - gpus_per_job + 1, max(1, gpus_per_job))]
    places: list[tuple[str, ...]] = (sets if gpus_per_job and sets else []) * max(1, jobs_per_gpu)
    if not places:
        places = [()] * (workers or cores)
    places = places[:workers] if workers else places
    threads = threads_per_job or max(1, cores // len(places))
    return [Slot(devices, threads) for devices in places]


def visible_gpus() -> list[str]:
    """GPUs that this process may use, found without CUDA so that children can still start it."""
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is not None:
        return [device for device in allowed.split(",") if device.strip() not in ("", "-1")]
    if shutil.which("nvidia-smi") is None:
        return []
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False)
    return [str(n) for n, line in enumerate(listed.stdout.splitlines()) if line.startswith("GPU ")]
