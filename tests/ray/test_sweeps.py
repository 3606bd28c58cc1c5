"""Sweeps on a real Ray, started on this machine."""

import pytest

from tests.e2e.conftest import SMALL, entries
from tests.e2e.conftest import attnlab as _attnlab
from tests.e2e.conftest import environment as _environment

pytestmark = pytest.mark.ray

environment = _environment
attnlab = _attnlab

SWEEP = ("-m", *SMALL, "logger=none", "+cluster=ray")


def test_a_failing_cell_stops_no_other_and_each_model_is_trained_once(attnlab):
    axes = ("data.source.distractors=1,5", "protocol=[predictions],[permutation]")  # 5 are more than there are cues
    done = attnlab(*SWEEP, *axes)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("failed: ") == 2
    assert len(entries(attnlab.folder, "models")) == 1
    assert len(entries(attnlab.folder, "results")) == 2
    again = attnlab(*SWEEP, "data.source.distractors=1", "protocol=[predictions],[permutation]")
    assert again.returncode == 0
    assert "0 to run" in again.stdout


def test_what_the_cluster_cannot_give_is_one_line(attnlab):
    done = attnlab(*SWEEP, "cluster.gpus=64.0")
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1] == "attnlab: cluster.gpus=64.0: the Ray cluster has 0 in all"


def test_a_pool_in_which_nothing_runs_waits_and_has_nothing_to_tell():
    from attnlab.launch.ray import RayPool

    assert RayPool(cpus=1, gpus=0).ended(timeout=0.01) == []
