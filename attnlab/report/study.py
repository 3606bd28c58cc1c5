"""Results in Python: ``attnlab.load(sweep or store)``."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from attnlab.inspect.text import warn
from attnlab.report.cells import ResultCell, matching_cells, read_cells

if TYPE_CHECKING:
    import polars as pl

    from attnlab.report.grid import Grid


def load(place: Path | str | None = None) -> "Study":
    """Results of a sweep or a store; what cannot be read is named on the error output and left out.

    Args:
        place: A sweep (its folder, or its name under ``outputs/sweeps``), a store, or the folder that holds one;
            the store of this folder where it is None.

    Raises:
        StoreError: there is no such place.

    Example:
        >>> study = load("outputs/store").select(data="movie", protocol="permutation")  # doctest: +SKIP
        >>> study.numbers()  # means over seeds with intervals, a Polars frame  # doctest: +SKIP
        >>> study[0].records.to_pandas()  # one row per instance  # doctest: +SKIP
        >>> study[0].load_model()  # imports torch  # doctest: +SKIP
    """
    problems: list[str] = []
    cells = read_cells(place, problems)
    warn(problems)
    return Study(cells)


class Study(Sequence[ResultCell]):
    """Results, in the order of data, model, protocol and seed.

    Args:
        cells: The results.
    """

    def __init__(self, cells: Sequence[ResultCell]) -> None:
        self.cells = list(cells)

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, position: int) -> ResultCell: ...

    @overload
    def __getitem__(self, position: slice) -> "Study": ...

    def __getitem__(self, position: int | slice) -> "ResultCell | Study":
        if isinstance(position, slice):
            return Study(self.cells[position])
        return self.cells[position]

    def __iter__(self) -> Iterator[ResultCell]:
        return iter(self.cells)

    def __repr__(self) -> str:
        models = len({cell.model_key for cell in self.cells})
        return f"<{len(self.cells)} results on {models} models>"

    def select(self, **wanted: object) -> "Study":
        """Results with the given data, model, seed, protocol or any other key, as ``attnlab ls`` filters them.

        Args:
            wanted: One value or a list of them by key; two underscores stand for a dot, as in ``trainer__max_epochs``.

        Raises:
            ConfigError: no result has such a key.
        """
        filters = [f"{key.replace('__', '.')}={_text(value)}" for key, value in wanted.items()]
        return Study(matching_cells(self.cells, filters))

    @cached_property
    def grid(self) -> "Grid":
        """Results in their places: data, setting, protocol, split and seed."""
        from attnlab.report.grid import make_grid

        return make_grid(self.cells)

    @property
    def frame(self) -> "pl.DataFrame":
        """Every value of every result, see :func:`attnlab.report.frame.long_frame`."""
        from attnlab.report.frame import long_frame

        return long_frame(self.grid)

    def numbers(self, replicates: int = 1000, seed: int = 0, level: float = 0.95) -> "pl.DataFrame":
        """Means over seeds with intervals, see :class:`attnlab.report.estimates.Estimates`.

        Args:
            replicates: Of the bootstrap.
            seed: Of the bootstrap.
            level: Of intervals.
        """
        from attnlab.report.estimates import estimate
        from attnlab.report.resampling import Resampling

        problems: list[str] = []
        found = estimate(self.grid, Resampling(replicates, seed), problems, level=level)
        warn(problems)
        return found.numbers


def _text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple | range) else str(value)
