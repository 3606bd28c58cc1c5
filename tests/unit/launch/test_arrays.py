"""Cells as job arrays: each model before the cells that need it, tied by equal numbers."""

from attnlab.config.composing import composer
from attnlab.launch.plan import make_plan
from attnlab.launch.slurm.arrays import make_arrays

NEEDED = {0: ("predictions", "permutation", "single_weight"), 1: ("predictions",), 2: ("predictions", "permutation")}


def entries(tmp_path):
    jobs = [
        ["data=planted", f"seed={seed}", f"protocol=[{protocol}]", f"paths.store={tmp_path}"]
        for seed, protocols in NEEDED.items()
        for protocol in protocols
    ]
    with composer() as compose:
        return make_plan(jobs, compose, compose).waiting


def seeds(array):
    return [{entry.job.config["seed"] for entry in task} for task in array.tasks]


def test_cells_wait_for_the_training_of_the_same_number(tmp_path):
    training, first, second, third, alone = make_arrays(entries(tmp_path), most=100)
    assert training.trains
    assert [len(task) for task in training.tasks] == [3, 2]
    assert seeds(training) == seeds(first) == seeds(second) == [{0}, {2}]
    assert seeds(third) == [{0}]
    assert seeds(alone) == [{1}]
    assert [array.after for array in (training, first, second, third, alone)] == [None, 0, 0, 0, None]
    assert sum(len(array.tasks) for array in (first, second, third, alone)) == 6


def test_arrays_are_cut_where_slurm_takes_no_larger_ones(tmp_path):
    arrays = make_arrays(entries(tmp_path), most=1)
    assert all(len(array.tasks) == 1 for array in arrays)
    for array in arrays:
        if array.after is not None:
            assert arrays[array.after].trains
            assert seeds(arrays[array.after]) == seeds(array)


def test_a_model_that_is_trained_needs_no_training(tmp_path):
    waiting = entries(tmp_path)
    for entry in waiting:
        entry.job.store.path("models", entry.job.model_key).mkdir(parents=True, exist_ok=True)
    (array,) = make_arrays(waiting, most=100)
    assert not array.trains
    assert len(array.tasks) == 6
