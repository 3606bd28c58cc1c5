"""What every protocol says of every model, as one table."""

from attnlab.report.cells import ResultCell
from attnlab.report.grid import Grid, by_setting
from attnlab.report.headline import headline
from attnlab.report.sheet import USUAL_SPLIT, Column, Entry, Sheet, text


def matrix_sheet(grid: Grid, problems: list[str]) -> Sheet:
    """One row per data set, setting and split, one column per protocol: its headline statistic, mean over seeds.

    Args:
        grid: Results in their places.
        problems: Gets a line about each result whose specification is damaged.
    """
    measured = by_setting(grid)
    protocols = sorted({protocol for row in measured.values() for protocol in row})
    rows = [
        [*map(text, names), *(_entry(row.get(protocol, []), problems) for protocol in protocols)]
        for names, row in measured.items()
    ]
    names = [Column("data", ("data",)), Column("model", ("setting",)), Column("split", ("split",))]
    columns = [Column(name, (name, f"{name} statistic", f"{name} seeds"), right=True) for name in protocols]
    sheet = Sheet("headline statistic of each protocol, mean over seeds", [*names, *columns], rows)
    return sheet.unless_all("split", USUAL_SPLIT)


def _entry(cells: list[ResultCell], problems: list[str]) -> Entry:
    glance = headline(cells, problems) if cells else None
    if glance is None or glance.value is None:
        return Entry(None, (None, glance.name if glance else None, len(cells)))
    seeds = f"{len(cells)} seed{'' if len(cells) == 1 else 's'}"
    return Entry(f"{glance.name} {glance.value:.4f} ({seeds})", (glance.value, glance.name, len(cells)))
