import io
import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import torch
from rich.console import Console
from scipy import stats

from attnlab.metrics.classification import classification_metrics
from attnlab.report.spec import Statistic
from attnlab.report.statistics import average_ranks
from attnlab.report.summary import summarise
from attnlab.report.table import result_table


def _kept(records):
    return records.to_pandas().query("excluded.isna()")


def test_statistics_equal_pandas_over_measured_instances_by_class(records):
    statistics = [
        Statistic("mean", "tau"),
        Statistic("std", "tau", how="std"),
        Statistic("median", "tau", how="median"),
        Statistic("low", "tau", how="share", at_most=-0.2),
        Statistic("high", "tau", how="share", at_least=0.4),
    ]
    summary = summarise(records, statistics, ["negative", "positive"])
    kept = _kept(records)
    for group, rows in {
        "all": kept,
        "negative": kept[kept.prediction == 0],
        "positive": kept[kept.prediction == 1],
    }.items():
        expected = {
            "mean": rows.tau.mean(),
            "std": rows.tau.std(ddof=0),
            "median": rows.tau.median(),
            "low": (rows.tau <= -0.2).mean(),
            "high": (rows.tau >= 0.4).mean(),
        }
        for name, value in expected.items():
            found = summary["statistics"][name]
            assert (found["all"] if group == "all" else found["by_prediction"][group]) == pytest.approx(value)
    assert summary["n"] == 200
    assert summary["measured"] == 180
    assert summary["excluded"] == {"constant scores": 20}


def test_a_value_for_each_class_is_summarised_over_all_and_for_each():
    records = pa.table(
        {
            "prediction": [0, 1, 1, 0],
            "excluded": [None, None, None, "too short"],
            "some": [True, True, False, True],
            "a": [[0.5, -0.25], [-0.75, 1.0], [9.0, 9.0], [None, None]],
            "b": [[0.25, 0.25], [0.75, -0.5], [0.0, 0.0], [None, None]],
        }
    )
    size = Statistic("size", "a", how="magnitude", by_class=True, where="some")
    more = Statistic("more", "a", how="larger", by_class=True, other="b", where="some")
    found = summarise(records, [size, more], ["no", "yes"])["statistics"]
    assert found["size"]["n"] == 2
    assert (found["size"]["all"], found["size"]["by_class"]) == (0.625, {"no": 0.625, "yes": 0.625})
    # Equal magnitudes count half.
    assert (found["more"]["all"], found["more"]["by_class"]) == (0.75, {"no": 0.75, "yes": 0.75})
    assert found["more"]["by_prediction"] == {}


def test_task_metrics_equal_brute_force(records):
    statistics = [
        Statistic(how, column, how=how, by_prediction=False)
        for how, column in (("accuracy", "prediction"), ("f1", "prediction"), ("auc", "probabilities"))
    ]
    found = {k: v["all"] for k, v in summarise(records, statistics, ["a", "b"])["statistics"].items()}
    kept = _kept(records)
    score = np.array([p[1] for p in kept.probabilities])
    positive, negative = score[kept.label == 1], score[kept.label == 0]
    pairs = (positive[:, None] > negative).mean() + 0.5 * (positive[:, None] == negative).mean()
    hits = ((kept.prediction == 1) & (kept.label == 1)).sum()
    assert found["accuracy"] == pytest.approx((kept.prediction == kept.label).mean())
    assert found["f1"] == pytest.approx(2 * hits / ((kept.prediction == 1).sum() + (kept.label == 1).sum()))
    assert found["auc"] == pytest.approx(pairs)


def test_ranks_are_those_of_scipy_where_values_are_equal_too():
    rng = np.random.default_rng(4)
    for column in (rng.integers(0, 9, 50).astype(float), rng.normal(size=50), np.array([2.0]), np.empty(0)):
        np.testing.assert_array_equal(average_ranks(column), stats.rankdata(column))


def test_metrics_of_several_classes_are_means_over_classes():
    rng = np.random.default_rng(1)
    scores = rng.dirichlet(np.ones(3), 90)
    label, predicted = rng.integers(0, 3, 90), scores.argmax(1)
    records = pa.table(
        {"label": label, "prediction": predicted, "probabilities": scores.tolist(), "excluded": pa.nulls(90)}
    )
    statistics = [Statistic("f1", "prediction", how="f1"), Statistic("auc", "probabilities", how="auc")]
    found = summarise(records, statistics, ["a", "b", "c"])["statistics"]
    f1, auc = [], []
    for c in range(3):
        hits = ((predicted == c) & (label == c)).sum()
        f1.append(2 * hits / ((predicted == c).sum() + (label == c).sum()))
        auc.append((scores[label == c, c][:, None] > scores[label != c, c]).mean())
    assert found["f1"]["all"] == pytest.approx(np.mean(f1))
    assert found["auc"]["all"] == pytest.approx(np.mean(auc))


@pytest.mark.filterwarnings("ignore:No positive samples")
def test_classes_that_do_not_occur_are_no_part_of_the_area():
    rng = np.random.default_rng(2)
    scores, label = torch.from_numpy(rng.dirichlet(np.ones(4), 40)), torch.from_numpy(rng.choice([0, 3], 40))
    excluded = pa.nulls(40, pa.string())
    columns = {"label": label.numpy(), "prediction": scores.argmax(1).numpy(), "probabilities": scores.tolist()}
    records = pa.table({**columns, "excluded": excluded})
    areas = [roc_auc(scores[:, c], label == c) for c in (0, 3)]
    statistic = Statistic("auc", "probabilities", how="auc")
    assert summarise(records, [statistic], list("abcd"))["statistics"]["auc"]["all"] == pytest.approx(np.mean(areas))
    metrics = classification_metrics(4, "")
    for rows in (slice(0, 15), slice(15, 40)):
        metrics.update(scores[rows], label[rows])
    assert metrics.compute()["auroc"].item() == pytest.approx(np.mean(areas))


def roc_auc(scores, positive):
    return (scores[positive][:, None] > scores[~positive]).double().mean().item()


def test_a_measured_instance_without_a_value_is_an_error(records):
    broken = records.set_column(records.schema.get_field_index("excluded"), "excluded", pa.nulls(200, pa.string()))
    with pytest.raises(ValueError, match="tau: 20 measured instances have no value"):
        summarise(broken, [Statistic("mean", "tau")], ["a", "b"])


def test_nothing_measured_gives_nan_and_counts(records):
    none = records.filter(pc.is_valid(records["excluded"]))
    summary = summarise(none, [Statistic("mean", "tau")], ["a", "b"])
    assert np.isnan(summary["statistics"]["mean"]["all"])
    assert summary["measured"] == 0


def test_table_shows_directions_classes_and_exclusions(records):
    statistics = [
        Statistic("tau", "tau", description="rank"),
        Statistic("accuracy", "prediction", how="accuracy", higher_is_better=True, by_prediction=False),
    ]
    summary = summarise(records, statistics, ["negative", "positive"])
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(result_table({"gradient": summary}, width=140))
    text = console.export_text()
    for part in ("accuracy ↑", "negative", "180", "rank", "gradient: 20 of 200 not measured, constant scores"):
        assert part in text
    assert f"{summary['statistics']['tau']['by_prediction']['positive']:.4f}" in text


def test_metrics_of_two_models_and_of_one_place_in_lists():
    label, own, other = [0, 0, 1, 1], [0, 1, 1, 0], [0, 0, 1, 0]
    probabilities = [[1 - p, p] for p in (0.1, 0.6, 0.9, 0.4)]
    better = [[1 - p, p] for p in (0.1, 0.2, 0.9, 0.4)]
    records = pa.table(
        {
            "label": label,
            "prediction": own,
            "prediction_b": other,
            "probabilities": probabilities,
            "probabilities_b": better,
            "listed": [[1, o] for o in own],
            "excluded": pa.array([None] * 4, pa.string()),
        }
    )
    statistics = [
        Statistic("accuracy", "prediction_b", "accuracy_gain", other="prediction", by_prediction=False),
        Statistic("f1", "prediction_b", "f1_gain", other="prediction", by_prediction=False),
        Statistic("auc", "probabilities_b", "auc_gain", other="probabilities", by_prediction=False),
        Statistic("each", "listed", "f1", by_class=True, element=1),
    ]
    found = summarise(records, statistics, ["no", "yes"])["statistics"]
    assert found["accuracy"]["all"] == pytest.approx(0.25)
    assert found["f1"]["all"] == pytest.approx(2 / 3 - 0.5)
    assert found["auc"]["all"] == pytest.approx(0.25)
    assert found["each"]["all"] == pytest.approx(0.5)
    assert found["each"]["by_class"] == {"no": pytest.approx(0.5), "yes": pytest.approx(0.5)}


def test_area_is_that_of_the_curve_through_the_origin_level_beyond_its_end():
    records = pa.table(
        {
            "jsd": [[math.log(2) / 2, 0.0]] * 2,
            "tvd": [[0.3, 0.1], [0.1, 0.1]],
            "prediction": [0, 1],
            "excluded": pa.array([None] * 2, pa.string()),
        }
    )
    area = Statistic("area", "tvd", "curve_area", other="jsd", by_prediction=False)
    found = summarise(records, [area], ["no", "yes"])["statistics"]["area"]["all"]
    assert found == pytest.approx((0.1 + 0.2) / 2 / 2 + 0.2 / 2)
