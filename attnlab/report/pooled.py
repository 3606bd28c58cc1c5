"""Figures of the records of all seeds together, and a page per data set and model with all protocols side by side."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from attnlab.errors import StoreError
from attnlab.inspect.text import file_name
from attnlab.report.cells import ResultCell
from attnlab.report.figures import Beside, draw, draw_on
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
        beside: What other protocols measured, on its axes.
    """

    protocol: str
    figure: Figure
    records: pa.Table
    classes: Sequence[str]
    seeds: int
    beside: Sequence[Beside] = ()


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
        drawn = list(pooled_figures(protocols, problems))
        for pooled in drawn:
            drawing = draw(pooled.records, pooled.figure, pooled.classes, pooled.beside)
            save_all(drawing, target / file_name(f"{pooled.protocol}-{pooled.figure.name}"))
        if drawn:
            save_all(page(f"{data}, {setting}", drawn), target / "page")
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
            draw_on(place, pooled.records, pooled.figure, pooled.classes, pooled.beside)
            seeds = f"{pooled.seeds} seed{'' if pooled.seeds == 1 else 's'}"
            place.set_title(f"{pooled.protocol} ({seeds})", loc="left", fontsize="medium", pad=18)
        for empty in axes[len(drawn) :]:
            empty.set_axis_off()
        drawing.suptitle(title, x=0.01, ha="left", fontweight="bold")
    return drawing


@dataclass(frozen=True)
class _Described:
    """A protocol's results and what they are drawn as.

    Attributes:
        name: Of the protocol in the configuration.
        options: What tells it from others of that name.
        cells: Of all seeds.
        figures: What to draw.
        classes: Names of the classes.
    """

    name: str
    options: str
    cells: Sequence[ResultCell]
    figures: Sequence[Figure]
    classes: Sequence[str]


def pooled_figures(protocols: Mapping[str, Sequence[ResultCell]], problems: list[str]) -> Iterator[Pooled]:
    """Every figure of one data set and setting.

    Args:
        protocols: Results of all seeds by protocol.
        problems: Gets a line about each result or figure that cannot be drawn.
    """
    described = {
        protocol: one for protocol, cells in protocols.items() if (one := _describe(cells, protocol, problems))
    }
    lists = {name for one in described.values() for figure in one.figures for name in _lists(figure)}
    tables = {protocol: list(_tables(one.cells, lists, problems)) for protocol, one in described.items()}
    for protocol, one in described.items():
        if not tables[protocol]:
            continue
        try:
            records = pa.concat_tables(tables[protocol], promote_options="permissive")
        except pa.ArrowException as error:
            problems.append(f"{protocol}: figures cannot be drawn ({error})")
            continue
        for figure in one.figures:
            beside = list(_beside(figure, described, tables))
            yield Pooled(protocol, figure, records, one.classes, len(tables[protocol]), beside)


def _describe(cells: Sequence[ResultCell], protocol: str, problems: list[str]) -> _Described | None:
    """As the first result that can be read describes it."""
    for cell in cells:
        try:
            specification = cell.specification
            found = [from_dict(content) for content in specification["figures"]]
            figures = [figure for figure in found if not isinstance(figure, Statistic)]
            options = protocol.removeprefix(cell.protocol).strip()
            return _Described(cell.protocol, options, cells, figures, specification["classes"])
        except StoreError as error:
            problems.append(str(error))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(f"{protocol}: figures cannot be drawn ({error})")
    return None


def _lists(figure: Figure) -> Iterator[str]:
    """Columns that are drawn and may be lists: those of curves, and of what is beside them."""
    if isinstance(figure, Curve):
        yield from (figure.column, figure.by)
        for points in figure.beside:
            yield from (points.column, points.by)


def _tables(cells: Sequence[ResultCell], lists: Collection[str], problems: list[str]) -> Iterator[pa.Table]:
    for cell in cells:
        try:
            yield _drawable(read_records(cell.folder), lists)
        except StoreError as error:
            problems.append(str(error))


def _beside(
    figure: Figure, described: Mapping[str, _Described], tables: Mapping[str, Sequence[pa.Table]]
) -> Iterator[Beside]:
    for points in figure.beside if isinstance(figure, Curve) else ():
        for protocol, other in described.items():
            if other.name == points.protocol and tables[protocol]:
                yield Beside(points, " ".join(filter(None, (points.label, other.options))), tables[protocol])


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


def save_all(drawing: "Drawing", path: Path) -> None:
    """Write a drawing as PDF, SVG and PNG: ``path`` is without the ending."""
    fixed = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": None}
    with house_style():
        for ending in ENDINGS:
            drawing.savefig(path.with_name(f"{path.name}.{ending}"), metadata=fixed[ending])
