"""``attnlab wandb dashboard``: a W&B workspace, a report and a run of aggregates for a sweep or a store."""

import argparse
import gc
import importlib.util
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnlab.config.location import do_without_home
from attnlab.errors import ConfigError
from attnlab.inspect.places import output_directory
from attnlab.inspect.text import warn
from attnlab.report.cells import ResultCell, find_place
from attnlab.report.command import Chosen, choose
from attnlab.store import Store
from attnlab.store.document import read_json, write_json
from attnlab.wandb.aggregate import make_aggregate
from attnlab.wandb.destination import add_destination, asked_destination, push_folder
from attnlab.wandb.logged import find_logged
from attnlab.wandb.mirror import mirror
from attnlab.wandb.offline import PushedRuns
from attnlab.wandb.start import Destination, UnreachableError, asking
from attnlab.wandb.stored import of_store, of_sweep

FILE = "dashboard.json"


def main(arguments: Sequence[str]) -> int:
    """Show a sweep or a store as a whole."""
    options = _parser().parse_intermixed_args(arguments)
    if importlib.util.find_spec("wandb_workspaces") is None:
        raise ConfigError("attnlab wandb dashboard needs wandb-workspaces: pip install 'attnlab[dashboards]'")
    gc.enable()  # off for verbs that live for a second
    do_without_home()
    asked = asked_destination(options)
    place = find_place(options.place)
    problems: list[str] = []
    chosen = choose(place, [], problems)
    destination = _destination(asked, options.project, chosen.cells)
    try:
        told = _show(place, chosen, destination, push_folder(options), problems)
    except UnreachableError as error:
        print(f"attnlab: {error}. Try again, or use --mode offline", file=sys.stderr)
        return 1
    finally:
        warn(problems)
    print(told)
    if options.mode == "offline":
        print(f"upload: {_how_to_upload(options, PushedRuns(push_folder(options)).runs)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="attnlab wandb dashboard",
        description="Make a W&B workspace and report for a sweep or a store, of the runs that jobs and `attnlab wandb "
        "push` log, and one run with the tables and figures over all seeds. Again, it replaces what it made.",
    )
    parser.add_argument("place", nargs="?", metavar="SWEEP|STORE", help="as for attnlab report (default: the store)")
    add_destination(parser)
    return parser


def _destination(asked: Destination, project: str | None, cells: Sequence[ResultCell]) -> Destination:
    """One project: as asked, else that of all jobs.

    Raises:
        ConfigError: jobs went to several projects or entities, and none was asked for.
    """
    loggers = [cell.config.get("logger") or {} for cell in cells]
    projects = {logger.get("project") or asked.project for logger in loggers}
    entities = {logger.get("entity") for logger in loggers}
    chosen = project or _only(projects, "--project")
    return replace(asked, project=chosen, entity=asked.entity or _only(entities, "--entity"))


def _only(names: set[Any], option: str) -> Any:  # noqa: ANN401 - a name, or None
    if len(names) > 1:
        known = ", ".join(sorted(str(name) for name in names if name))
        raise ConfigError(f"{option} is needed: the jobs here logged to several ({known})")
    return next(iter(names))


def _show(place: Path, chosen: Chosen, destination: Destination, pushed: Path, problems: list[str]) -> str:
    """Log the run, write the specification, and save it where W&B is asked; what was done, in lines."""
    from attnlab.wandb.views import as_plain, make_report, make_workspace, save

    name = place_name(place)
    folder = pushed / "dashboards" / name
    aggregate = make_aggregate(name, place, chosen, folder / "figures", problems)
    selection = of_sweep(place) if (place / "cells").is_dir() else of_store(Store(place))
    logged = find_logged(chosen.cells, selection.entries)
    if destination.mode == "online" and destination.entity is None:
        destination = replace(destination, entity=_own_entity())
    mirror(aggregate.identity, destination, PushedRuns(pushed), aggregate.content)
    workspace = make_workspace(name, destination, logged, aggregate)
    report = make_report(name, destination, logged, aggregate)
    saved = _saved(folder / FILE)
    if destination.mode == "online":
        with asking("save the workspace and the report"):
            saved[destination.path] = save(workspace, report, saved.get(destination.path, {}))
    about = {"name": name, "entity": destination.entity, "project": destination.project, "run": aggregate.identity.id}
    write_json(folder / FILE, {**about, **as_plain(workspace, report), "saved": saved})
    addresses = saved[destination.path] if destination.mode == "online" else {}
    lines = [f"{kind}: {address}" for kind, address in addresses.items()]
    return "\n".join([f"dashboard of {len(chosen.cells)} results: {folder / FILE}", *lines])


def place_name(place: Path) -> str:
    """What a dashboard is called: the sweep's folder under ``outputs/sweeps``, else the name of the folder.

    Characters that W&B refuses in names, or that a file system may trip over, become dashes.
    """
    sweeps = (output_directory() / "sweeps").absolute()
    name = str(place.relative_to(sweeps)) if place.is_relative_to(sweeps) else place.name
    return re.sub(r"[^\w.-]+", "-", name)


def _own_entity() -> str | None:
    import wandb

    with asking("tell the account's name"):
        entity: str | None = wandb.Api().default_entity
    return entity


def _saved(path: Path) -> dict[str, dict[str, str]]:
    """Addresses of what earlier calls saved, by entity and project."""
    return dict(read_json(path).get("saved", {})) if path.exists() else {}


def _how_to_upload(options: argparse.Namespace, runs: Path) -> str:
    chosen = [part for name in ("project", "entity", "folder") for part in _typed(name, getattr(options, name))]
    again = ["attnlab", "wandb", "dashboard", *([options.place] if options.place else []), *chosen]
    return f"wandb sync -n 8 {shlex.quote(str(runs))} && {shlex.join(again)}"


def _typed(name: str, value: object) -> list[str]:
    return [] if value is None else [f"--{name}", str(value)]
