"""What ``attnlab`` does beside running jobs. The modules are imported when their verb is called."""

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
        code: int = import_module(self.module).main(list(arguments))
        return code


VERBS = {
    "status": Verb("attnlab.inspect.status", "[SWEEP]", "what became of a sweep's cells, and when it ends"),
    "ls": Verb("attnlab.inspect.ls", "models|results [key=value…]", "what the store has"),
    "gc": Verb("attnlab.inspect.gc", "[--delete]", "what the store no longer needs"),
}
