"""Where a number comes from: code, versions, machine, command."""

import functools
import hashlib
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = (
    "attnlab",
    "torch",
    "lightning",
    "torchmetrics",
    "hydra-core",
    "datasets",
    "tokenizers",
    "numpy",
    "scipy",
    "gensim",
)

DIFF = ("diff", "--no-ext-diff", "--no-color", "HEAD")
"""What was changed since the commit, as `git apply` takes it."""

LONGEST_DIFF = 100_000
"""Characters of it that are kept beside each result."""


def provenance() -> dict[str, Any]:
    """Facts about this process to keep beside what it makes."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "python": platform.python_version(),
        "host": platform.node(),
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in PACKAGES},
        **_git(),
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@functools.cache
def _git() -> dict[str, Any]:
    """Commit of the checkout that the package runs from, and what was changed since; nothing for a wheel."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return {}
    try:
        sha, status, diff = (_call(root, *words) for words in (("rev-parse", "HEAD"), ("status", "--porcelain"), DIFF))
    except (OSError, subprocess.SubprocessError):
        return {}
    if not status:
        return {"git_sha": sha.strip(), "git_dirty": False}
    digest = hashlib.sha256(diff.encode()).hexdigest()
    kept = diff if len(diff) <= LONGEST_DIFF else diff[:LONGEST_DIFF] + "\n(cut)\n"
    changed = {"git_status": status, "git_diff": kept, "git_diff_sha256": digest}
    return {"git_sha": sha.strip(), "git_dirty": True, **changed}


def _call(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10, check=True).stdout
