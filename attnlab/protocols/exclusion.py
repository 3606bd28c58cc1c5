"""Why an instance cannot be measured, said the same way by every protocol."""

from torch import Tensor

SINGLE_TOKEN = "fewer than two tokens"
CONSTANT = "constant scores"


def single_token_reasons(length: Tensor) -> list[str | None]:
    """A reason where fewer than two content positions leave nothing to compare; None elsewhere."""
    return [SINGLE_TOKEN if n < 2 else None for n in length.tolist()]


def correlation_reasons(length: Tensor, tau: Tensor) -> list[str | None]:
    """Reasons for undefined rank correlations: too short, or all scores of one side equal."""
    short = single_token_reasons(length)
    constant = [CONSTANT if undefined else None for undefined in tau.isnan().tolist()]
    return [s or c for s, c in zip(short, constant, strict=True)]
