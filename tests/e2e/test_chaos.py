"""A sweep whose processes are killed at random, again and again, ends as if nothing had happened."""

import contextlib
import os
import random
import re
import signal
import subprocess
import time

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import SMALL

KILLS = int(os.environ.get("ATTNLAB_CHAOS_KILLS", "20"))
SEEDS = max(6, 6 * KILLS // 10)  # so that the sweep outlives its kills
AXES = (f"seed=range({SEEDS})", "model=bilstm,projection", "protocol=[permutation],[set_erasure]")
SWEEP = ("-m", *SMALL, "logger=none", "resume_seconds=0", "trainer.max_epochs=3", *AXES)


def records(store):
    """Every result of a store, by key."""
    return {p.name: pq.read_table(p / "records.parquet") for p in (store / "results").iterdir()}


def processes(group):
    """Processes of a sweep: itself, its fork server and its jobs."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    pids = [int(line.split()[0]) for line in listed.splitlines() if "forkserver" in line and "attnlab" in line]
    return [pid for pid in pids if _descends(pid, group)] + [group]


def _descends(pid, ancestor):
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            with open(f"/proc/{pid}/stat") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.slow
def test_random_kills_lose_nothing_and_train_nothing_twice(attnlab):
    calm = attnlab(*SWEEP, "paths.store=calm", "hydra.sweep.dir=undisturbed")
    assert calm.returncode == 0, calm.stdout + calm.stderr
    expected = records(attnlab.folder / "calm")
    assert len(expected) == 4 * SEEDS

    dice = random.Random(0)
    kills, starts = 0, 0
    while True:
        starts += 1
        process = attnlab(*SWEEP, "paths.store=chaos", start=True)
        while kills < KILLS and process.poll() is None:
            if dice.random() < 0.8:  # on a slow machine all kills would hit the start otherwise
                wait_for_a_job(process)
            time.sleep(dice.uniform(0.1, 1.5))
            if process.poll() is None:
                victim = dice.choice(processes(process.pid))
                with_suppressed_kill(victim)
                kills += 1
        output = process.communicate(timeout=300)
        if process.returncode == 0:
            break
        assert starts < 3 * KILLS, output

    store = attnlab.folder / "chaos"
    found = records(store)
    assert found.keys() == expected.keys()
    assert all(found[key].equals(table) for key, table in expected.items())
    assert kills >= KILLS or starts == 1
    assert len(list((store / "models").iterdir())) == 2 * SEEDS
    assert not list((store / "drafts").iterdir())
    logs = [p.read_text() for p in (attnlab.folder / "outputs" / "sweeps").rglob("output.log")]
    finished = [key for log in logs for key in re.findall(r"trained model (\w+)", log)]
    assert len(finished) == len(set(finished)) == 2 * SEEDS


def wait_for_a_job(sweep, seconds=60):
    """Until there is more than the sweep and its fork server, or no sweep."""
    end = time.monotonic() + seconds
    while len(processes(sweep.pid)) < 3 and sweep.poll() is None and time.monotonic() < end:
        time.sleep(0.1)


def with_suppressed_kill(pid):
    """Kill a process that may just have ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
