"""Jobs that the agent of a W&B sweep started.

The agent asks for one run, whose id it has chosen, and the sweep reads its metric there. ``wandb.init`` gives that run
to whoever calls it, so training and protocols would each take it over as their own; in a sweep all of them go to this
run (:class:`attnlab.logger.trial.Trial`), and the runs by key are left to ``attnlab wandb push``.
"""

import os
from collections.abc import Sequence

from attnlab.errors import ConfigError
from attnlab.job import Job
from attnlab.wandb.identity import Identity, run_config, run_tags

VARIABLE = "WANDB_SWEEP_ID"
"""What an agent tells the job that it starts."""


def in_sweep() -> bool:
    """Whether an agent started this process."""
    return bool(os.environ.get(VARIABLE))


def refuse_several_jobs() -> None:
    """Refuse to start several jobs, which would all write to the agent's one run.

    Raises:
        ConfigError: an agent started this process.
    """
    if in_sweep():
        raise ConfigError(
            "the agent of a W&B sweep starts one job at a time; put the axes into the sweep's parameters "
            f"(`attnlab wandb sweep NAME` writes them), or unset {VARIABLE}"
        )


def trial_identity(job: Job, tags: Sequence[str]) -> Identity:
    """The agent's run; W&B names it and decides its id."""
    return Identity(None, job.group, "trial", None, run_tags(job, tags), run_config(job))
