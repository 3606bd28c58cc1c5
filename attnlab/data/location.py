"""Where downloads and tokenised data are kept when nobody says."""

import os
from pathlib import Path


def default_cache_dir() -> Path:
    """``ATTNLAB_CACHE``, or the user's cache folder."""
    from platformdirs import user_cache_path

    named = os.environ.get("ATTNLAB_CACHE")
    return Path(named).expanduser() if named else user_cache_path("attnlab")
