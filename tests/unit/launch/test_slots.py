import os

import pytest

from attnlab.launch.slots import make_slots


@pytest.mark.parametrize(
    ("visible", "options", "devices"),
    [
        ("0,1,2,3", {}, [("0",), ("1",), ("2",), ("3",)]),
        ("4,6", {"gpus_per_job": 2}, [("4", "6")]),
        ("0,1,2", {"gpus_per_job": 2}, [("0", "1")]),
        ("0,1", {"jobs_per_gpu": 2}, [("0",), ("1",), ("0",), ("1",)]),
        ("0,1", {"workers": 1}, [("0",)]),
        ("", {"workers": 3}, [(), (), ()]),
        ("-1", {"workers": 2}, [(), ()]),
    ],
)
def test_gpus_are_shared_out_within_what_this_process_may_use(monkeypatch, visible, options, devices):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [slot.devices for slot in make_slots(**options)] == devices


def test_threads_do_not_oversubscribe(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    cores = len(os.sched_getaffinity(0))
    assert sum(slot.threads for slot in make_slots()) <= cores
    assert [slot.threads for slot in make_slots(workers=1)] == [cores]
    assert {slot.threads for slot in make_slots(workers=2, threads_per_job=5)} == {5}
