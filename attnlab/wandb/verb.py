"""``attnlab wandb``: what attnlab does with Weights & Biases beside logging to it."""

import argparse
from collections.abc import Sequence

from attnlab.verbs import Verb

SUBVERBS = {
    "push": Verb("attnlab.wandb.push", "[SWEEP]", "show everything that the store has, as jobs would have shown it"),
    "dashboard": Verb("attnlab.wandb.dashboard", "[SWEEP or STORE]", "workspace, report and tables over all seeds"),
    "sweep": Verb("attnlab.wandb.sweep", "STUDY [key=value…]", "write a study as a file for `wandb sweep`"),
    "cell": Verb("attnlab.wandb.cell", "cell='key=value …'", "one job of such a sweep; what `wandb agent` runs"),
}


def main(arguments: Sequence[str]) -> int:
    """Do what the first argument says."""
    described = "\n".join(f"  {name} {verb.usage}: {verb.description}" for name, verb in SUBVERBS.items())
    parser = argparse.ArgumentParser(
        prog="attnlab wandb",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=f"Weights & Biases:\n\n{described}",
        epilog="`attnlab wandb push --help` tells more.",
    )
    parser.add_argument("verb", choices=SUBVERBS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    return SUBVERBS[options.verb].run(options.arguments)
