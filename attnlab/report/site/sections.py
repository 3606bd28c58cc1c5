"""What the page of a group says about each measurement."""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from attnlab.errors import StoreError
from attnlab.report.cells import ResultCell
from attnlab.report.headline import headline
from attnlab.report.site.layout import Group, Measurement
from attnlab.report.summary import of_each_class
from attnlab.store.document import read_json

NOT_SETTINGS = frozenset({"paths", "logger", "launcher", "dry_run", "protocols"})
"""Parts of a configuration that decide nothing about the model."""


def sections(
    group: Group, numbers: Sequence[Mapping[str, Any]], figures: Path, problems: list[str]
) -> Iterator[dict[str, Any]]:
    """One section per measurement.

    Args:
        group: Of seeds.
        numbers: Rows of :func:`attnlab.report.frame.over_seeds`.
        figures: Where pictures are copied to.
        problems: Gets a line about each file that cannot be read.
    """
    own = [row for row in numbers if (row["data"], row["setting"]) == (group.data, group.setting)]
    for measurement in group.measurements:
        cells = list(measurement.cells.values())
        name = (measurement.protocol, measurement.split)
        yield {
            "measurement": measurement,
            "headline": headline(cells, problems),
            "rows": list(_rows(measurement, [row for row in own if (row["protocol"], row["split"]) == name])),
            "classes": list(dict.fromkeys(c for cell in cells for s in _statistics(cell) for c in of_each_class(s))),
            "exclusions": [
                (seed, count, cell.summary["n"], reason)
                for seed, cell in measurement.cells.items()
                for reason, count in cell.summary["excluded"].items()
            ],
            "figures": list(_figures(measurement, figures, problems)),
            "options": _yaml(cells[0].config.get("protocols", {}).get(cells[0].protocol, {})),
            "provenance": [(seed, cell, _provenance(cell, problems)) for seed, cell in measurement.cells.items()],
        }


def _statistics(cell: ResultCell) -> Iterable[Mapping[str, Any]]:
    values: Iterable[Mapping[str, Any]] = cell.summary["statistics"].values()
    return values


def _rows(measurement: Measurement, numbers: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """A row per statistic: over the seeds, by class, by seed."""
    by_class: dict[str, dict[str, Any]] = {}
    for row in numbers:
        if row["class"] is not None:
            by_class.setdefault(row["statistic"], {})[row["class"]] = row["mean"]
    for row in numbers:
        if row["class"] is None:
            name = row["statistic"]
            own = {seed: cell.summary["statistics"].get(name, {}) for seed, cell in measurement.cells.items()}
            yield {
                **row,
                "description": next((s["description"] for s in own.values() if s.get("description")), ""),
                "by_class": by_class.get(name, {}),
                "by_seed": {seed: statistic.get("all") for seed, statistic in own.items()},
            }


def _figures(measurement: Measurement, target: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Pictures of each seed, copied into the site."""
    for seed, cell in measurement.cells.items():
        for picture in sorted([*cell.folder.glob("figures/*.png"), *cell.folder.glob("figures/*.svg")]):
            if not _is_whole(picture):
                problems.append(f"{picture} is damaged")
                continue
            folder = target / cell.key
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, folder / picture.name)
            yield {"seed": seed, "name": picture.stem, "path": f"figures/{cell.key}/{picture.name}"}


def _is_whole(picture: Path) -> bool:
    try:
        content = picture.read_bytes()
    except OSError:
        return False
    if picture.suffix == ".svg":
        return content.rstrip().endswith(b"</svg>")
    return content.startswith(b"\x89PNG\r\n\x1a\n") and b"IEND" in content[-12:]


def _provenance(cell: ResultCell, problems: list[str]) -> dict[str, Any] | None:
    try:
        return read_json(cell.folder / "provenance.json")
    except StoreError as error:
        problems.append(str(error))
        return None


def settings_text(cell: ResultCell) -> str:
    """The configuration that made a group's models, as YAML."""
    return _yaml({key: value for key, value in cell.config.items() if key not in NOT_SETTINGS})


def _yaml(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True)
