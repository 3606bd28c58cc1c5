import importlib
import subprocess
import sys

import pytest

from attnlab.config.location import config_directory
from attnlab.declared import declared
from attnlab.errors import ConfigError

ROOT = config_directory()
TARGETS = sorted(
    {
        line.split(": ")[1].strip()
        for group in ("data", "model", "model/attention", "protocol")
        for file in (ROOT / group).rglob("*.yaml")
        for line in file.read_text().splitlines()
        if line.startswith("_target_")
    }
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("attribute", ["gives", "requires"])
def test_reads_what_the_class_has(target, attribute):
    module, _, name = target.rpartition(".")
    actual = getattr(getattr(importlib.import_module(module), name), attribute, frozenset())
    assert declared(target, attribute) == actual


def test_imports_nothing_heavy():
    code = f"import sys; from attnlab.declared import declared; [declared(t, 'gives') for t in {TARGETS}]"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)


@pytest.mark.parametrize("target", ["attnlab.nn.Nothing", "attnlab.nowhere.X", "nopackage.X", "json.x.Y", "X"])
def test_a_class_that_is_not_there_is_said(target):
    with pytest.raises(ConfigError, match="no such class"):
        declared(target, "gives")


def test_there_is_something_to_read():
    assert len(TARGETS) > 8
