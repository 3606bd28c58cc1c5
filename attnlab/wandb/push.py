"""``attnlab wandb push``: the W&B project, made again from the store."""

import argparse
import gc
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attnlab.config.location import do_without_home
from attnlab.errors import StoreError
from attnlab.inspect.places import default_store, output_directory
from attnlab.inspect.status import find_sweep
from attnlab.inspect.text import warn
from attnlab.store import Store
from attnlab.store.store import Kind
from attnlab.wandb.content import Content, use_training_steps
from attnlab.wandb.offline import PushedRuns
from attnlab.wandb.start import Destination, UnreachableError, finishing, start
from attnlab.wandb.stored import Selection, StoredRun, count, of_store, of_sweep

TOLD_EVERY = 100
"""Runs between two lines about progress."""

NOT_OF_THIS_PROCESS = {
    "x_disable_stats": True,
    "x_disable_meta": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
    "disable_git": True,
    "disable_code": True,
}
"""W&B would note the load, machine, packages and commit of this process, which neither trained nor measured."""


def main(arguments: Sequence[str]) -> int:
    """Push a sweep, or the whole store."""
    options = _parser().parse_args(arguments)
    gc.enable()  # off for verbs that live for a second
    do_without_home()
    asked = Destination(options.mode, entity=options.entity, init_timeout=options.timeout)
    asked.check("--mode ")
    sweep = find_sweep(options.sweep) if options.sweep else None
    store = Store(options.store or default_store())
    selection = of_sweep(sweep) if sweep else of_store(store)
    if not selection.entries:
        raise StoreError(f"{sweep or store.root} has no model and no result to push")
    folder = options.folder or output_directory() / "push"
    push = Push(asked, options.project, PushedRuns(folder))
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
    parser.add_argument("--project", help="W&B project (default: the job's own logger.project, else attnlab)")
    parser.add_argument("--entity", help="W&B user or team (default: the job's own, else the account's)")
    parser.add_argument("--mode", choices=("online", "offline"), default="online", help="offline: write for wandb sync")
    parser.add_argument("--store", type=Path, help="folder of the store (default: outputs/store)")
    parser.add_argument("--folder", type=Path, help="where offline runs are written (default: outputs/push)")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds to wait for a server that does not answer")
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
        if self.asked.mode == "online":
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
                self._log(run, run.content(), destination, Path(scratch))
            return
        key = run.folder.name
        if self.written.has(key, destination.path):
            self.there += 1
            return
        content = run.content()
        self.written.clear(key)
        self._log(run, content, destination, self.written.folder)
        self.written.mark(key, destination.path)

    def _log(self, run: StoredRun, content: Content, destination: Destination, folder: Path) -> None:
        with finishing(start(run.identity, destination, folder, **NOT_OF_THIS_PROCESS)) as started:
            if started is not None:
                if run.kind == "models":
                    use_training_steps(started)
                content.log_missing(started)
        self.pushed.append(run.kind)

    def told(self) -> str:
        """One line about what was done."""
        there = f", {self.there} were there" if self.there else ""
        return f"pushed {count(self.pushed)}{there}"
