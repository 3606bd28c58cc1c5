"""Statistics of every model as dots with intervals, a panel each."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab.report.pooled import save_all
from attnlab.report.selection import Selection, Which, wider
from attnlab.report.style import INK, colour, house_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

ACROSS = 4
"""Panels in a row."""


def write_dots(selection: Selection, folder: Path) -> None:
    """Write ``statistics``, as PDF, SVG and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    save_all(draw_dots(selection), folder / "statistics")


def draw_dots(selection: Selection) -> "Drawing":
    """A line per data set and setting, from the top in the order of the table; each seed's value is a small dot."""
    from matplotlib.figure import Figure as Drawing

    across = min(ACROSS, len(selection.columns))
    down = -(-len(selection.columns) // across)
    with house_style():
        height = 0.9 + 0.24 * len(selection.rows)
        drawing = Drawing(figsize=(1.6 + 2.3 * across, height * down))
        panels = list(drawing.subplots(down, across, squeeze=False, sharey=True).flat)
        for axes, which in zip(panels, selection.columns, strict=False):
            _panel(axes, selection, which, selection.labels)
        for empty in panels[len(selection.columns) :]:
            empty.set_axis_off()
    return drawing


def _panel(axes: "Axes", selection: Selection, which: Which, labels: Sequence[str]) -> None:
    for position, (subject, found) in enumerate(selection.rows.items()):
        values = selection.by_seed[subject].get(which, [])
        if not values:
            continue
        axes.scatter(values, [position] * len(values), s=8, color=colour(0), alpha=0.4, linewidths=0)
        ends = wider(found[which])
        if ends:
            axes.plot(ends, [position, position], color=INK, linewidth=1)
        axes.scatter(found[which]["mean"], position, s=22, color=colour(0), edgecolors=INK, linewidths=0.5, zorder=3)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="y", color=INK, alpha=0.1)
    axes.set_xlabel(which.statistic)
    axes.set_title(which.protocol, loc="left", fontsize="medium")
    axes.locator_params(axis="x", nbins=5)
