"""From label values to class numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnlab.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LabelRule:
    """Class number of each label value.

    Attributes:
        classes: Class names in their order.
        numbers: Class number of each known value.
        drop: Whether rows with other values are left out; otherwise they are an error.
    """

    classes: list[str]
    numbers: dict[str, int]
    drop: bool

    @classmethod
    def build(
        cls,
        training: "pa.Array",
        labels: Mapping[Any, str] | None,
        classes: Sequence[str] | None,
        unlisted: str,
    ) -> "LabelRule":
        """Take the classes from the configuration, or from the values of the training split.

        Raises:
            DataError: ``labels`` names a class that is not in ``classes``.
        """
        named = {str(value): str(name) for value, name in labels.items()} if labels else None
        found = classes or (named.values() if named else _sorted_values(training.unique().to_pylist()))
        order = list(dict.fromkeys(str(name) for name in found))
        named = named or {name: name for name in order}
        unknown = set(named.values()) - set(order)
        if unknown:
            raise DataError(f"data.source.labels: {', '.join(sorted(unknown))} not in data.source.classes {order}")
        return cls(order, {value: order.index(name) for value, name in named.items()}, unlisted == "drop")

    def apply(self, values: "pa.Array", split: str) -> "pa.Array":
        """Class numbers (int64), null where the row is to be dropped.

        Raises:
            DataError: a value is not in the label set.
        """
        import pyarrow as pa

        encoded = values.dictionary_encode()
        present = encoded.dictionary.to_pylist()
        unknown = [value for value in present if value not in self.numbers]
        if unknown and not self.drop:
            raise DataError(
                f"data: label {unknown[0]!r} in the {split} split is outside the label set"
                f" {sorted(self.numbers)}; map it in data.source.labels or set data.source.unlisted=drop"
            )
        numbers = pa.array([self.numbers.get(value) for value in present], pa.int64())
        return numbers.take(encoded.indices)


def _sorted_values(values: list[str]) -> list[str]:
    whole = all(value.lstrip("-").isdecimal() for value in values)
    return sorted(values, key=int) if whole else sorted(values)
