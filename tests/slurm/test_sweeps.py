"""Sweeps on a real SLURM: to the end, through failures, kills, time limits and cancellations."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.e2e.conftest import SMALL, entries

pytestmark = pytest.mark.slurm

CLUSTER = ("+cluster=slurm", "cluster.cpus=1", "cluster.poll_seconds=1")
SWEEP = ("-m", *SMALL, "logger=none", "hydra.sweep.dir=outputs/sweeps/mine", *CLUSTER)
# An epoch takes a fraction of a second, all of them longer than any test waits.
LONG = ("trainer.max_epochs=100000", "callbacks=none", "resume_seconds=1", "protocol=[predictions]")


def wait_for(what, seconds=120):
    """The first true value of a function."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"nothing came of {what} in {seconds} s")


def test_a_sweep_trains_each_model_once_before_the_cells_that_need_it(submit):
    done = submit(*SWEEP, "seed=0,1", "protocol=[predictions],[permutation],[single_weight]")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all cells are done" in done.stdout
    assert len(entries(submit.folder, "models")) == 2
    assert len(entries(submit.folder, "results")) == 6
    assert everything_logged(submit, "trainings").count("trained model") == 2
    assert "trained model" not in everything_logged(submit)
    again = submit(*SWEEP, "seed=0,1", "protocol=[predictions],[permutation],[single_weight]")
    assert again.returncode == 0
    assert "0 to run" in again.stdout


def test_a_model_that_cells_declare_is_trained_once_before_them(submit):
    done = submit(*SWEEP, "seed=0,1,7", "protocol=[seed_variance]", "protocols.seed_variance.seeds=[7,8]")
    assert done.returncode == 0, done.stdout + done.stderr
    trained = {path.name for path in submit.folder.glob("outputs/sweeps/mine/trainings/*")}
    assert len(trained) == 2
    assert everything_logged(submit, "trainings").count("trained model") == 2
    cells = everything_logged(submit)
    assert cells.count("trained model") == 2  # of seeds 0 and 1, which no other cell needs
    assert all(f"model {key} is in the store" in cells for key in trained)


def test_cells_say_why_their_model_could_not_be_trained(submit):
    protocols = "protocol=[predictions],[permutation]"
    done = submit(*SWEEP, protocols, "data.source.distractors=5")  # more than there are cues
    assert done.returncode == 1, done.stdout + done.stderr
    assert len(re.findall(r"failed: .*distractors", done.stdout)) == 2
    assert everything_logged(submit).count("was not trained: ") == 2


def test_a_cell_that_raises_fails_for_slurm_too_and_stops_no_other(submit, cluster):
    source = "data.source.distractors=1,5"  # more than there are cues
    done = submit(*SWEEP, source, "protocol=[predictions]")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "done 1/2" in done.stdout or "done 2/2" in done.stdout
    assert re.search(r"failed: .*distractors=5.*log: ", done.stdout)
    job = json.loads(failed_cell(submit).with_name("slurm.json").read_text())["job"]
    wait_for(lambda: "JobState=FAILED" in cluster.call("scontrol", "show", "job", job))


def failed_cell(submit):
    (error,) = submit.folder.glob("outputs/sweeps/mine/cells/*/error.json")
    return error


def test_a_job_that_a_signal_ends_is_begun_again_where_that_is_asked_for(submit):
    training = ("trainer.max_epochs=60", "callbacks=none", "resume_seconds=0", "protocol=[predictions]")
    process = submit(*SWEEP, *training, "launcher.retries.killed=1", start=True)
    wait_for(lambda: list(submit.folder.glob("outputs/store/unfinished/*/epoch-*")))
    (beat,) = submit.folder.glob("outputs/sweeps/mine/cells/*/heartbeat.json")
    os.kill(json.loads(beat.read_text())["pid"], signal.SIGKILL)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert "training goes on after epoch" in everything_logged(submit)


def test_a_detached_sweep_is_found_again_and_cancelled_and_resumed(submit, cluster):
    started = submit(*SWEEP, *LONG, "seed=0,1", "cluster.detached=true")
    assert started.returncode == 0, started.stdout + started.stderr
    assert "submitted 2 cells" in started.stdout
    told = wait_for(lambda: re.search(r"alive 2", submit("status").stdout))
    assert told
    twice = submit(*SWEEP, *LONG, "seed=0,1", "cluster.detached=true", "hydra.sweep.dir=outputs/sweeps/other")
    assert "2 cells are in SLURM's queue already" in twice.stdout
    kept = wait_for(lambda: sorted(submit.folder.glob("outputs/store/unfinished/*/epoch-*")))
    (job,) = re.findall(r"scancel ([\d ]+) ends", submit("status", "mine").stdout)
    cluster.call("scancel", *job.split())
    wait_for(lambda: not cluster.jobs())
    assert "SLURM has none of the unfinished cells" in submit("status", "mine").stdout
    again = submit(*SWEEP, *LONG, "seed=0,1", "cluster.detached=true")
    assert "submitted 2 cells" in again.stdout
    wait_for(lambda: "training goes on after epoch" in everything_logged(submit))
    assert kept


def everything_logged(submit, of="cells"):
    return "".join(path.read_text() for path in submit.folder.glob(f"outputs/sweeps/mine/{of}/*/output.log"))


def test_a_time_limit_puts_a_job_back_into_the_queue_where_it_goes_on(submit):
    """SLURM tells a job of its limit up to a minute before it is asked to."""
    limit = ("cluster.minutes=2", "cluster.signal_seconds=20", "cluster.max_timeouts=2", "cluster.detached=true")
    assert submit(*SWEEP, *LONG, *limit).returncode == 0
    wait_for(lambda: "training goes on after epoch" in everything_logged(submit), seconds=240)


def test_a_node_that_dies_loses_nothing(submit, cluster):
    training = ("trainer.max_epochs=60", "callbacks=none", "resume_seconds=0", "protocol=[predictions]")
    process = submit(*SWEEP, *training, start=True)
    wait_for(lambda: list(submit.folder.glob("outputs/store/unfinished/*/epoch-*")))
    (node,) = re.findall(r"node([12])", cluster.call("squeue", "--noheader", "--format=%N"))
    kill_node(node)
    try:
        output, _ = process.communicate(timeout=240)
    finally:
        cluster.script("node", node)
    assert process.returncode == 0, output
    (result,) = entries(submit.folder, "results")
    assert pq.read_table(result / "records.parquet").num_rows == 60


def kill_node(number):
    """SIGKILL a node's daemon, its steps and what they run, as a power cut does."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,args="], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        pid, _, command = line.strip().partition(" ")
        if f"slurmd -N node{number}" in command or "slurmstepd" in command or "submitit.core._submit" in command:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if b"multiprocessing.spawn" in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)


def test_ctrl_c_takes_the_jobs_out_of_the_queue(submit, cluster):
    process = submit(*SWEEP, *LONG, start=True)
    wait_for(cluster.jobs)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait_for(lambda: not cluster.jobs(), seconds=30)


def test_ctrl_c_leaves_the_jobs_of_another_sweep(submit, cluster):
    assert submit(*SWEEP, *LONG, "cluster.detached=true").returncode == 0
    jobs = wait_for(cluster.jobs)
    process = submit(*SWEEP, *LONG, "hydra.sweep.dir=outputs/sweeps/other", start=True)
    wait_for(lambda: list(submit.folder.glob("outputs/sweeps/other/cells/*/job.yaml")))
    time.sleep(2 * 1.0)  # it looks at the queue once a second
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert "1 cells are in SLURM's queue already" in output
    assert process.returncode == 130
    assert [job.split()[0] for job in cluster.jobs()] == [job.split()[0] for job in jobs]


def test_what_slurm_refuses_is_one_line(submit):
    done = submit(*SWEEP, "cluster.partition=nowhere")
    assert done.returncode == 2
    line = done.stderr.strip().splitlines()[-1]  # sbatch has had its say
    assert "SLURM refused the jobs" in line
    assert "partition" in line
