"""``attnlab report``: results to tables and figures, without running anything."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from attnlab.errors import ConfigError
from attnlab.inspect.text import warn
from attnlab.report.cells import Asked, ResultCell, find_place, matching_cells, read_cells, read_missing
from attnlab.report.estimates import Pairs, chosen_pairs, estimate, setting_pairs
from attnlab.report.formats import ENDINGS, FORMATS, to_terminal
from attnlab.report.grid import Grid, Place, make_grid
from attnlab.report.holes import describe, find_holes, refusal
from attnlab.report.paper import paper_names, paper_sheet, read_paper
from attnlab.report.resampling import Resampling
from attnlab.report.samples import Name
from attnlab.report.selection import Selection, protocols_of, select, selection_sheet
from attnlab.report.sheet import Sheet
from attnlab.report.sheets import comparisons_sheet, numbers_sheet


def main(arguments: Sequence[str]) -> int:
    """Aggregate results and write what is asked for."""
    options = _options(arguments)
    place, filters = _split(options.place)
    problems: list[str] = []
    paper = read_paper(options.table) if options.table else None
    wanted = paper.protocols if paper else protocols_of(options.statistic) if options.statistic else None
    chosen = choose(place, filters, problems, wanted)
    if options.html:
        return _write_site(chosen.cells, options.html, problems)
    grid = make_grid(*chosen)
    problems += grid.doubles
    holes = find_holes(find_place(place), grid)
    if holes and not options.incomplete:
        warn(problems)
        raise ConfigError(refusal(holes))
    if options.figures and not options.statistic:
        from attnlab.report.pooled import write_figures

        count = write_figures(grid, options.figures, problems)
        print(f"{count} figures in {options.figures}", file=sys.stderr)
    notes = [*exclusions(grid), *([describe(holes)] if holes else [])]
    sheet = paper_sheet(paper, grid, notes) if paper else _estimates(options, grid, holes, notes, problems)
    text = write(sheet, options)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    warn(problems)
    return 0


def _write_site(cells: Sequence[ResultCell], folder: Path, problems: list[str]) -> int:
    from attnlab.report.site import write_site

    write_site(cells, folder, problems)
    warn(problems)
    print(folder / "index.html")
    return 0


def write(sheet: Sheet, options: argparse.Namespace) -> str:
    """A table in the format that was asked for, or that the file's name asks for."""
    form = options.format or (ENDINGS.get(options.output.suffix, "terminal") if options.output else "terminal")
    if form == "terminal":
        return to_terminal(sheet, colour=not options.output and sys.stdout.isatty())
    return FORMATS[form](sheet)


def _estimates(
    options: argparse.Namespace, grid: Grid, holes: Sequence[Place], notes: Sequence[str], problems: list[str]
) -> Sheet:
    if not 0 < options.level < 1 or options.replicates < 1:
        raise ConfigError("--level is between 0 and 1, --replicates at least 1")
    pairs = _pairs(options.compare, grid)
    found = estimate(grid, Resampling(options.replicates, options.seed), problems, pairs, options.level)
    if options.statistic:
        return _selected(options, select(found.numbers, grid, options.statistic), notes)
    if options.compare is None:
        return numbers_sheet(found.numbers, options.level, notes, holes)
    return comparisons_sheet(found.comparisons, options.level, notes)


def _selected(options: argparse.Namespace, selection: Selection, notes: Sequence[str]) -> Sheet:
    if options.figures:
        from attnlab.report.dots import write_dots

        write_dots(selection, options.figures)
    return selection_sheet(selection, options.level, notes)


def _pairs(compared: Sequence[str] | None, grid: Grid) -> Pairs | None:
    if compared is None:
        return None
    if not compared:
        return setting_pairs
    if len(compared) != 2:
        raise ConfigError(f"--compare {' '.join(compared)}: name two, or none for every pair of models")
    known = (
        Name(place.setting, place.protocol, statistic)
        for place, cell in grid.cells.items()
        for statistic in cell.summary["statistics"]
    )
    return chosen_pairs(compared[0], compared[1], known)


def exclusions(grid: Grid) -> Iterator[str]:
    """A line per protocol and reason: how many instances could not be measured, over all cells."""
    counts: Counter[tuple[str, str]] = Counter()
    totals: Counter[str] = Counter()
    for place, cell in grid.cells.items():
        totals[place.protocol] += cell.summary["n"]
        for reason, count in cell.summary["excluded"].items():
            counts[place.protocol, reason] += count
    for (protocol, reason), count in sorted(counts.items()):
        yield f"{protocol}: {count} of {totals[protocol]} not measured, {reason}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlab report", description="Tables with intervals, tests and figures from results that are there."
    )
    parser.add_argument(
        "place",
        nargs="*",
        metavar="SWEEP|STORE|key=value",
        help="a sweep or a store (default: outputs/store), and filters such as data=movie seed=0,1",
    )
    parser.add_argument(
        "--compare",
        nargs="*",
        metavar="A B",
        help="test model A against B, or protocol/statistic A against B; every two models where none is named",
    )
    parser.add_argument(
        "--statistic",
        nargs="+",
        metavar="PROTOCOL/STATISTIC",
        help="these alone: a table with a column for each, and with --figures one figure of all models",
    )
    parser.add_argument("--table", metavar="NAME", help=f"layout of a paper: {', '.join(paper_names())}")
    parser.add_argument("--format", choices=tuple(FORMATS))
    parser.add_argument("--output", type=Path, help="file to write to; its ending (.md .csv .tex) names the format")
    parser.add_argument(
        "--html", type=Path, metavar="DIR", help="write a web site that needs no network, and no tables"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="draw the figures of all seeds together, and pages")
    parser.add_argument("--incomplete", action="store_true", help="mark what is missing from the grid, do not refuse")
    parser.add_argument("--replicates", type=int, default=1000, help="of the bootstrap (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap (default: 0)")
    parser.add_argument("--level", type=float, default=0.95, help="of intervals (default: 0.95)")
    return parser


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    options = _parser().parse_intermixed_args(arguments)
    if options.statistic and (options.table or options.compare is not None):
        raise ConfigError("--statistic makes a table of its own: leave --table and --compare out")
    words = options.statistic or []
    options.place += filter(_is_filter, words)  # those that follow are taken for statistics
    options.statistic = [word for word in words if not _is_filter(word)]
    if words and not options.statistic:
        raise ConfigError("--statistic: name one, such as permutation/tvd")
    return options


def _is_filter(word: str) -> bool:
    """Whether a word after statistics is key=value: options of a protocol stand before the statistic's name."""
    return "=" in word.rpartition("/")[2]


def _split(words: Sequence[str]) -> tuple[str | None, list[str]]:
    places = [word for word in words if "=" not in word or Path(word).exists()]
    if len(places) > 1:
        raise ConfigError(f"{' '.join(places)}: name one sweep or store")
    return (places[0] if places else None), [word for word in words if word not in places]


class Chosen(NamedTuple):
    """What a report is about.

    Attributes:
        cells: Results.
        missing: What a sweep asks for beside them.
    """

    cells: list[ResultCell]
    missing: list[Asked]


def choose(
    place: Path | str | None, filters: Sequence[str], problems: list[str], protocols: Sequence[str] | None = None
) -> Chosen:
    """Results of a place, and what it lacks, that pass the filters.

    Args:
        place: A sweep or a store, as :func:`attnlab.report.cells.read_cells` takes it.
        filters: ``key=value`` or ``key=value,value``.
        problems: Gets a line about each result that cannot be read.
        protocols: The only ones that matter; all where it is None.

    Raises:
        ConfigError: no result does, or a filter is malformed.
        StoreError: there is no such place.
    """
    read = read_cells(place, problems)
    fitting = matching_cells([*read, *read_missing(find_place(place), read, problems)], filters)
    found = [cell for cell in fitting if isinstance(cell, ResultCell)]
    if not found:
        warn(problems)
        raise ConfigError(f"none of {len(read)} results in {find_place(place)} fits {' '.join(filters) or 'a report'}")
    kept = [cell for cell in fitting if protocols is None or cell.protocol in protocols]
    chosen = Chosen(
        [cell for cell in kept if isinstance(cell, ResultCell)],
        [cell for cell in kept if not isinstance(cell, ResultCell)],
    )
    if not chosen.cells:
        raise ConfigError(f"no result here is by {' or '.join(protocols or ())}, which the table shows")
    return chosen
