"""Figures from records, by the description that the protocol gave."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from attnlab.report.spec import Band, BinnedViolin, Boxes, Curve, Figure, Histogram, Points, Scatter
from attnlab.report.statistics import place_means, values
from attnlab.report.style import INK, OTHER, colour, house_style
from attnlab.report.summary import measured_records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure as Drawing


MOST_CLASSES = 3
"""Predicted classes that are drawn apart; of more, all are drawn together, as in Jain & Wallace's code."""


MARKERS = ("s", "^", "P", "D")
"""Of what stands beside a curve; its own are circles."""


@dataclass(frozen=True)
class Beside:
    """What another protocol measured, to be drawn beside a curve.

    Attributes:
        points: What to draw.
        label: What it is called; the options too where several have its name.
        records: Of each result.
    """

    points: Points
    label: str
    records: Sequence[pa.Table]


def draw(records: pa.Table, figure: Figure, classes: Sequence[str], beside: Sequence[Beside] = ()) -> "Drawing":
    """Draw one figure of a result.

    Args:
        records: One row per instance; excluded ones are not drawn.
        figure: What to draw.
        classes: Names of the classes, in the order of their numbers.
        beside: What other protocols measured, for a curve.
    """
    from matplotlib.figure import Figure as Drawing

    with house_style():
        drawing = Drawing()
        draw_on(drawing.add_subplot(), records, figure, classes, beside)
    return drawing


def draw_on(
    axes: "Axes", records: pa.Table, figure: Figure, classes: Sequence[str], beside: Sequence[Beside] = ()
) -> None:
    """Draw one figure of a result on axes of a drawing, within :func:`attnlab.report.style.house_style`."""
    measured = measured_records(records)
    if isinstance(figure, Histogram):
        _histogram(axes, measured, figure, classes)
    elif isinstance(figure, BinnedViolin):
        _binned_violin(axes, measured, figure, classes)
    elif isinstance(figure, Boxes):
        _boxes(axes, measured, figure)
    elif isinstance(figure, Scatter):
        _scatter(axes, measured, figure, classes)
    elif isinstance(figure, Curve):
        _curve(axes, measured, figure)
        _points(axes, beside)
    else:
        _band(axes, measured, figure)


def save(drawing: "Drawing", folder: Path, name: str) -> None:
    """Write ``name.pdf`` and ``name.png``."""
    with house_style():
        # No creation date: the same records give the same bytes.
        drawing.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
        drawing.savefig(folder / f"{name}.png")


def _by_class(records: pa.Table, classes: Sequence[str]) -> Iterator[tuple[int, str, pa.Table]]:
    """Instances by predicted class, or all of them together where there are too many classes to tell apart."""
    predicted = sorted(records["prediction"].unique().to_pylist())
    if len(predicted) > MOST_CLASSES:
        yield 0, f"{len(predicted)} predicted classes", records
        return
    for c in predicted:
        yield c, classes[c], records.filter(pc.equal(records["prediction"], c))


def _histogram(axes: "Axes", records: pa.Table, figure: Histogram, classes: Sequence[str]) -> None:
    edges = np.linspace(*figure.range, figure.bins + 1)
    for c, name, rows in _by_class(records, classes):
        column = values(rows, figure.column)
        share = np.full(len(column), 1 / len(column))
        axes.hist(
            column,
            bins=edges.tolist(),
            weights=share,
            color=colour(c),
            alpha=0.6,
            edgecolor=INK,
            linewidth=0.5,
            label=name,
        )
    axes.set(xlim=figure.range, xlabel=figure.xlabel, ylabel="share of instances")
    axes.locator_params(axis="x", nbins=5)
    _legend(axes)


def _binned_violin(axes: "Axes", records: pa.Table, figure: BinnedViolin, classes: Sequence[str]) -> None:
    drawn = [(colour(c), name, rows, figure.column) for c, name, rows in _by_class(records, classes)]
    if figure.other is not None:
        drawn.append((OTHER, figure.other_label, records, figure.other))
    step = 1 / max(1, len(drawn))
    for order, (fill, name, rows, shown) in enumerate(drawn):
        column, place = values(rows, shown), values(rows, figure.by)
        bins = np.minimum((place * figure.bins).astype(int), figure.bins - 1)
        offset = (order + 0.5) * step - 0.5
        for b in range(figure.bins):
            _violin(axes, column[bins == b], b + 0.85 * offset, 0.8 * step, fill)
        axes.scatter([], [], color=fill, marker="s", label=name)
    edges = np.linspace(0, 1, figure.bins + 1)
    labels = [f"[{low:.2f}, {high:.2f})" for low, high in pairwise(edges)]
    labels[-1] = labels[-1][:-1] + "]"
    margin = 0.05 * (figure.range[1] - figure.range[0])
    axes.set_yticks(range(figure.bins), labels)
    axes.set(xlim=(figure.range[0] - margin, figure.range[1] + margin), ylim=(-0.6, figure.bins - 0.4))
    axes.set(xlabel=figure.xlabel, ylabel=figure.ylabel)
    _legend(axes)


def _violin(axes: "Axes", column: np.ndarray, position: float, width: float, fill: str) -> None:
    """One horizontal violin with its quartiles; points where there are too few values for a density."""
    if len(column) < 5 or np.ptp(column) < 1e-9:
        axes.scatter(column, np.full(len(column), position), s=6, color=fill, edgecolors=INK, linewidths=0.3)
        return
    parts = axes.violinplot([column], [position], orientation="horizontal", widths=width, showextrema=False)
    for body in cast("list[PolyCollection]", parts["bodies"]):
        body.set(facecolor=fill, edgecolor=INK, linewidth=0.6, alpha=0.6)
    low, middle, high = np.quantile(column, [0.25, 0.5, 0.75])
    axes.plot([low, high], [position, position], color=INK, linewidth=1)
    axes.plot([middle], [position], color="white", marker="o", markersize=3, markeredgecolor=INK, markeredgewidth=0.6)


def _band(axes: "Axes", records: pa.Table, figure: Band) -> None:
    value, low, high = (values(records, name) for name in (figure.column, figure.low, figure.high))
    order = np.argsort(value, kind="stable")
    position = np.arange(len(order))
    axes.vlines(position, low[order], high[order], color=colour(0), alpha=0.25, linewidth=0.5, rasterized=True)
    axes.plot(position, value[order], color=INK, linewidth=1, label="prediction")
    axes.fill_between([], [], color=colour(0), alpha=0.25, label="reachable by attention")
    axes.set(xlabel="instances, by prediction", ylabel=figure.ylabel, ylim=(-0.02, 1.02))
    _legend(axes)


def _boxes(axes: "Axes", records: pa.Table, figure: Boxes) -> None:
    columns = [records[name].drop_null().to_numpy() for name in figure.columns]
    drawn = axes.boxplot(columns, patch_artist=True, medianprops={"color": INK}, flierprops={"markersize": 2})
    for position, box in enumerate(drawn["boxes"]):
        box.set(facecolor=colour(position), alpha=0.6)
    counted = zip(figure.labels, columns, strict=True)
    axes.set_xticks(range(1, len(columns) + 1), [f"{label}\nn = {len(column)}" for label, column in counted])
    axes.set(ylabel=figure.ylabel, ylim=figure.range)


def _scatter(axes: "Axes", records: pa.Table, figure: Scatter, classes: Sequence[str]) -> None:
    for c, name, rows in _by_class(records, classes):
        points = values(rows, figure.column), values(rows, figure.by)
        axes.scatter(*points, s=6, color=colour(c), alpha=0.5, linewidths=0, label=name, rasterized=True)
    left, right, low, high = figure.ranges
    wide, tall = 0.05 * (right - left), 0.05 * (high - low)
    axes.set(xlim=(left - wide, right + wide), ylim=(low - tall, high + tall))
    axes.set(xlabel=figure.xlabel, ylabel=figure.ylabel)
    _legend(axes)


def _curve(axes: "Axes", records: pa.Table, figure: Curve) -> None:
    if records.num_rows:
        x, y = place_means(records, figure.column), place_means(records, figure.by)
        order = np.argsort(x, kind="stable")
        axes.plot(x[order], y[order], color=colour(0), marker="o", markersize=4, label=figure.label)
        for place, label in enumerate(figure.labels):
            axes.annotate(label, (x[place], y[place]), xytext=(3, 3), textcoords="offset points", fontsize=7)
    margin = 0.05 * (figure.range[1] - figure.range[0])
    axes.set(xlim=(figure.range[0] - margin, figure.range[1] + margin), xlabel=figure.xlabel, ylabel=figure.ylabel)
    axes.set_ylim(bottom=0)


def _points(axes: "Axes", beside: Sequence[Beside]) -> None:
    for order, one in enumerate(beside):
        measured = [table for table in map(measured_records, one.records) if table.num_rows]
        x = [mean for table in measured for mean in _means(table, one.points.column)]
        y = [mean * one.points.scale for table in measured for mean in _means(table, one.points.by)]
        marker, fill = MARKERS[order % len(MARKERS)], colour(order + 1)
        axes.scatter(x, y, s=24, marker=marker, color=fill, edgecolors=INK, linewidths=0.4, label=one.label)
    if beside:
        axes.autoscale(axis="y")
        axes.set_ylim(bottom=0)
        _legend(axes)


def _means(records: pa.Table, column: str) -> list[float]:
    """Mean over instances of a column, or at each place of a column of lists."""
    if pa.types.is_list(records.schema.field(column).type):
        return list(map(float, place_means(records, column)))
    return [float(values(records, column).mean())]


def _legend(axes: "Axes") -> None:
    """Above the axes, where no data can be under it."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, fontsize="small", borderaxespad=0.2)
