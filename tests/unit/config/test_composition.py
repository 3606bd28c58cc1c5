"""Every shipped configuration composes, is described, and names classes that take its options."""

import inspect
from pathlib import Path

import pytest

from attnlab.config.composing import compose
from attnlab.config.help import description, group_names, help_text, options
from attnlab.config.location import config_directory
from attnlab.instantiate import target_class

ROOT = config_directory()
OPTIONS = [(group, file.stem) for group in group_names(ROOT) for file in sorted((ROOT / group).glob("*.yaml"))]


REQUIRED = {"vectors=file": ["vectors.path=vectors.txt"]}
"""What an option cannot be chosen without."""


def overrides(group, option):
    choice = f"{group}=[{option}]" if group == "protocol" else f"{group}={option}"
    return [choice, *REQUIRED.get(choice, [])]


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=lambda v: v)
def test_composes_and_is_described(group, option):
    config, choices = compose(overrides(group, option))
    assert config["seed"] == 0
    assert list(config["protocols"]) == [option] if group == "protocol" else choices[group] == option
    assert description(ROOT / group / f"{option}.yaml") in options(ROOT / group)
    assert len(description(ROOT / group / f"{option}.yaml")) > 10


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=lambda v: v)
def test_targets_take_the_options_that_the_files_set(group, option):
    config, _ = compose(overrides(group, option))
    for key, node in targets(config, ""):
        known = inspect.signature(target_class(node, key)).parameters
        unknown = {name for name in node if not name.startswith("_")} - known.keys()
        open_ended = any(p.kind is p.VAR_KEYWORD for p in known.values())
        assert open_ended or not unknown, (key, unknown)


def targets(node, key):
    """Every node with a ``_target_``."""
    if isinstance(node, dict):
        if "_target_" in node:
            yield key, node
        for name, child in node.items():
            yield from targets(child, f"{key}.{name}")


def test_help_lists_every_group_and_option_in_a_line_each():
    text = help_text()
    for group, option in OPTIONS:
        assert any(line.split()[:1] == [option] for line in text.splitlines()), (group, option)
    for value in ("seed", "split", "selection"):
        assert f"  {value}" in text


def test_paths_do_not_depend_on_where_the_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert compose()[0]["paths"]["store"] == "outputs/store"
    assert Path(compose()[0]["paths"]["cache_dir"]).is_absolute()
