"""Options of verbs that show what is stored: where it goes."""

import argparse
from pathlib import Path

from attnlab.inspect.places import output_directory
from attnlab.wandb.start import Destination


def add_destination(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`asked_destination` and :func:`push_folder` read."""
    parser.add_argument("--project", help="W&B project (default: the job's own logger.project, else attnlab)")
    parser.add_argument("--entity", help="W&B user or team (default: the job's own, else the account's)")
    parser.add_argument("--mode", choices=("online", "offline"), default="online", help="offline: write for wandb sync")
    parser.add_argument("--folder", type=Path, help="where offline runs are written (default: outputs/push)")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds to wait for a server that does not answer")


def asked_destination(options: argparse.Namespace) -> Destination:
    """Where runs go as far as the user said; the project, which jobs may decide, is left to the caller.

    Raises:
        ConfigError: online without an account.
    """
    asked = Destination(options.mode, entity=options.entity, init_timeout=options.timeout)
    asked.check("--mode ")
    return asked


def push_folder(options: argparse.Namespace) -> Path:
    """Where what is pushed offline is written."""
    return options.folder or output_directory() / "push"
