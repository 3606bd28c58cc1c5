import numpy as np
import pyarrow as pa

from attnlab.report.cells import read_cells
from attnlab.report.figures import draw
from attnlab.report.grid import by_setting, make_grid
from attnlab.report.pooled import ACROSS, Pooled, page, pooled_figures, write_figures
from attnlab.report.spec import Boxes, Curve, Histogram, Points, to_dict
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


def test_what_other_protocols_measured_of_the_same_model_is_drawn_beside_a_curve(outputs, make_job):
    beside = (
        Points("uniform_baseline", "jsd", "tvd_uniform", "uniform", scale=0.5),
        Points("seed_variance", "jsd_of_each", "tvd_of_each", "other seeds", scale=0.5),
        Points("adversarial_attention", "jsd", "tvd", "text by text", scale=0.5),
    )
    curve = Curve("curve", "jsd", "tvd", ("0", "1"), "x", "y", (0.0, 0.7), "adversaries", beside)
    excluded = pa.array([None, None, "one token"], pa.string())
    columns = {
        "model_adversary": {"jsd": [[0.1, 0.3]] * 3, "tvd": [[0.01, 0.02]] * 3},
        "uniform_baseline": {"jsd": [0.2, 0.4, 9.0], "tvd_uniform": [0.1, 0.3, 9.0]},
        "seed_variance": {"jsd_of_each": [[0.0, 0.2], [0.2, 0.2], [9.0, 9.0]], "tvd_of_each": [[0.2, 0.8]] * 3},
    }
    for seed in (0, 1):
        job = make_job(f"seed={seed}", f"protocol=[{','.join(columns)}]", "protocols.seed_variance.seeds=[2,3]")
        add_result(job)
        for protocol, own in columns.items():
            folder = job.store.path("results", job.result_keys[protocol])
            add_records(folder, pa.table({**own, "excluded": excluded}))
            figures = [to_dict(curve)] if protocol == "model_adversary" else []
            specification = read_json(folder / "specification.json")
            write_json(folder / "specification.json", {**specification, "figures": figures})
    problems = []
    (protocols,) = by_setting(make_grid(read_cells(outputs))).values()
    (pooled,) = pooled_figures(protocols, problems)
    assert problems == []
    axes = draw(pooled.records, pooled.figure, pooled.classes, pooled.beside).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["adversaries", "uniform", "other seeds"]
    uniform, seeds = (points.get_offsets() for points in axes.collections)
    np.testing.assert_allclose(uniform, [[0.3, 0.1]] * 2)
    np.testing.assert_allclose(seeds, [[0.1, 0.1], [0.2, 0.4]] * 2)
    assert axes.get_ylim()[1] > 0.4
