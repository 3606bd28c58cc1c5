"""Cells as job arrays: each model that several need before them, whoever declares it."""

import pytest

from attnlab.config.composing import composer
from attnlab.launch.cell import Cell
from attnlab.launch.plan import make_plan
from attnlab.launch.slurm.arrays import dependency, make_arrays

OWN = {0: ("predictions", "permutation"), 1: ("predictions",), 2: ("predictions", "permutation"), 3: ("predictions",)}


def plan_in(folder):
    def make(*jobs):
        with composer() as compose:
            options = [["data=planted", f"paths.store={folder}", *job] for job in jobs]
            return make_plan(options, compose, compose).waiting

    return make


@pytest.fixture
def plan(tmp_path):
    return plan_in(tmp_path)


@pytest.fixture(scope="module")
def waiting(tmp_path_factory):
    plan = plan_in(tmp_path_factory.mktemp("store"))
    return plan(*([f"seed={seed}", f"protocol=[{name}]"] for seed, names in OWN.items() for name in names))


def seeds(array):
    return [step.cells[0].job.config["seed"] for step in array]


def trains(array):
    return all(step.model for step in array)


def numbered(arrays):
    """Numbers as SLURM gives them, and what each array waits for."""
    jobs, waits = {}, []
    for number, array in enumerate(arrays):
        waits.append(dependency(array, jobs))
        names = [f"{number}_{n}" for n in range(len(array))] if len(array) > 1 else [str(number)]
        jobs |= {step.model: name for step, name in zip(array, names, strict=True) if step.model}
    return waits


def test_cells_wait_for_the_training_of_the_same_number(plan):
    waiting = plan(*([f"seed={s}", f"protocol=[{p}]"] for s in (0, 1, 2) for p in ("predictions", "permutation")))
    training, first, second = arrays = make_arrays(waiting, most=100)
    assert trains(training)
    assert [len(step.cells) for step in training] == [2, 2, 2]
    assert seeds(training) == seeds(first) == seeds(second)
    assert numbered(arrays) == [None, "aftercorr:0", "aftercorr:0"]


def test_cells_of_few_models_are_an_array_for_each(plan):
    protocols = ("predictions", "permutation", "single_weight")
    waiting = plan(*([f"seed={s}", f"protocol=[{p}]"] for s in (0, 1) for p in protocols))
    arrays = make_arrays(waiting, most=100)
    assert [len(array) for array in arrays] == [2, 3, 3]
    assert numbered(arrays) == [None, "afterok:0_0", "afterok:0_1"]


def test_a_model_that_one_cell_needs_is_trained_by_it(waiting):
    *_, alone = arrays = make_arrays(waiting, most=100)
    assert sorted(seeds(alone)) == [1, 3]
    assert numbered(arrays)[-1] is None
    assert not trains(alone)
    assert sum(len(array) for array in arrays if not trains(array)) == len(waiting)


def test_arrays_are_cut_where_slurm_takes_no_larger_ones(waiting):
    arrays = make_arrays(waiting, most=1)
    assert all(len(array) == 1 for array in arrays)
    trained = {f"afterok:{n}": seeds(array) for n, array in enumerate(arrays) if trains(array)}
    for array, wait in zip(arrays, numbered(arrays), strict=True):
        assert wait is None or trained[wait] == seeds(array)


def test_a_model_that_is_trained_needs_no_training(plan):
    waiting = plan(["protocol=[predictions]"], ["protocol=[permutation]"])
    assert len(make_arrays(waiting, most=100)) == 2
    waiting[0].job.store.path("models", waiting[0].job.model_key).mkdir(parents=True)
    (array,) = make_arrays(waiting, most=100)
    assert [step.model for step in array] == [None, None]


def test_a_declared_model_that_several_cells_need_is_trained_before_them(plan):
    declared = "protocols.seed_variance.seeds=[7,8]"
    cells = [[f"seed={s}", "protocol=[seed_variance]", declared] for s in (0, 1, 7)]
    training, own, others = arrays = make_arrays(plan(*cells, ["seed=8", "protocol=[predictions]"]), most=100)
    assert seeds(training) == [8, 7]  # from the cells that have them as their own
    assert sorted(len(step.cells) for step in training) == [3, 4]
    assert seeds(own) == [8]
    assert sorted(seeds(others)) == [0, 1, 7]
    assert numbered(arrays)[:2] == [None, "afterok:0_0"]
    assert numbered(arrays)[2] in ("afterok:0_0:0_1", "afterok:0_1:0_0")  # in the order of keys


def test_a_model_that_is_trained_on_what_another_says_waits_for_it(plan):
    guided = ["protocol=[guided_mlp]", "protocols.guided_mlp.sources=[base]"]
    cells = [["protocol=[predictions]"], guided, [*guided, "split=validation"]]
    arrays = make_arrays(plan(*cells), most=100)
    base, *rest = arrays
    assert len(base) == 1
    given = next(step for array in rest for step in array if step.model)
    assert given.needs == {base[0].model}
    last = arrays[-1]
    assert {step.needs for step in last} == {frozenset({base[0].model, given.model})}
    waits = numbered(arrays)
    assert waits[0] is None
    assert waits[-1].startswith("afterok:")
    assert waits[-1].count(":") == 2


def test_a_training_has_a_folder_that_tells_its_job(plan, tmp_path):
    waiting = plan(["protocol=[guided_mlp]", "protocols.guided_mlp.sources=[base]"])
    for job in waiting[0].job.untrained:
        cell = Cell.freeze_training(tmp_path / "trainings", waiting[0].job, job.model_key)
        found = Cell(cell.folder).job
        assert found.model_key == job.model_key == cell.folder.name
        assert (found.source is None) == (job.source is None)
