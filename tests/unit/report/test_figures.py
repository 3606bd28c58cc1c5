import numpy as np
import pyarrow as pa
import pytest
from matplotlib.colors import to_hex

from attnlab.report.figures import draw, save
from attnlab.report.spec import Band, BinnedViolin, Curve, Histogram, Scatter, from_dict, to_dict
from attnlab.report.style import colour

HISTOGRAM = Histogram("tau", column="tau", xlabel="τ", range=(-1.0, 1.0), bins=30)
VIOLIN = BinnedViolin("v", column="probability", by="max_attention", xlabel="x", ylabel="y", range=(0.0, 1.0))
BAND = Band("b", column="probability", low="low", high="high", ylabel="p")

SCATTER = Scatter("s", column="probability", by="max_attention", xlabel="x", ylabel="y", ranges=(0.0, 1.0, 0.0, 1.0))


def _kept(records):
    return records.to_pandas().query("excluded.isna()")


def test_histogram_bars_are_shares_within_each_predicted_class(records):
    axes = draw(records, HISTOGRAM, ["negative", "positive"]).axes[0]
    kept = _kept(records)
    for c in (0, 1):
        tau = kept.tau[kept.prediction == c]
        expected = np.histogram(tau, bins=30, range=(-1, 1))[0] / len(tau)
        bars = [p.get_height() for p in axes.patches if to_hex(p.get_facecolor()).upper() == colour(c).upper()]
        np.testing.assert_allclose(bars, expected)


def test_violins_mark_the_median_of_their_bin(records):
    axes = draw(records, VIOLIN, ["negative", "positive"]).axes[0]
    medians = sorted(line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1)
    kept = _kept(records)
    bins = np.minimum((kept.max_attention * 4).astype(int), 3)
    expected = sorted(rows.probability.median() for _, rows in kept.groupby([bins, kept.prediction]))
    np.testing.assert_allclose(medians, expected)


def test_band_shows_each_interval_in_order_of_the_value(records):
    axes = draw(records, BAND, ["a", "b"]).axes[0]
    kept = _kept(records).sort_values("probability")
    segments = np.array(axes.collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 0, 1], kept.low)
    np.testing.assert_allclose(segments[:, 1, 1], kept.high)


@pytest.mark.parametrize("figure", [HISTOGRAM, VIOLIN, BAND, SCATTER])
def test_figures_are_written_as_pdf_and_png_alike_every_time(records, figure, tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save(draw(records, figure, ["negative", "positive"]), tmp_path / folder, figure.name)
    for ending, magic in (("pdf", b"%PDF"), ("png", b"\x89PNG")):
        first, second = ((tmp_path / f / f"{figure.name}.{ending}").read_bytes() for f in ("one", "two"))
        assert first.startswith(magic)
        assert first == second


def test_nothing_measured_still_gives_a_figure(records, tmp_path):
    for figure in (HISTOGRAM, VIOLIN, BAND, SCATTER):
        save(draw(records.slice(0, 1), figure, ["a", "b"]), tmp_path, figure.name)


def test_specifications_travel_as_plain_values():
    for spec in (HISTOGRAM, VIOLIN, BAND):
        assert from_dict(to_dict(spec)) == spec
    with pytest.raises(ValueError, match="unknown kind 'Pie'"):
        from_dict({"kind": "Pie"})


@pytest.mark.parametrize(("classes", "groups"), [(3, 3), (4, 1)])
def test_more_than_three_predicted_classes_are_drawn_together(classes, groups):
    n = 12
    columns = {"prediction": [i % classes for i in range(n)], "tau": [i / n for i in range(n)], "excluded": [None] * n}
    axes = draw(pa.table(columns), HISTOGRAM, list("abcd")).axes[0]
    assert len(axes.containers) == groups
    assert all(abs(sum(bar.get_height() for bar in bars) - 1) < 1e-9 for bars in axes.containers)


def test_a_curve_joins_the_means_in_the_order_of_the_first_column(tmp_path):
    columns = {"jsd": [[0.4, 0.0], [0.2, 0.2]], "tvd": [[0.3, 0.1], [0.1, 0.0]], "excluded": [None, None]}
    records = pa.table({**columns, "excluded": pa.array([None, None], pa.string())})
    figure = Curve("c", "jsd", "tvd", ("strong", "weak"), "x", "y", (0.0, 0.7))
    axes = draw(records, figure, ["a", "b"]).axes[0]
    np.testing.assert_allclose(axes.lines[0].get_xydata(), [[0.1, 0.05], [0.3, 0.2]])
    assert {text.get_text(): text.xy[0] for text in axes.texts} == {
        "strong": pytest.approx(0.3),
        "weak": pytest.approx(0.1),
    }
    save(draw(records.slice(0, 0), figure, ["a", "b"]), tmp_path, figure.name)
    assert from_dict(to_dict(figure)) == figure
