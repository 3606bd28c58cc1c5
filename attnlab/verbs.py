"""What ``attnlab`` does beside running jobs. The modules are imported when their verb is called."""

import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Verb:
    """A word in the place of Hydra's overrides.

    Attributes:
        module: Has ``main(arguments) -> int``, an exit code.
        usage: Its arguments, for ``attnlab --help``.
        description: One line.
    """

    module: str
    usage: str
    description: str

    def run(self, arguments: Sequence[str]) -> int:
        """Do it; the exit code is returned."""
        # A verb lives for a second: looking for cycles among thousands of fresh entries would take a third of it.
        gc.disable()
        try:
            code: int = import_module(self.module).main(list(arguments))
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader, such as `head`, has seen enough; the interpreter must not flush into the pipe again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code


VERBS = {
    "status": Verb("attnlab.inspect.status", "[SWEEP]", "what became of a sweep's cells, and when it ends"),
    "ls": Verb("attnlab.inspect.ls", "models|results [key=value…]", "what the store has"),
    "report": Verb(
        "attnlab.report.command", "[SWEEP|STORE] [key=value…]", "results to tables with intervals, tests and figures"
    ),
    "gc": Verb("attnlab.inspect.gc", "[--delete]", "what the store no longer needs"),
    "wandb": Verb("attnlab.wandb.verb", "push|sweep …", "W&B made again from the store; studies as W&B sweeps"),
}
