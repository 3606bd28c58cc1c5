"""Start-up without torch, and machines that lack a home, a network or space."""

import subprocess
import sys

from tests.e2e.conftest import PLANTED, SMALL, entries


def imported(arguments, folder, environment):
    """Modules that a command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "attnlab", *arguments]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr[-2000:]
    return {line.rpartition("|")[2].strip() for line in result.stderr.splitlines() if line.startswith("import time:")}


def test_help_composition_and_finished_jobs_import_no_torch(attnlab, environment):
    job = (*SMALL, "logger=none", "protocol=[predictions]")
    attnlab(*job)
    heavy = {"torch", "lightning", "datasets", "matplotlib", "wandb"}
    for arguments in (["--help"], ["--version"], ["--cfg", "job"], job):
        assert not heavy & imported(arguments, attnlab.folder, environment), arguments
    assert "hydra" not in imported(["--help"], attnlab.folder, environment)


def test_without_home_network_or_key(attnlab, tmp_path):
    # A file is no folder, even for root; and nothing listens at the proxy.
    (tmp_path / "no-home").write_text("")
    home = str(tmp_path / "no-home")
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    result = attnlab(*SMALL, "protocol=[permutation]", HOME=home, XDG_CACHE_HOME=home, **offline)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    assert len(entries(attnlab.folder, "results")) == 1
    assert list((attnlab.folder / "outputs" / "runs").glob("*/*/wandb/offline-run-*/*.wandb"))


def test_a_store_that_cannot_be_written_is_said_before_training(attnlab):
    (attnlab.folder / "file").write_text("")
    result = attnlab(*PLANTED, "logger=none", "paths.store=file/store")
    assert result.returncode == 2
    assert "paths.output_dir" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_damaged_model_is_named_with_the_remedy(attnlab):
    job = (*SMALL, "logger=none")
    attnlab(*job, "protocol=[predictions]")
    (model,) = entries(attnlab.folder, "models")
    weights = model / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    result = attnlab(*job, "protocol=[permutation]")
    assert result.returncode == 2
    assert f"{weights} is damaged" in result.stderr
    assert f"remove {model} and run again" in result.stderr


def test_a_full_disk_is_one_line_and_keeps_what_was_finished(attnlab, tmp_path):
    job = (*SMALL, "logger=none", "protocol=[predictions]")
    attnlab(*job)
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        import pytest

        pytest.skip("needs the right to mount a file system")
    try:
        result = attnlab(*job, f"paths.store={small}/store")
    finally:
        subprocess.run(["umount", str(small)], check=True)
    assert result.returncode == 1
    assert "attnlab: No space left on device" in result.stderr
    assert "Traceback" not in result.stderr
    assert len(entries(attnlab.folder, "results")) == 1
