"""The real command line, in processes of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = ("data=planted", "data.source.train=200", "data.source.validation=60", "data.source.test=60")

SMALL = (*PLANTED, "model.encoder.hidden_size=8", "vectors.dim=16", "trainer.max_epochs=1")


@pytest.fixture
def environment(tmp_path):
    """A home, cache and W&B setting of the test's own."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WANDB_", "ATTNLAB_", "HF_"))}
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "OMP_NUM_THREADS": "1", "COLUMNS": "140"}


@pytest.fixture
def attnlab(tmp_path, environment):
    """Run ``attnlab`` with arguments in an empty folder; ``start=True`` returns the running process."""
    folder = tmp_path / "work"
    folder.mkdir()

    def run(*arguments, start=False, **extra):
        command = [sys.executable, "-m", "attnlab", *arguments]
        options = {"cwd": folder, "env": {**environment, **extra}, "text": True}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if start:
            return subprocess.Popen(command, **options, **pipes)
        return subprocess.run(command, **options, **pipes, timeout=300)

    run.folder, run.environment = folder, environment
    return run


def entries(folder: Path, kind: str) -> list[Path]:
    """Entries of the store that a run in ``folder`` made."""
    return sorted((folder / "outputs" / "store" / kind).glob("*"))
