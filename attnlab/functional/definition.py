"""Where a paper and its published code differ."""

from typing import Literal, get_args

Definition = Literal["paper", "published_code"]
"""Which of the two is followed."""


def check_definition(name: str, value: str) -> None:
    """Refuse what is neither.

    Raises:
        ValueError: ``value`` of the option ``name`` is not a :data:`Definition`.
    """
    if value not in get_args(Definition):
        raise ValueError(f"{name}={value}: choose one of {', '.join(get_args(Definition))}")
