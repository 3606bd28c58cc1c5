"""Whether somebody holds a lock of the store, found without waiting."""

import os
from pathlib import Path


def is_held(path: Path) -> bool:
    """Whether a process holds this lock file; false where there is none."""
    try:
        import fcntl
    except ImportError:
        return _is_held_portably(path)
    # Thousands of lock files are looked at: this is what filelock does, without its bookkeeping.
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def _is_held_portably(path: Path) -> bool:
    from filelock import FileLock, Timeout

    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except (Timeout, OSError):
        return True
