"""``attnlab wandb sweep``: a study as a file for ``wandb sweep``.

W&B knows axes of which every combination is made. Where the jobs of a study are that, its axes become parameters; where
``zip``, ``include`` or ``exclude`` make them something else, one parameter, ``cell``, lists the jobs themselves, and
``attnlab wandb cell`` runs one.
"""

import argparse
import re
import shlex
from collections.abc import Mapping, Sequence
from math import isfinite, prod
from typing import Any

import yaml

from attnlab.launch.studies import expand_file

AXES = "${args_no_hyphens}"
"""Parameters as Hydra takes them, ``key=value``; W&B's agent puts them here."""

Jobs = Sequence[Sequence[str]]


def main(arguments: Sequence[str]) -> int:
    """Print the file."""
    options = _parser().parse_intermixed_args(arguments)
    jobs = expand_file(options.study, options.overrides)
    print(_heading([options.study, *options.overrides], len(jobs)))
    text = yaml.safe_dump(sweep(options.study, jobs), sort_keys=False, allow_unicode=True, width=120)
    print(text, end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlab wandb sweep",
        description="Write a study as a file for `wandb sweep`, for `wandb agent` on as many machines as you like.",
    )
    parser.add_argument("study", help="name of a study, such as paper/jain_wallace_2019, or a .yaml file of your own")
    parser.add_argument("overrides", nargs="*", help="as after attnlab +sweep=STUDY: axes to replace, values to add")
    return parser


def _heading(arguments: Sequence[str], count: int) -> str:
    return (
        f"# {count} jobs of a study, for W&B's agents\n#\n"
        f"#   attnlab wandb sweep {shlex.join(arguments)} > sweep.yaml\n"
        "#   wandb sweep sweep.yaml              makes the sweep, and prints the next command\n"
        "#   wandb agent ENTITY/attnlab/ID       where outputs/ is to be; as many agents as you like\n#\n"
        "# Each run of the sweep is one job: training curves and the results of its protocols.\n"
    )


def sweep(name: str, jobs: Jobs) -> dict[str, Any]:
    """The content of a file for ``wandb sweep`` whose runs are exactly these jobs.

    Args:
        name: Of the study.
        jobs: Overrides of each job.
    """
    shared = [override for override in jobs[0] if all(override in job for job in jobs)]
    axes = _axes(jobs)
    parameters: dict[str, list[Any]]
    if axes is not None:
        command, parameters = ["attnlab"], {key: [_plain(text) for text in texts] for key, texts in axes.items()}
    else:
        cells = [shlex.join(override for override in job if override not in shared) for job in jobs]
        command, parameters = ["attnlab", "wandb", "cell"], {"cell": cells}
    return {
        "name": name,
        "project": "attnlab",
        "program": "attnlab",
        "method": "grid",
        "command": [*command, *shared, AXES, *_online(jobs)],
        "parameters": {key: {"values": values} for key, values in parameters.items()},
    }


def _axes(jobs: Jobs) -> Mapping[str, list[str]] | None:
    """Values of each key that varies, where the jobs are all their combinations; else None."""
    split = [dict(override.partition("=")[::2] for override in job) for job in jobs]
    if any(one.keys() != split[0].keys() for one in split):
        return None
    values = {key: list(dict.fromkeys(one[key] for one in split)) for key in split[0]}
    varying = {key: texts for key, texts in values.items() if len(texts) > 1}
    distinct = {tuple(sorted(one.items())) for one in split}
    # W&B takes no parameter whose name starts as Hydra's +key does.
    if not varying or len(distinct) != prod(map(len, varying.values())) or any(key[0] in "+~" for key in varying):
        return None
    return varying


def _plain(text: str) -> int | float | str:
    """A value that W&B's agent writes as ``text`` again; numbers, so that W&B draws them as such."""
    if re.fullmatch(r"-?(0|[1-9]\d*)", text):
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return text
    # JSON does not tell 1.0 from 1, and has no infinity.
    return value if str(value) == text and isfinite(value) and not value.is_integer() else text


def _online(jobs: Jobs) -> list[str]:
    """A sweep needs its runs at once, unless the user chose a logger."""
    keys = {override.partition("=")[0] for job in jobs for override in job}
    return [] if keys & {"logger", "logger.mode"} else ["logger.mode=online"]
