"""What a sweep lacks is named as its results are."""

import pytest

from attnlab.errors import ConfigError
from attnlab.report.cells import read_cells, read_missing
from attnlab.report.command import choose, main
from attnlab.report.grid import Place, make_grid
from tests.unit.inspect.conftest import add_cell, add_result
from tests.unit.report.conftest import add_records

VARIANTS = ((), ("trainer.max_epochs=3",), ("protocols.permutation.draws=7",))


@pytest.fixture
def sweep(outputs, make_job):
    """Three variants with two seeds each; of the second no result, of the third seed 1, is lacking."""
    for overrides in VARIANTS:
        for seed in (0, 1):
            job = make_job(*overrides, f"seed={seed}")
            add_cell(outputs / "sweeps" / "study", job)
            if overrides == VARIANTS[0] or (overrides == VARIANTS[2] and seed == 0):
                add_records(add_result(job))
    return outputs / "sweeps" / "study"


def test_a_hole_in_one_of_several_variants_is_in_its_place(sweep, outputs):
    grid = make_grid(*choose("study", [], []))
    usual, short = ("planted", "bilstm trainer.max_epochs=8"), ("planted", "bilstm trainer.max_epochs=3")
    assert set(grid.missing) == {
        Place(*short, "permutation draws=100", "test", 0),
        Place(*short, "permutation draws=100", "test", 1),
        Place(*usual, "permutation draws=7", "test", 1),
    }
    assert all(place[:2] == usual for place in grid.cells)
    with pytest.raises(ConfigError, match="3 results are missing"):
        main(["study"])
    with pytest.raises(ConfigError, match="1 result is missing, such as planted, bilstm, permutation draws=7, seed 1"):
        main(["study", "trainer.max_epochs=8"])
    assert main(["study", "trainer.max_epochs=8", "seed=0", "--replicates=10"]) == 0
    assert read_missing(outputs / "store", [], []) == []


def test_a_cell_whose_configuration_is_damaged_is_named(sweep):
    problems = []
    cells = read_cells(sweep)
    for path in sweep.glob("cells/*/job.yaml"):
        path.write_text("{")
    assert read_missing(sweep, cells, problems) == []
    assert len(problems) == 3
    assert all("job.yaml cannot be read" in line for line in problems)
