"""One look for every figure: colour-blind safe (Okabe & Ito), and of different lightness, so readable in grey."""

from contextlib import AbstractContextManager
from typing import Any

COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#D55E00", "#009E73", "#CC79A7", "#F0E442", "#000000")

INK = "#222222"
OTHER = "#999999"  # what belongs to no class

RC: dict[str, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.figsize": (4.2, 3.0),
    "font.size": 9,
    "legend.columnspacing": 1.0,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.handletextpad": 0.4,
    "pdf.fonttype": 42,  # editable text, as journals ask
    "savefig.dpi": 200,
    "svg.hashsalt": "attnlab",  # the same records give the same bytes
    "xtick.color": INK,
    "ytick.color": INK,
}


def house_style() -> AbstractContextManager[None]:
    """A block in which matplotlib draws in the house style, whatever the user's own settings are."""
    import matplotlib

    return matplotlib.rc_context(RC)  # type: ignore[arg-type]


def colour(position: int) -> str:
    """Colour of the n-th class."""
    return COLOURS[position % len(COLOURS)]
