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
    return str(folder if _can_be_made(folder) else _stand_in("attnlab"))


LIBRARY_FOLDERS = {
    "HF_HOME": "~/.cache/huggingface",
    "MPLCONFIGDIR": "~/.config/matplotlib",
    "WANDB_CACHE_DIR": "~/.cache/wandb",
    "WANDB_CONFIG_DIR": "~/.config/wandb",
    "WANDB_DATA_DIR": "~/.local/share/wandb",
}
"""Folders of the home that libraries write to, by the variable that moves them."""


def do_without_home() -> None:
    """Send what libraries write to the home folder elsewhere, where the home cannot be written."""
    for variable, folder in LIBRARY_FOLDERS.items():
        if variable not in os.environ and not _can_be_made(Path(folder).expanduser()):
            target = _stand_in(variable.lower())
            target.mkdir(parents=True, exist_ok=True)
            os.environ[variable] = str(target)


def _stand_in(name: str) -> Path:
    return Path(tempfile.gettempdir()) / f"attnlab-{os.getuid()}" / name


def _can_be_made(folder: Path) -> bool:
    """Whether a folder is there to write to, or could be made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
