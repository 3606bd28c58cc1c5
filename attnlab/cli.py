"""The entry point: Hydra's grammar, with errors in one line."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.errors import AttnlabError
from attnlab.verbs import VERBS

if TYPE_CHECKING:
    from omegaconf import DictConfig


def main() -> None:
    """Run ``attnlab``.

    Exits with 2 for what the user can mend in the command, 1 for other failures, 130 when interrupted.
    """
    arguments = sys.argv[1:]
    if arguments and arguments[0] in VERBS:
        with _one_line_errors():
            sys.exit(VERBS[arguments[0]].run(arguments[1:]))
    elif {"-h", "--help"} & set(arguments):
        from attnlab.config.help import help_text

        print(help_text(), end="")
    elif "--version" in arguments:
        from importlib.metadata import version

        print(f"attnlab {version('attnlab')}")
    else:
        from attnlab.config.location import do_without_home

        do_without_home()
        with _one_line_errors():
            _run(arguments)


def _run(arguments: list[str]) -> None:
    from attnlab.launch.studies import sweep_arguments

    study = sweep_arguments(arguments)
    if study:
        _run_study(*study)
    else:
        _hydra_app()


def _run_study(name: str, overrides: list[str]) -> None:
    """All jobs of a sweep file, by the launcher that ``-m`` uses too."""
    from attnlab.launch.studies import expand_file, study_folder

    jobs = expand_file(name, overrides)
    folder = study_folder(name, jobs[0])
    from attnlab.launch.launcher import launch_jobs

    sys.exit(launch_jobs(jobs, folder))


def _hydra_app() -> None:
    import hydra

    from attnlab.config.composing import register_resolvers
    from attnlab.config.location import config_directory
    from attnlab.launch.plugins import register_plugins

    # Hydra would otherwise print errors its own way and exit with 1; see _one_line_errors.
    os.environ.setdefault("HYDRA_FULL_ERROR", "1")
    register_resolvers()
    register_plugins()
    decorate = hydra.main(config_path=str(config_directory()), config_name="config", version_base="1.3")
    decorate(_task)()


def _task(config: "DictConfig") -> None:
    """One job, inside Hydra, which would print its own line about an exception that leaves it."""
    with _one_line_errors():
        _run_job(config)


def _run_job(config: "DictConfig") -> None:
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.hydra_config import HydraConfig

    from attnlab.config.composing import chosen_options, to_plain

    hydra = HydraConfig.get()

    def compose(overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
        return to_plain(config), chosen_options(hydra.runtime.choices)

    if config.dry_run:
        from attnlab.launch.plan import make_plan
        from attnlab.launch.sweep import show_plan

        plan = make_plan([list(hydra.overrides.task)], compose, _defaults)
        return show_plan(plan)
    if config.get("cluster"):
        from attnlab.launch.launcher import launch_jobs

        GlobalHydra.instance().clear()
        sys.exit(launch_jobs([list(hydra.overrides.task)], Path(hydra.sweep.dir).absolute()))
    from attnlab.launch.plan import checked_job
    from attnlab.run import run

    job = checked_job(list(hydra.overrides.task), compose, _defaults)
    return _show(job, run(job, Path(hydra.runtime.output_dir)))


def _defaults(overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """A job composed from its group choices alone, whose values tell the types."""
    from hydra.core.global_hydra import GlobalHydra

    from attnlab.config.composing import load_with_hydra
    from attnlab.launch.composing import Composing

    return Composing(load_with_hydra, GlobalHydra.instance().config_loader()).defaults(overrides)


def _show(job: Any, results: Any) -> None:  # noqa: ANN401 - types need imports that start-up does without
    from rich.console import Console

    from attnlab.report.table import result_table

    console = Console()
    title = f"{job.cell}, seed {job.config['seed']}, {job.config['split']} split"
    summaries = {result.protocol: result.summary for result in results}
    console.print(f"\n{title}", style="bold", soft_wrap=True)
    console.print(result_table(summaries, console.width))
    console.print(f"records, summaries and figures: {Path(job.store.root)}", soft_wrap=True)


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        sys.exit(130)
    except AttnlabError as error:
        _fail(str(error), 2, error)
    except Exception as error:
        _explain(error)


def _explain(error: Exception) -> None:
    """Print one line for an error of Hydra, of the disk, or of a forbidden folder; raise any other again."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    if isinstance(error, HydraException | OmegaConfBaseException):
        from attnlab.config.messages import explain

        _fail(explain(error), 2, error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS):
        place = error.filename or "output folder"
        _fail(f"{error.strerror}: {place}; what was finished is in the store", 1, error)
    raise error


def _fail(message: str, code: int, error: Exception) -> None:
    """Print one line; ATTNLAB_TRACEBACK=1 shows where it came from."""
    if os.environ.get("ATTNLAB_TRACEBACK"):
        raise error
    print(f"attnlab: {message}", file=sys.stderr)
    sys.exit(code)
