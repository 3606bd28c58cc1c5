"""Where a number comes from: code, versions, machine, command."""

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
)


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


def _git() -> dict[str, Any]:
    """Commit of the checkout that the package runs from, and whether it was changed; nothing for a wheel."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return {}
    run = ["git", "-C", str(root)]
    try:
        sha = subprocess.run([*run, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=True)
        dirty = subprocess.run([*run, "status", "--porcelain"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"git_sha": sha.stdout.strip(), "git_dirty": bool(dirty.stdout.strip())}
