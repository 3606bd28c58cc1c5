"""Means, intervals and tests over a small store against pandas and scipy."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

from attnlab.config.composing import compose
from attnlab.errors import ConfigError
from attnlab.job import Job
from attnlab.report.cells import read_cells
from attnlab.report.command import main
from attnlab.report.dots import draw_dots
from attnlab.report.estimates import chosen_pairs, estimate, setting_pairs
from attnlab.report.frame import long_frame
from attnlab.report.grid import make_grid
from attnlab.report.resampling import Resampling
from attnlab.report.selection import select
from attnlab.report.spec import Statistic
from tests.unit.inspect.conftest import add_cell, add_result
from tests.unit.report.conftest import add_records

STATISTICS = [
    Statistic("tvd", "tvd", higher_is_better=False),
    Statistic("large", "tvd", how="share", at_least=1.0),
    Statistic("other", "other"),
]
LEVEL = {"bilstm": 0.3, "cnn": 0.35, "projection": 0.9}


def instances(model, seed, n=50):
    """Records whose level is the model's; the first instance cannot be measured."""
    rng = np.random.default_rng([seed, len(model)])
    shared = np.random.default_rng(9).random(n)
    tvd = LEVEL[model] + shared + 0.1 * rng.normal(size=n) + 0.1 * rng.normal()
    excluded = ["one token", *[None] * (n - 1)]
    columns = {"tvd": [None, *tvd[1:]], "other": [None, *rng.random(n - 1)], "excluded": excluded}
    about = {"id": [f"t{i}" for i in range(n)], "label": [0] * n, "prediction": [i % 2 for i in range(n)]}
    return pa.table({**about, **columns})


@pytest.fixture(scope="module")
def configurations():
    """Composed once; the tests change seed and folder."""
    return {model: compose(["data=planted", "protocol=[permutation]", f"model={model}"]) for model in LEVEL}


@pytest.fixture
def store(outputs, configurations):
    """Three models with four seeds each."""
    for model, (config, choices) in configurations.items():
        for seed in range(4):
            paths = {**config["paths"], "store": str(outputs / "store")}
            job = Job.from_config({**config, "seed": seed, "paths": paths}, choices)
            add_records(add_result(job), instances(model, seed), STATISTICS)
            add_cell(outputs / "sweeps" / "study", job)
    return outputs / "store"


@pytest.fixture
def frame():
    """The same records in pandas."""
    parts = [
        instances(model, seed).to_pandas().assign(model=model, seed=seed, instance=range(50))
        for model in LEVEL
        for seed in range(4)
    ]
    return pd.concat(parts)


def make(store, pairs=None):
    problems = []
    grid = make_grid(read_cells(store, problems))
    found = estimate(grid, Resampling(200), problems, pairs)
    assert problems == []
    return found


def test_means_and_intervals_over_seeds_are_those_of_pandas_and_scipy(store, frame):
    numbers = make(store).numbers.to_pandas()
    by_seed = frame.groupby(["model", "seed"]).tvd.mean().unstack()
    for model, values in by_seed.iterrows():
        row = numbers[(numbers.setting == model) & (numbers.statistic == "tvd") & numbers["class"].isna()].iloc[0]
        low, high = stats.t.interval(0.95, 3, values.mean(), values.sem())
        assert (row["mean"], row.sd, row.t_low, row.t_high) == pytest.approx((values.mean(), values.std(), low, high))
        assert (row.seeds, row.instances, row.measured) == (4, 50, 49)
        assert row.low < row["mean"] < row.high
    of_class = frame[frame.prediction == 1].groupby(["model", "seed"]).tvd.mean().groupby("model").mean()
    rows = numbers[(numbers["class"] == "b") & (numbers.statistic == "tvd")].set_index("setting")
    pd.testing.assert_series_equal(rows["mean"], of_class, check_names=False)
    best = numbers[numbers.best == True]  # noqa: E712 - it may be missing
    assert set(best.setting) == {"bilstm", "cnn"}
    assert numbers[numbers.statistic == "other"].best.isna().all()


def test_comparisons_are_those_of_scipy(store, frame):
    rows = make(store, setting_pairs).comparisons.to_pandas().set_index(["statistic", "first", "second"])
    assert len(rows) == 9
    row = rows.loc["permutation/tvd", "bilstm", "projection"]
    wide = frame.groupby(["model", "seed"]).tvd.mean().unstack("model")
    assert row.p_t == pytest.approx(stats.ttest_rel(wide.bilstm, wide.projection).pvalue)
    assert row.difference == pytest.approx((wide.bilstm - wide.projection).mean())
    by_instance = frame.groupby(["model", "instance"]).tvd.mean().unstack("model").dropna()
    expected = stats.wilcoxon(by_instance.bilstm, by_instance.projection)
    assert (row.p_instances, row.instances, row.r) == (pytest.approx(expected.pvalue), 49, -1)
    assert row.low < row.difference < row.high < 0
    assert row.p_flip == 0.125
    p = rows.loc["permutation/tvd"].p_t
    assert rows.loc["permutation/tvd"].p_t_holm.min() == pytest.approx(3 * p.min())


def test_two_statistics_of_the_same_models_are_compared(store):
    grid = make_grid(read_cells(store))
    known = list(make_known(grid))
    rows = make(store, chosen_pairs("permutation/tvd", "permutation/other", known)).comparisons
    assert rows["first"].unique().to_list() == ["permutation/tvd"]
    assert rows["statistic"].to_list() == list(LEVEL)
    (two,) = [make(store, chosen_pairs("cnn", "bilstm", known)).comparisons]
    assert set(zip(two["first"], two["second"], strict=True)) == {("cnn", "bilstm")}
    with pytest.raises(ConfigError, match="--compare gru: no such setting"):
        chosen_pairs("gru", "cnn", known)
    with pytest.raises(ConfigError, match="one is a setting and one a statistic"):
        chosen_pairs("permutation/tvd", "cnn", known)


def make_known(grid):
    from attnlab.report.samples import Name

    for place, cell in grid.cells.items():
        for statistic in cell.summary["statistics"]:
            yield Name(place.setting, place.protocol, statistic)


def test_settings_are_told_apart_by_what_differs(outputs, make_job):
    for overrides in ([], ["trainer.max_epochs=3"], ["model=cnn"], ["protocols.permutation.draws=7"]):
        for seed in (0, 1):
            add_records(add_result(make_job(*overrides, f"seed={seed}")))
    names = {(place.setting, place.protocol) for place in make_grid(read_cells(outputs)).cells}
    assert names == {
        ("bilstm trainer.max_epochs=8", "permutation draws=100"),
        ("bilstm trainer.max_epochs=3", "permutation draws=100"),
        ("bilstm trainer.max_epochs=8", "permutation draws=7"),
        ("cnn", "permutation draws=100"),
    }
    frame = long_frame(make_grid(read_cells(outputs)))
    assert frame.height == 2 * 2 * 4
    assert frame["model"].unique().sort().to_list() == ["bilstm", "cnn"]


def test_values_of_each_class_are_in_the_frame_whichever_kind_they_are(outputs, make_job):
    statistics = [Statistic("tvd", "tvd"), Statistic("size", "change", "magnitude", by_class=True)]
    columns = {"prediction": [0, 0], "excluded": [None, None], "tvd": [0.25, 0.75], "change": [[0.5, -1.0]] * 2}
    add_records(add_result(make_job()), pa.table(columns), statistics)
    frame = long_frame(make_grid(read_cells(outputs)))
    assert frame.select("statistic", "class", "value").rows() == [
        ("tvd", None, 0.5),
        ("tvd", "a", 0.5),
        ("size", None, 0.75),
        ("size", "a", 0.5),
        ("size", "b", 1.0),
    ]


def folder_of(store, model, seed):
    """Entry of one result."""
    (cell,) = [cell for cell in read_cells(store) if (cell.model, cell.seed) == (model, seed)]
    return cell.folder


def test_holes_are_refused_or_marked(store, outputs, capsys):
    folder_of(store, "cnn", 2).rename(outputs / "elsewhere")
    for place in (str(store), "study"):
        with pytest.raises(ConfigError, match="1 result is missing, such as planted, cnn, permutation, seed 2"):
            main([place])
        assert main([place, "--incomplete", "--format=csv", "--replicates=10"]) == 0
        marked = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out))
        assert marked[marked.setting == "cnn"].seeds.unique() == [3]
        assert main([place, "--incomplete", "--replicates=10"]) == 0
        assert "3 (incomplete)" in capsys.readouterr().out
        assert main([place, "--replicates=10", "model=bilstm"]) == 0
        assert "cnn" not in capsys.readouterr().out


def test_records_that_cannot_be_read_are_named_and_skipped(store, capsys):
    path = folder_of(store, "cnn", 1) / "records.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\0" * (len(whole) - 8) + whole[-4:])
    assert main(["--replicates=10", "--compare"]) == 0
    out = capsys.readouterr()
    assert path.parent.name in out.err
    assert "permutation/tvd" in out.out
    path.write_bytes(whole[: len(whole) // 2])
    assert main(["--replicates=10", "--incomplete"]) == 0
    assert "no whole Parquet file" in capsys.readouterr().err


def test_some_statistics_are_shown_side_by_side_in_the_order_of_a_filter(store, frame, outputs, capsys):
    asked = ("--statistic", "permutation/other", "permutation/tvd", "--figures", str(outputs / "figures"))
    arguments = (str(store), "--replicates=50", *asked)
    assert main([*arguments, "--format=csv", "--statistic", *asked[1:3], "model=projection,bilstm,cnn"]) == 0
    rows = pd.read_csv(pd.io.common.StringIO(capsys.readouterr().out))
    assert rows.setting.to_list() == ["projection", "bilstm", "cnn"]
    by_seed = frame.groupby(["model", "seed"]).tvd.mean().groupby("model").mean()
    np.testing.assert_allclose(rows["permutation/tvd mean"], by_seed[rows.setting])
    assert (rows["permutation/tvd seeds"] == 4).all()
    assert (rows["permutation/tvd t_low"] < rows["permutation/tvd mean"]).all()
    files = {path.name for path in (outputs / "figures").iterdir()}
    assert files == {"statistics.pdf", "statistics.svg", "statistics.png"}
    with pytest.raises(ConfigError, match="--statistic permutation/tau: no result has it; there are permutation/tvd"):
        main([str(store), "--statistic", "permutation/tau"])
    with pytest.raises(ConfigError, match="--statistic: name one"):
        main([str(store), "--statistic", "seed=0"])
    with pytest.raises(ConfigError, match="write protocol/statistic"):
        main([str(store), "--statistic", "tvd"])


def test_dots_are_means_with_the_wider_interval_from_the_top_in_the_order_of_the_table(store):
    problems = []
    grid = make_grid(read_cells(store))
    numbers = estimate(grid, Resampling(50), problems).numbers
    selection = select(numbers, grid, ["permutation/tvd"])
    (axes,) = draw_dots(selection).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == list(LEVEL)
    assert axes.yaxis_inverted()
    rows = numbers.filter(statistic="tvd").filter(pl.col("class").is_null())
    for position, row in enumerate(rows.iter_rows(named=True)):
        seeds, mean = axes.collections[2 * position : 2 * position + 2]
        assert len(seeds.get_offsets()) == 4
        np.testing.assert_allclose(mean.get_offsets(), [[row["mean"], position]])
        wide = max([(row["t_low"], row["t_high"]), (row["low"], row["high"])], key=lambda ends: ends[1] - ends[0])
        np.testing.assert_allclose(axes.lines[position].get_xdata(), wide)


def test_numbers_in_names_are_in_their_order(outputs, make_job):
    for size in (11, 9, 1):
        add_records(add_result(make_job("model=cnn", f"model.encoder.kernel_sizes=[{size}]")))
    names = [place.setting for place in make_grid(read_cells(outputs)).cells]
    assert names == [f"cnn model.encoder.kernel_sizes=[{size}]" for size in (1, 9, 11)]
