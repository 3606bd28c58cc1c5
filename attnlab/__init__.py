"""attnlab: can attention be believed as an explanation?

Importing the package imports nothing heavy; what needs torch is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.models.trained import load_model
    from attnlab.report.study import load

__all__ = ["load", "load_model"]

_LAZY = {"load": "attnlab.report.study", "load_model": "attnlab.models.trained"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'attnlab' has no attribute '{name}'")
