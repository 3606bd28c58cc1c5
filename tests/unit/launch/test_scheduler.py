"""Which failures a policy forgives."""

import pytest

from attnlab.launch.cell import Cell, write_error
from attnlab.launch.scheduler import Policy


@pytest.mark.parametrize(
    ("error", "code", "tries"),
    [(None, -9, 2), (MemoryError("no room"), 1, 3), (ValueError("wrong"), 1, 0), (None, 1, 0)],
)
def test_a_cell_is_tried_again_by_cause(tmp_path, error, code, tries):
    if error is not None:
        write_error(tmp_path, error)
    assert Policy(retries={"killed": 2, "oom": 3}).retries_after(Cell(tmp_path), code) == tries
    assert Policy().retries_after(Cell(tmp_path), code) == 0
