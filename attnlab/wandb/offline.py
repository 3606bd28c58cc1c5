"""The offline runs that were pushed to a folder, each there once and whole.

``wandb sync`` appends a second file of a run to the first, so the same run must not be there twice. A mark in the
run's folder says that it was finished; a folder without one was left by a killed push.
"""

import shutil
from pathlib import Path

MARK = "pushed.txt"


class PushedRuns:
    """Offline runs under a folder.

    Args:
        folder: W&B writes to its ``wandb/``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def runs(self) -> Path:
        """What ``wandb sync`` takes."""
        return self.folder / "wandb"

    def has(self, key: str, project: str) -> bool:
        """Whether a run is there, whole, for this project."""
        marks = [run / MARK for run in self._find(key)]
        return any(mark.is_file() and mark.read_text(encoding="utf-8").strip() == project for mark in marks)

    def clear(self, key: str) -> None:
        """Remove what is there of a run: a part of it, or a copy for another project."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for run in self._find(key):
            shutil.rmtree(run)

    def mark(self, key: str, project: str) -> None:
        """Note that a run is whole."""
        for run in self._find(key):
            (run / MARK).write_text(f"{project}\n", encoding="utf-8")

    def _find(self, key: str) -> list[Path]:
        return [path for path in self.runs.glob(f"offline-run-*-{key}") if path.is_dir() and not path.is_symlink()]
