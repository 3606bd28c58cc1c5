"""``attnlab --help``, read from the configuration files themselves."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from attnlab.config.location import config_directory
from attnlab.launch.studies import find_study, studies
from attnlab.verbs import VERBS

USAGE = """\
attnlab: can attention be believed as an explanation?

  attnlab                                      train a model on real data and measure its attention
  attnlab data=planted model=cnn seed=3        choose an option of a group, set a value
  attnlab protocol=[permutation] trainer.max_epochs=2
  attnlab -m seed=0,1,2 model=bilstm,cnn       every combination
  attnlab +paper=jain_wallace_2019 seed=0,1    a whole study
  attnlab --cfg job                            print the composed configuration
  attnlab --hydra-help                         Hydra's own options
"""

HIDDEN = ("hydra", "local")
"""Groups that nobody chooses an option of."""


def help_text() -> str:
    """Usage, then every group with its options, one line each."""
    root = config_directory()
    groups = [f"{heading(group)}\n{options(root / group)}" for group in group_names(root)]
    verbs = "Beside running jobs (attnlab status --help tells more):\n" + _two_columns(_verb_lines())
    names = "Studies (+sweep=NAME; +paper=NAME for those in paper/):\n" + _two_columns(_study_lines())
    values = "Single values (attnlab --cfg job shows all):\n" + "\n".join(_values(root / "config.yaml"))
    return "\n\n".join([USAGE + "\n" + verbs, names, "Groups and their options:", *groups, values]) + "\n"


def group_names(root: Path) -> list[str]:
    """Config groups, nested ones as ``model/attention``."""
    folders = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_dir())
    return sorted(g for g in folders if g.split("/")[0] not in HIDDEN and not g.endswith("common") and "__" not in g)


def heading(group: str) -> str:
    """How a group is chosen."""
    return f"{group}=[…,…]" if group == "protocol" else f"{group}=…"


def options(folder: Path) -> str:
    """One line per file of a group: its name, and the comment that it opens with."""
    return _two_columns((file.stem, description(file)) for file in sorted(folder.glob("*.yaml")))


def _two_columns(lines: Iterable[tuple[str, str]]) -> str:
    lines = list(lines)
    width = max((len(name) for name, _ in lines), default=0)
    return "\n".join(f"  {name:<{width}}  {text}" for name, text in lines)


def _verb_lines() -> Iterator[tuple[str, str]]:
    for name, verb in VERBS.items():
        yield f"attnlab {name} {verb.usage}", verb.description


def _study_lines() -> Iterator[tuple[str, str]]:
    for name in studies():
        yield name, description(find_study(name))


def description(file: Path) -> str:
    """The comment that a configuration file opens with, after Hydra's own directives."""
    with file.open(encoding="utf-8") as handle:
        comments = (line.lstrip("#").strip() for line in handle if line.startswith("#"))
        return next((comment for comment in comments if not comment.startswith("@")), "")


def _values(primary: Path) -> Iterator[str]:
    """The primary config's own keys with their comments."""
    for line in primary.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", "defaults", " ", "-")):
            key, _, comment = line.partition("#")
            yield f"  {key.strip():<16}{comment.strip()}"
        elif line.startswith("  ") and "#" in line and not line.strip().startswith("-"):
            key, _, comment = line.partition("#")
            yield f"    {key.strip():<26}{comment.strip()}"
