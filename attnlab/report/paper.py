"""Tables laid out as papers print them, with the published numbers beside ours where they were checked."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab.errors import ConfigError
from attnlab.report.frame import long_frame, over_seeds
from attnlab.report.grid import Grid
from attnlab.report.sheet import Column, Entry, Sheet, number, text
from attnlab.store.document import read_yaml

PAPERS = Path(__file__).parent / "papers"
"""A folder per paper, a file per table."""


@dataclass(frozen=True)
class PaperColumn:
    """One column of a paper's table.

    Attributes:
        name: Heading.
        protocol: That measures it.
        statistics: What an entry shows.
        model: Model that the column is about; None where every model has a row.
        attention: Its attention.
    """

    name: str
    protocol: str
    statistics: tuple[str, ...]
    model: str | None
    attention: str | None


@dataclass(frozen=True)
class Paper:
    """A paper's table.

    Attributes:
        name: As it is asked for, such as ``jain_wallace/correlation``.
        title: What it shows.
        origin: Paper and number of the table.
        source: Where published numbers were read.
        by_class: Whether there is a row per predicted class.
        columns: Its columns.
        form: Format of an entry's statistics.
        published: By data set: a row per class, or one, of an entry per column.
    """

    name: str
    title: str
    origin: str
    source: str
    by_class: bool
    columns: tuple[PaperColumn, ...]
    form: str
    published: Mapping[str, Any]

    @property
    def protocols(self) -> tuple[str, ...]:
        """Protocols that it needs."""
        return tuple(dict.fromkeys(column.protocol for column in self.columns))


def paper_names() -> list[str]:
    """Tables that can be asked for."""
    return sorted(path.relative_to(PAPERS).with_suffix("").as_posix() for path in PAPERS.glob("*/*.yaml"))


def read_paper(name: str) -> Paper:
    """A paper's table by its name.

    Raises:
        ConfigError: there is no such table.
    """
    if name not in paper_names():
        raise ConfigError(f"--table {name}: choose one of {', '.join(paper_names())}")
    content = read_yaml(PAPERS / f"{name}.yaml")
    columns = tuple(
        PaperColumn(
            column["name"],
            column["protocol"],
            tuple(column.get("statistics") or content["statistics"]),
            column.get("model"),
            column.get("attention"),
        )
        for column in content["columns"]
    )
    return Paper(
        name,
        content["title"],
        content["paper"],
        content.get("source", ""),
        content["by_class"],
        columns,
        content["form"],
        content.get("published", {}),
    )


Means = dict[tuple[str, str, str, str, str, str | None], float]
"""By data, split, setting, protocol, statistic and class."""

PUBLISHED_SPLIT = "test"
"""What published numbers are of."""


def paper_sheet(paper: Paper, grid: Grid, notes: Sequence[str] = ()) -> Sheet:
    """Our numbers, means over seeds, in the paper's layout.

    Raises:
        ConfigError: several settings fit a column.
    """
    numbers = over_seeds(long_frame(grid))
    names = ("data", "split", "setting", "protocol", "statistic", "class")
    means: Means = {row[:6]: row[6] for row in numbers.select(*names, "mean").iter_rows()}
    beside = {column.name for i, column in enumerate(paper.columns) if _has_published(paper, grid, i)}
    have = {cell.protocol for cell in grid.cells.values()}
    lacking = [f"no result here is by {protocol}" for protocol in paper.protocols if protocol not in have]
    seeds = Counter(place[:4] for place in grid.cells).values()
    fewest, most = min(seeds), max(seeds)
    counted = f"means over {fewest if fewest == most else f'{fewest} to {most}'} seed{'s' if most > 1 else ''}"
    origin = f"published: {paper.origin}, read from {paper.source}" if beside else f"layout: {paper.origin}"
    splits = sorted({place.split for place in grid.cells})
    rows = [row for split in splits for row in _rows(paper, _of_split(grid, split), split, means, beside)]
    sheet = Sheet(paper.title, _columns(paper, beside), rows, notes=[counted, *lacking, origin, *notes])
    return sheet.unless_all("split", PUBLISHED_SPLIT)


def _of_split(grid: Grid, split: str) -> Grid:
    return grid._replace(cells={place: cell for place, cell in grid.cells.items() if place.split == split})


def _has_published(paper: Paper, grid: Grid, column: int) -> bool:
    data = {place.data for place in grid.cells if place.split == PUBLISHED_SPLIT}
    return any(row[column] is not None for name in data & paper.published.keys() for row in paper.published[name])


def _columns(paper: Paper, beside: set[str]) -> list[Column]:
    columns = [Column("data", ("data",)), Column("split", ("split",))]
    if paper.columns[0].model is None:
        columns.append(Column("model", ("setting",)))
    if paper.by_class:
        columns.append(Column("class", ("class",)))
    for column in paper.columns:
        fields = tuple(f"{column.name}: {statistic}" for statistic in column.statistics)
        columns.append(Column(column.name, fields, right=True))
        if column.name in beside:
            columns.append(Column("published", tuple(f"{name}, published" for name in fields), right=True))
    return columns


def _rows(paper: Paper, grid: Grid, split: str, means: Means, beside: set[str]) -> Iterator[list[Entry]]:
    """Of one split: a row per data set, per model where columns are not about models, per class where that is asked."""
    by_model = paper.columns[0].model is None
    for data in sorted({place.data for place in grid.cells}):
        settings = sorted({place.setting for place in grid.cells if place.data == data}) if by_model else [None]
        for setting in settings:
            for position, name in enumerate(_classes(data, grid) if paper.by_class else [None]):
                row = [
                    text(data),
                    text(split),
                    *([text(setting)] if by_model else []),
                    *([text(name)] if paper.by_class else []),
                ]
                for i, column in enumerate(paper.columns):
                    fitting = setting or _setting(column, data, grid)
                    protocol = _protocol(column, data, fitting, grid)
                    ours = [means.get((data, split, fitting, protocol, s, name)) for s in column.statistics]
                    row.append(_entry(ours, paper.form))
                    if column.name in beside:
                        row.append(_entry(_published(paper, data, split, position, i), paper.form))
                yield row


def _published(paper: Paper, data: str, split: str, position: int, column: int) -> Sequence[float | None]:
    rows = paper.published.get(data, []) if split == PUBLISHED_SPLIT else []
    if position < len(rows) and rows[position][column] is not None:
        numbers: Sequence[float] = rows[position][column]
        return numbers
    return [None] * len(paper.columns[column].statistics)


def _entry(values: Sequence[float | None], form: str) -> Entry:
    if values[0] is None:
        return Entry(None, (None,) * len(values))
    if None in values:
        return Entry(number(values[0]).text, tuple(values))
    return Entry(form.format(*values), tuple(values))


def _setting(column: PaperColumn, data: str, grid: Grid) -> str:
    """Name of the setting that a column is about; empty where there is none."""
    fitting = {
        place.setting
        for place, cell in grid.cells.items()
        if place.data == data and (cell.model, cell.attention) == (column.model, column.attention)
    }
    return _only(fitting, f"column '{column.name}' of {data}")


def _protocol(column: PaperColumn, data: str, setting: str, grid: Grid) -> str:
    fitting = {
        place.protocol
        for place, cell in grid.cells.items()
        if (place.data, place.setting, cell.protocol) == (data, setting, column.protocol)
    }
    return _only(fitting, f"column '{column.name}' of {data}")


def _only(names: set[str], what: str) -> str:
    if len(names) > 1:
        raise ConfigError(f"{what} fits {', '.join(sorted(names))}: choose one by a filter, key=value")
    return names.pop() if names else ""


def _classes(data: str, grid: Grid) -> list[str]:
    """Names of the classes in the order of their numbers."""
    for place, cell in grid.cells.items():
        if place.data == data:
            return [str(name) for name in cell.specification["classes"]]
    return []
