"""The site: an overview, a page per group of seeds, a browser of instances per model."""

import shutil
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from attnlab.errors import ConfigError
from attnlab.report.cells import ResultCell
from attnlab.report.frame import long_frame, over_seeds
from attnlab.report.grid import make_grid
from attnlab.report.headline import STEPS
from attnlab.report.site.embedding import script_json
from attnlab.report.site.instances import write_instances
from attnlab.report.site.joining import join
from attnlab.report.site.layout import Group, Measured, arrange
from attnlab.report.site.overview import overview
from attnlab.report.site.sections import sections, settings_text

HERE = Path(__file__).parent

MARK = "attnlab-site"
"""File that tells a site from a folder of somebody's own."""

PARTS = ("assets", "groups", "instances", "data", "figures")


def write_site(cells: Sequence[ResultCell], folder: Path, problems: list[str]) -> None:
    """Write a site that works from a disk, without a network.

    Args:
        cells: Results.
        folder: Made where it is not there; a site that stands in it is replaced.
        problems: What could not be read; gets a line more about each file that turns out so, and is shown in the site.

    Raises:
        ConfigError: the folder holds something else.
    """
    _clear(folder)
    grid = make_grid(cells)
    problems += grid.doubles
    groups = arrange(grid)
    numbers = over_seeds(long_frame(grid)).to_dicts()
    write = _Writer(folder)
    for group in groups:
        browsers = list(_browsers(group, write, problems))
        write.page(
            group.page,
            "group.html",
            group=group,
            sections=list(sections(group, numbers, folder / "figures", problems)),
            browsers=browsers,
            settings=settings_text(group.first),
        )
    matrix = overview(groups, problems)
    problems[:] = dict.fromkeys(problems)
    write.page("index.html", "overview.html", depth=0, problems=problems, **matrix)


def _browsers(group: Group, write: "_Writer", problems: list[str]) -> Iterator[Measured]:
    for measured in group.models():
        joined = join(measured, problems)
        if joined is not None:
            about = write_instances(joined, write.folder / "data" / measured.name)
            about["place"] = f"../data/{measured.name}/"
            write.page(measured.page, "instances.html", group=group, measured=measured, about=about)
            yield measured


class _Writer:
    """Pages from templates. Everything that a template prints is escaped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        loader = FileSystemLoader(HERE / "templates")
        self._environment = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._environment.filters.update(
            number=number, short=short, script_json=lambda content: Markup(script_json(content))
        )
        self._environment.globals.update(version=metadata.version("attnlab"), steps=STEPS)

    def page(self, path: str, template: str, depth: int = 1, **content: Any) -> None:  # noqa: ANN401 - what it prints
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = self._environment.get_template(template).render(root="../" * depth, **content)
        target.write_text(text + "\n", encoding="utf-8")


def _clear(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"--html {folder}: this is a file; name a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise ConfigError(f"--html {folder}: the folder holds something other than a site; name a new one")
    for part in PARTS:
        shutil.rmtree(folder / part, ignore_errors=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text("Written by attnlab report --html, which replaces what is here.\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--html {folder}: cannot write there ({error.strerror})") from error
    shutil.copytree(HERE / "assets", folder / "assets")


def number(value: float | None) -> str:
    """Four places; a dash for what is not there."""
    return "–" if value is None or value != value else f"{value:.4f}".replace("-", "\N{MINUS SIGN}")


def short(value: float | None) -> str:
    """Two places without the zero in front, as papers print shares."""
    if value is None or value != value:
        return "–"
    return f"{value:.2f}".replace("0.", ".", 1).replace("-", "\N{MINUS SIGN}") if abs(value) < 1 else f"{value:.2f}"
