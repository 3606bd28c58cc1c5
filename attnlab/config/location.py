"""Where the configuration files, the studies and the user's cache are."""

import os
import tempfile
from pathlib import Path

import platformdirs


def config_directory() -> Path:
    """``conf/`` as packaged in a wheel, or that of the checkout."""
    return _beside_package("conf")


def sweeps_directory() -> Path:
    """``sweeps/``, the studies, as packaged in a wheel, or that of the checkout."""
    return _beside_package("sweeps")


def _beside_package(name: str) -> Path:
    package = Path(__file__).resolve().parents[1]
    packaged = package / name
    return packaged if packaged.is_dir() else package.parent / name


def cache_directory() -> str:
    """Folder for downloads: ATTNLAB_CACHE, else the user's cache folder, else one that can be written."""
    chosen = os.environ.get("ATTNLAB_CACHE")
    if chosen:
        return chosen
    folder = Path(platformdirs.user_cache_dir("attnlab"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"attnlab-cache-{os.getuid()}"
    return str(folder)
