"""Why an instance cannot be measured, said the same way by every protocol."""

from torch import Tensor

CONSTANT = "constant scores"


def single_token_reasons(length: Tensor, unit: str = "tokens") -> list[str | None]:
    """A reason where fewer than two content positions leave nothing to compare; None elsewhere.

    Args:
        length: Content positions, (B,).
        unit: What they are: tokens, sentences or words.
    """
    return [f"fewer than two {unit}" if n < 2 else None for n in length.tolist()]


def correlation_reasons(length: Tensor, tau: Tensor, unit: str = "tokens") -> list[str | None]:
    """Reasons for undefined rank correlations: too short, or all scores of one side equal."""
    short = single_token_reasons(length, unit)
    constant = [CONSTANT if undefined else None for undefined in tau.isnan().tolist()]
    return [s or c for s, c in zip(short, constant, strict=True)]
