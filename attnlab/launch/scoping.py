"""Options of a protocol, in a sweep of which only some cells measure by it."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

_OPTION = re.compile(r"\+{0,2}protocols\.(\w+)[.=]")


def without_others_options(jobs: Sequence[Sequence[str]]) -> list[list[str]]:
    """Drop from each job the options of protocols that other jobs of the sweep measure by, and it does not.

    So ``-m protocol=[permutation],[adversarial_attention] protocols.adversarial_attention.epsilon=0.05`` is what it
    looks like. Options of a protocol that no job names stay, and are refused with all else that cannot be composed.

    Args:
        jobs: Overrides of each job.
    """
    if not any(map(_OPTION.match, (override for job in jobs for override in job))):
        return [list(job) for job in jobs]
    named = [_protocols(job) for job in jobs]
    everywhere = set[str]().union(*named)
    return [list(_kept(job, everywhere - own)) for job, own in zip(jobs, named, strict=True)]


def _kept(job: Sequence[str], others: set[str]) -> Iterable[str]:
    for override in job:
        option = _OPTION.match(override)
        if option is None or option.group(1) not in others:
            yield override


def _protocols(job: Sequence[str]) -> frozenset[str]:
    """Protocols that a job names; none where it leaves the choice to the default."""
    chosen = [override for override in job if override.startswith("protocol=")]
    return _named(chosen[-1]) if chosen else frozenset()


@cache  # many jobs of a sweep, few choices
def _named(override: str) -> frozenset[str]:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    value = OverridesParser.create().parse_override(override).value()
    return frozenset(map(str, value if isinstance(value, list) else [value]))
