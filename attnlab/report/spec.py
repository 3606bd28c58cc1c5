"""What a protocol's records are summarised by and drawn as: plain values that travel with the result.

A protocol declares these on its class. They are stored beside the records, so that a report needs neither the
protocol's code nor torch.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar


@dataclass(frozen=True)
class Statistic:
    """One number over the measured instances.

    Attributes:
        name: Name in summaries and tables.
        column: Column of the records that it is computed from.
        how: A function of :mod:`attnlab.report.statistics`.
        description: What it says, in a few words.
        higher_is_better: Direction of the arrow in tables; None for a number that is neither good nor bad.
        by_prediction: Whether it is given for each predicted class too.
        by_class: Whether the columns are lists with a value for each class: it is computed over all values, and for
            each class from its own, whatever is predicted. For ``f1``, whether that of each class is given too.
        at_least: Threshold of ``share``.
        at_most: Threshold of ``share``.
        where: Column that must be true for an instance to count.
        other: Column that ``fewer``, ``larger``, ``sign_test`` and the gains compare with, and over which
            ``curve_area`` goes.
        element: Place in lists of equal length, where the columns hold such and one value of each counts.
        belief: Values at which attention can be believed not at all, and fully. The statistic that has it is the one
            that its protocol is judged by at a glance.
    """

    name: str
    column: str
    how: str = "mean"
    description: str = ""
    higher_is_better: bool | None = None
    by_prediction: bool = True
    by_class: bool = False
    at_least: float | None = None
    at_most: float | None = None
    where: str | None = None
    other: str | None = None
    element: int | None = None
    belief: tuple[float, float] | None = None


@dataclass(frozen=True)
class Histogram:
    """Distribution of a column, one colour per predicted class, bars summing to 1 within each class.

    Attributes:
        name: File name without ending.
        column: Column of the records.
        xlabel: What it is.
        range: Ends of the horizontal axis.
        bins: Number of equal bins.
    """

    name: str
    column: str
    xlabel: str
    range: tuple[float, float]
    bins: int


@dataclass(frozen=True)
class BinnedViolin:
    """Distribution of a column within equal bins of another, predicted classes side by side, with quartiles.

    Attributes:
        name: File name without ending.
        column: Column of the records, horizontal.
        by: Column that is cut into bins, vertical.
        xlabel: What ``column`` is.
        ylabel: What ``by`` is.
        range: Ends of the horizontal axis.
        bins: Number of equal bins of ``by`` over [0, 1].
        other: Column whose distribution is drawn in the same bins, all classes together.
        other_label: What ``other`` is.
    """

    name: str
    column: str
    by: str
    xlabel: str
    ylabel: str
    range: tuple[float, float]
    bins: int = 4
    other: str | None = None
    other_label: str = ""


@dataclass(frozen=True)
class Band:
    """Each instance's value within its reachable interval, instances in order of the value.

    Attributes:
        name: File name without ending.
        column: The value.
        low: Column of the interval's lower end.
        high: Column of the interval's upper end.
        ylabel: What the value is.
    """

    name: str
    column: str
    low: str
    high: str
    ylabel: str


@dataclass(frozen=True)
class Boxes:
    """Box plots of several columns side by side, over the instances where each has a value.

    Attributes:
        name: File name without ending.
        columns: Columns of the records, one box each.
        labels: What each is.
        ylabel: What all of them are.
        range: Ends of the vertical axis.
    """

    name: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    ylabel: str
    range: tuple[float, float]


@dataclass(frozen=True)
class Scatter:
    """Each instance as a point, one colour per predicted class.

    Attributes:
        name: File name without ending.
        column: Column of the records, horizontal.
        by: Column of the records, vertical.
        xlabel: What ``column`` is.
        ylabel: What ``by`` is.
        ranges: Ends of the horizontal axis, then of the vertical one.
    """

    name: str
    column: str
    by: str
    xlabel: str
    ylabel: str
    ranges: tuple[float, float, float, float]


@dataclass(frozen=True)
class Points:
    """Means of two columns of what another protocol measured on the same model, on the axes of a curve.

    A point for each result, or for each place where the columns are lists.

    Attributes:
        protocol: Its name in the configuration.
        column: Column of its records, horizontal.
        by: Column of its records, vertical.
        label: What it is.
        scale: What ``by`` is multiplied with, to be in the unit of the curve.
    """

    protocol: str
    column: str
    by: str
    label: str
    scale: float = 1.0


@dataclass(frozen=True)
class Curve:
    """Means of two columns of lists, a point for each place, joined in the order of the first.

    Attributes:
        name: File name without ending.
        column: Column of lists, horizontal.
        by: Column of lists of the same lengths, vertical.
        labels: What each place is.
        xlabel: What ``column`` is.
        ylabel: What ``by`` is.
        range: Ends of the horizontal axis.
        label: What the curve is, beside points.
        beside: What a report draws on the same axes, where it has been measured too.
    """

    name: str
    column: str
    by: str
    labels: tuple[str, ...]
    xlabel: str
    ylabel: str
    range: tuple[float, float]
    label: str = ""
    beside: tuple[Points, ...] = ()


Figure = Histogram | BinnedViolin | Band | Boxes | Scatter | Curve

KINDS: dict[str, type[Statistic | Figure]] = {
    kind.__name__: kind for kind in (Statistic, Histogram, BinnedViolin, Band, Boxes, Scatter, Curve)
}


def to_dict(spec: Statistic | Figure) -> dict[str, Any]:
    """Plain values, with the kind under ``kind``."""
    return {"kind": type(spec).__name__, **asdict(spec)}


def from_dict(content: Mapping[str, Any]) -> Statistic | Figure:
    """What :func:`to_dict` made plain.

    Raises:
        ValueError: an unknown kind, as an older or newer version may have written.
    """
    kind = KINDS.get(content.get("kind", ""))
    if kind is None:
        raise ValueError(f"unknown kind {content.get('kind')!r}; known: {', '.join(KINDS)}")
    return _made(kind, content)


Made = TypeVar("Made", bound=Statistic | Figure | Points)


def _made(kind: type[Made], content: Mapping[str, Any]) -> Made:
    """Of the fields that this version knows."""
    known = {field.name for field in fields(kind)}
    return kind(**{name: _value(value) for name, value in content.items() if name in known})


def _value(value: Any) -> Any:  # noqa: ANN401 - any plain value
    if isinstance(value, list | tuple):
        return tuple(map(_value, value))
    return _made(Points, value) if isinstance(value, Mapping) else value
