"""``attnlab wandb push``: the W&B project, made again from the store."""

import argparse
import gc
import sys
from collections.abc import Sequence
from pathlib import Path

from attnlab.config.location import do_without_home
from attnlab.errors import StoreError
from attnlab.inspect.places import default_store
from attnlab.inspect.status import find_sweep
from attnlab.inspect.text import warn
from attnlab.store import Store
from attnlab.store.store import Kind
from attnlab.wandb.destination import add_destination, asked_destination, push_folder
from attnlab.wandb.mirror import mirror
from attnlab.wandb.offline import PushedRuns
from attnlab.wandb.start import Destination, UnreachableError
from attnlab.wandb.stored import Selection, StoredRun, count, of_store, of_sweep

TOLD_EVERY = 100
"""Runs between two lines about progress."""


def main(arguments: Sequence[str]) -> int:
    """Push a sweep, or the whole store."""
    options = _parser().parse_intermixed_args(arguments)
    gc.enable()  # off for verbs that live for a second
    do_without_home()
    asked = asked_destination(options)
    sweep = find_sweep(options.sweep) if options.sweep else None
    store = Store(options.store or default_store())
    selection = of_sweep(sweep) if sweep else of_store(store)
    if not selection.entries:
        raise StoreError(f"{sweep or store.root} has no model and no result to push")
    push = Push(asked, options.project, PushedRuns(push_folder(options)))
    try:
        push.all(selection)
    except UnreachableError as error:
        print(f"attnlab: {error}; {push.told()}. Push again to go on, or push with --mode offline", file=sys.stderr)
        return 1
    finally:
        warn(selection.problems)
    print(push.told() + (f"; {selection.missing} more are not in the store yet" if selection.missing else ""))
    if options.mode == "offline":
        print(f"upload: wandb sync -n 8 {push.written.runs}")
    return 1 if selection.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlab wandb push",
        description="Make the W&B project again from the store: every training and every result becomes the run that "
        "its job logs with logger=wandb. Pushing twice changes nothing.",
    )
    parser.add_argument("sweep", nargs="?", help="folder, or its name under outputs/sweeps (default: the whole store)")
    parser.add_argument("--store", type=Path, help="folder of the store (default: outputs/store)")
    add_destination(parser)
    return parser


class Push:
    """Shows entries of a store.

    Args:
        asked: Where runs go, as far as the user said.
        project: The project that the user named, if any.
        written: Offline runs, those of earlier pushes among them.
    """

    def __init__(self, asked: Destination, project: str | None, written: PushedRuns) -> None:
        self.asked, self.project, self.written = asked, project, written
        self.pushed: list[Kind] = []
        self.there = 0

    def all(self, selection: Selection) -> None:
        """Show all that can be read; a line about each that cannot is added to the selection's problems.

        Raises:
            UnreachableError: W&B did not start, take or finish a run.
        """
        for number, (kind, folder) in enumerate(selection.entries, start=1):
            try:
                self.one(StoredRun.read(kind, folder))
            except StoreError as error:
                selection.problems.append(str(error))
            if number % TOLD_EVERY == 0:
                print(f"{number}/{len(selection.entries)}", file=sys.stderr)

    def one(self, run: StoredRun) -> None:
        """Show an entry, unless it was shown to this folder before.

        Raises:
            StoreError: the entry is damaged; nothing was shown of it.
            UnreachableError: W&B did not start, take or finish the run.
        """
        destination = run.destination(self.asked, self.project)
        if mirror(run.identity, destination, self.written, run.content, curves=run.kind == "models"):
            self.pushed.append(run.kind)
        else:
            self.there += 1

    def told(self) -> str:
        """One line about what was done."""
        there = f", {self.there} were there" if self.there else ""
        return f"pushed {count(self.pushed)}{there}"
