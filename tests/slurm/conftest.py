"""A real SLURM, started for these tests alone."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import attnlab as _attnlab
from tests.e2e.conftest import environment as _environment

SCRIPT = Path(__file__).with_name("cluster.sh")

environment = _environment
attnlab = _attnlab


class Cluster:
    """Two nodes on this machine."""

    def __init__(self, folder):
        self.folder = folder
        self.conf = str(folder / "slurm.conf")

    def script(self, verb, *arguments):
        subprocess.run(["bash", str(SCRIPT), verb, str(self.folder), *arguments], check=True, stdout=subprocess.DEVNULL)

    def call(self, *command):
        environment = {**os.environ, "SLURM_CONF": self.conf}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def clear(self):
        """Cancel everything, and wait until nothing is left."""
        self.call("scancel", "--user=root")
        end = time.monotonic() + 60
        while self.jobs() and time.monotonic() < end:
            time.sleep(0.2)

    def jobs(self):
        return self.call("squeue", "--noheader", "--array", "--format=%i %T").splitlines()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("slurm"))
    made.script("start")
    yield made
    made.clear()
    made.script("stop")


@pytest.fixture
def submit(attnlab, cluster):
    """Run ``attnlab`` with the cluster in reach; no job is left behind."""

    def run(*arguments, **options):
        return attnlab(*arguments, SLURM_CONF=cluster.conf, **options)

    run.folder = attnlab.folder
    yield run
    cluster.clear()
