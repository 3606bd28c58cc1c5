"""The aggregate of a sweep or a store as one run: tables over seeds, and figures of all seeds together."""

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnlab.report.cells import ResultCell
from attnlab.report.command import Chosen, exclusions
from attnlab.report.estimates import estimate, setting_pairs
from attnlab.report.grid import make_grid
from attnlab.report.holes import describe, find_holes
from attnlab.report.matrix import matrix_sheet
from attnlab.report.pooled import write_figures
from attnlab.report.resampling import Resampling
from attnlab.report.sheet import Sheet
from attnlab.report.sheets import comparisons_sheet, numbers_sheet
from attnlab.wandb.content import Content, logged_name
from attnlab.wandb.identity import Identity

JOB_TYPE = "report"

LEVEL = 0.95
"""Of intervals, as ``attnlab report`` has it."""

REPLICATES = 1000
"""Of the bootstrap, as ``attnlab report`` has it."""


@dataclass(frozen=True)
class Aggregate:
    """What is shown of many results together.

    Attributes:
        identity: Of the run.
        sheets: Tables by their keys in the run, such as ``report/numbers``.
        figures: PNG files by their keys.
        counts: Plain numbers by their keys.
    """

    identity: Identity
    sheets: Mapping[str, Sheet]
    figures: Mapping[str, Path]
    counts: Mapping[str, int]

    def content(self) -> Content:
        """Tables and figures as W&B takes them."""
        import wandb

        tables = {key: wandb.Table(columns=_names(sheet), data=_rows(sheet)) for key, sheet in self.sheets.items()}
        images = {key: wandb.Image(str(path)) for key, path in self.figures.items()}
        return Content(({**self.counts, **tables, **images},), {})


def make_aggregate(name: str, place: Path, chosen: Chosen, figures: Path, problems: list[str]) -> Aggregate:
    """Means over seeds with intervals, comparisons of every two models, the matrix of protocols, and figures.

    Args:
        name: Of the sweep or store.
        place: Its folder.
        chosen: Its results, and what it lacks.
        figures: Folder that is filled anew with the figures.
        problems: Gets a line about each result that cannot be read.
    """
    cells, grid = chosen.cells, make_grid(*chosen)
    problems += grid.doubles
    holes = find_holes(place, grid)
    found = estimate(grid, Resampling(REPLICATES), problems, setting_pairs, LEVEL)
    notes = [*exclusions(grid), *([describe(holes)] if holes else [])]
    sheets = {"numbers": numbers_sheet(found.numbers, LEVEL, notes, holes), "protocols": matrix_sheet(grid, problems)}
    if not found.comparisons.is_empty():
        sheets["comparisons"] = comparisons_sheet(found.comparisons, LEVEL)
    shutil.rmtree(figures, ignore_errors=True)
    write_figures(grid, figures, problems)
    drawn = {str(path.relative_to(figures).with_suffix("").as_posix()): path for path in sorted(figures.rglob("*.png"))}
    counts = {"results": len(cells), "models": len({cell.model_key for cell in cells}), "missing": len(holes)}
    return Aggregate(
        identify_report(name, cells),
        {logged_name(JOB_TYPE, key): sheet for key, sheet in sheets.items()},
        {logged_name(JOB_TYPE, key): path for key, path in drawn.items()},
        {logged_name(JOB_TYPE, key): count for key, count in counts.items()},
    )


def identify_report(name: str, cells: Sequence[ResultCell]) -> Identity:
    """The run of a report; its id tells the place and exactly these results apart from all else."""
    text = "\n".join([name, *sorted(cell.key for cell in cells)])
    key = hashlib.sha256(text.encode()).hexdigest()[:20]
    config = {"place": name, "level": LEVEL, "replicates": REPLICATES}
    return Identity(key, f"{JOB_TYPE}-{name}", JOB_TYPE, f"{name}-{JOB_TYPE}", (JOB_TYPE,), config)


def _names(sheet: Sheet) -> list[str | int]:
    return [name for column in sheet.columns for name in column.fields]


def _rows(sheet: Sheet) -> list[Iterable[object]]:
    return [[value for entry in row for value in entry.values] for row in sheet.rows]
