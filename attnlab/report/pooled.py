"""Figures of the records of all seeds together, and a page per data set and model with all protocols side by side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from attnlab.errors import StoreError
from attnlab.report.cells import ResultCell
from attnlab.report.figures import draw, draw_on
from attnlab.report.grid import Grid, by_setting
from attnlab.report.spec import Curve, Figure, Statistic, from_dict
from attnlab.report.style import house_style
from attnlab.results import read_records

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ACROSS = 3
"""Figures in a row of a page."""

ENDINGS = ("pdf", "svg", "png")


@dataclass(frozen=True)
class Pooled:
    """A figure and what it is drawn from.

    Attributes:
        protocol: That declared it.
        figure: What to draw.
        records: Of all seeds, one below the other.
        classes: Names of the classes.
        seeds: How many.
    """

    protocol: str
    figure: Figure
    records: pa.Table
    classes: Sequence[str]
    seeds: int


def write_figures(grid: Grid, folder: Path, problems: list[str]) -> int:
    """Redraw every figure over all seeds, and a page per data set and setting, as PDF, SVG and PNG.

    Args:
        grid: Results in their places.
        folder: Gets ``DATA/SETTING/PROTOCOL-FIGURE`` and ``DATA/SETTING/page``, of the files' endings.
        problems: Gets a line about each result or figure that cannot be drawn.

    Returns:
        How many drawings there are.
    """
    splits = {place.split for place in grid.cells}
    count = 0
    for (data, setting, split), protocols in by_setting(grid).items():
        target = folder / file_name(data) / file_name(setting if len(splits) == 1 else f"{setting} {split}")
        target.mkdir(parents=True, exist_ok=True)
        drawn = [p for protocol, cells in protocols.items() for p in _pooled(protocol, cells, problems)]
        for pooled in drawn:
            drawing = draw(pooled.records, pooled.figure, pooled.classes)
            _save(drawing, target / file_name(f"{pooled.protocol}-{pooled.figure.name}"))
        if drawn:
            _save(page(f"{data}, {setting}", drawn), target / "page")
        count += len(drawn) + bool(drawn)
    return count


def page(title: str, drawn: Sequence[Pooled]) -> "Drawing":
    """All figures of one data set and setting."""
    from matplotlib.figure import Figure as Drawing

    across = min(ACROSS, len(drawn))
    down = -(-len(drawn) // across)
    with house_style():
        drawing = Drawing(figsize=(4.2 * across, 3.2 * down + 0.4))
        axes = list(drawing.subplots(down, across, squeeze=False).flat)
        for place, pooled in zip(axes, drawn, strict=False):
            draw_on(place, pooled.records, pooled.figure, pooled.classes)
            seeds = f"{pooled.seeds} seed{'' if pooled.seeds == 1 else 's'}"
            place.set_title(f"{pooled.protocol} ({seeds})", loc="left", fontsize="medium", pad=18)
        for empty in axes[len(drawn) :]:
            empty.set_axis_off()
        drawing.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return drawing


def _pooled(protocol: str, cells: Sequence[ResultCell], problems: list[str]) -> Iterator[Pooled]:
    specification = None
    tables = []
    for cell in cells:
        try:
            specification = specification or cell.specification
            tables.append(_drawable(read_records(cell.folder), _lists(specification)))
        except StoreError as error:
            problems.append(str(error))
    if specification is None or not tables:
        return
    try:
        figures = [from_dict(content) for content in specification["figures"]]
        records = pa.concat_tables(tables, promote_options="permissive")
        classes = specification["classes"]
    except (KeyError, TypeError, ValueError, pa.ArrowException) as error:
        problems.append(f"{protocol}: figures cannot be drawn ({error})")
        return
    for figure in figures:
        if not isinstance(figure, Statistic):
            yield Pooled(protocol, figure, records, classes, len(tables))


def _lists(specification: Mapping[str, Any]) -> set[str]:
    """Columns of lists that are drawn: those of curves."""
    curves = [content for content in specification.get("figures", ()) if content.get("kind") == Curve.__name__]
    return {content[name] for content in curves for name in ("column", "by")}


def _drawable(table: pa.Table, lists: Collection[str]) -> pa.Table:
    """Without lists per token, which are not drawn and would fill the memory; ``lists`` are kept.

    A column that is empty in one seed has another type there than in the others; the type of nothing fits all.
    """
    kept = {}
    for name in table.column_names:
        column = table[name]
        if name in lists or not pa.types.is_list(column.type):
            kept[name] = pa.nulls(table.num_rows) if column.null_count == table.num_rows else column
    return pa.table(kept)


def _save(drawing: "Drawing", path: Path) -> None:
    fixed = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": None}
    with house_style():
        for ending in ENDINGS:
            drawing.savefig(path.with_name(f"{path.name}.{ending}"), metadata=fixed[ending])


def file_name(text: str) -> str:
    """Text as the name of a file: what a shell or a file system may trip over becomes a dash."""
    return "".join(c if c.isalnum() or c in "._=-" else "-" for c in text)
