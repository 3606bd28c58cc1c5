"""Names of what jobs and ``attnlab wandb push`` log, so that a panel never asks for anything else."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from attnlab.report.cells import ResultCell
from attnlab.results import Result
from attnlab.store.store import Kind
from attnlab.wandb.content import logged_name


@dataclass
class LoggedProtocol:
    """What the runs of a protocol hold.

    Attributes:
        runs: Their ids.
        statistics: Metrics that have a value in some run, such as ``permutation/tvd``.
        figures: Keys of images.
    """

    runs: list[str] = field(default_factory=list)
    statistics: dict[str, None] = field(default_factory=dict)
    figures: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Logged:
    """What the runs of a sweep or a store hold.

    Attributes:
        trainings: Ids of training runs.
        curves: Metrics of training curves, such as ``val/auroc``.
        protocols: What each protocol logs, by its name.
    """

    trainings: Sequence[str]
    curves: Sequence[str]
    protocols: dict[str, LoggedProtocol]

    @property
    def runs(self) -> list[str]:
        """Ids of all runs."""
        return [*self.trainings, *(run for protocol in self.protocols.values() for run in protocol.runs)]


def find_logged(cells: Sequence[ResultCell], entries: Iterable[tuple[Kind, Path]]) -> Logged:
    """Read names from the store.

    Args:
        cells: Results.
        entries: Kind and folder of everything that is pushed; models that no result is of are among them.
    """
    models = [folder for kind, folder in entries if kind == "models"]
    curves = dict.fromkeys(name for folder in models for name in _curves(folder / "metrics.csv"))
    protocols: dict[str, LoggedProtocol] = defaultdict(LoggedProtocol)
    for cell in cells:
        own = protocols[cell.protocol]
        own.runs.append(cell.key)
        values = {name: statistic["all"] for name, statistic in cell.summary["statistics"].items()}
        known = [name for name, value in values.items() if value is not None and isfinite(value)]
        own.statistics |= dict.fromkeys(logged_name(cell.protocol, name) for name in known)
        figures = Result(cell.protocol, cell.folder).figures
        own.figures |= dict.fromkeys(logged_name(cell.protocol, path.stem) for path in figures)
    return Logged([folder.name for folder in models], list(curves), dict(sorted(protocols.items())))


def _curves(path: Path) -> list[str]:
    """Columns of a curve that are measured; what cannot be read has none, and is named when it is pushed."""
    try:
        with path.open(newline="", encoding="utf-8") as handle:
            header = next(csv.reader(handle), [])
    except (OSError, ValueError, csv.Error):
        return []
    return [name for name in header if name not in ("epoch", "step")]
