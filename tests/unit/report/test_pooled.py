import numpy as np
import pyarrow as pa

from attnlab.report.cells import read_cells
from attnlab.report.grid import make_grid
from attnlab.report.pooled import ACROSS, Pooled, page, write_figures
from attnlab.report.spec import Boxes, Histogram, to_dict
from attnlab.store.document import read_json, write_json
from tests.unit.inspect.conftest import add_result
from tests.unit.report.conftest import add_records

TAU = Histogram("tau", column="tau", xlabel="τ", range=(-1.0, 1.0), bins=10)
BOXES = Boxes("boxes", columns=("tau", "sometimes"), labels=("a", "b"), ylabel="y", range=(0.0, 1.0))


def test_figures_are_drawn_over_all_seeds_even_where_a_column_is_empty_in_one(outputs, make_job, records):
    n = records.num_rows
    for seed, column in enumerate((pa.array(np.ones(n)), pa.nulls(n, pa.string()))):
        folder = add_result(make_job(f"seed={seed}"))
        add_records(folder, records.append_column("sometimes", column), [])
        specification = read_json(folder / "specification.json")
        write_json(folder / "specification.json", {**specification, "figures": [to_dict(TAU), to_dict(BOXES)]})
    folder = outputs / "figures"
    problems = []
    assert write_figures(make_grid(read_cells(outputs)), folder, problems) == 3
    assert problems == []
    files = {path.name for path in (folder / "planted" / "bilstm").iterdir()}
    names = ("page", "permutation-tau", "permutation-boxes")
    assert files == {f"{name}.{ending}" for name in names for ending in ("pdf", "svg", "png")}
    first = {path: path.read_bytes() for path in (folder / "planted" / "bilstm").glob("*.svg")}
    write_figures(make_grid(read_cells(outputs)), folder, problems)
    assert all(path.read_bytes() == content for path, content in first.items())


def test_a_page_puts_all_figures_side_by_side(records):
    drawn = [
        Pooled(f"protocol{i}", TAU, pa.concat_tables([records, records]), ["a", "b"], 2) for i in range(ACROSS + 1)
    ]
    axes = page("movie, bilstm", drawn).axes
    assert [a.get_title(loc="left") for a in axes if a.axison] == [f"protocol{i} (2 seeds)" for i in range(ACROSS + 1)]
    kept = records.to_pandas().query("excluded.isna() and prediction == 0").tau
    heights = [bar.get_height() for bar in axes[ACROSS].patches][:10]
    np.testing.assert_allclose(heights, np.histogram(kept, 10, (-1, 1))[0] / len(kept))
