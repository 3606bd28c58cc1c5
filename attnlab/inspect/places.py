"""Where results are, when no option says so."""

import os
from pathlib import Path

from attnlab.config.location import config_directory


def default_store() -> Path:
    """The store of a job run in this folder."""
    return Path(_paths().get("store") or output_directory() / "store")


def output_directory() -> Path:
    """``paths.output_dir`` of a job run in this folder."""
    return Path(_paths().get("output_dir") or os.environ.get("ATTNLAB_OUTPUT") or "outputs")


def _paths() -> dict[str, str]:
    """``paths`` as the user's own ``conf/local/default.yaml`` sets them; where it is not, composing wastes time."""
    if not (config_directory() / "local" / "default.yaml").exists():
        return {}
    from attnlab.config.composing import compose

    paths: dict[str, str] = compose()[0]["paths"]
    return paths
