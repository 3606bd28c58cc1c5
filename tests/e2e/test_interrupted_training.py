"""A training that is killed goes on where it was, to the very same model."""

import json
import signal
import time

import pytest

from tests.e2e.conftest import SMALL, entries

TRAINING = (*SMALL, "trainer.max_epochs=20", "callbacks=none", "logger=none", "protocol=[predictions]")
KEEPING = (*TRAINING, "resume_seconds=0")
PATTERN = "outputs/store/unfinished/*/epoch-*"


def kill_after(process, folder, epoch):
    """SIGKILL the process as soon as it has kept so many epochs."""
    while process.poll() is None:
        if any(int(path.name[6:]) >= epoch for path in folder.glob(PATTERN)):
            process.send_signal(signal.SIGKILL)
        time.sleep(0.002)
    process.communicate()


@pytest.fixture
def undisturbed(attnlab):
    assert attnlab(*TRAINING, "paths.output_dir=whole").returncode == 0
    (model,) = (attnlab.folder / "whole/store/models").iterdir()
    return model


def test_the_model_is_that_of_an_undisturbed_training(attnlab, undisturbed):
    for epoch in (1, 5):
        kill_after(attnlab(*KEEPING, start=True), attnlab.folder, epoch)
    kept = max(attnlab.folder.glob(PATTERN))
    again = attnlab(*TRAINING)
    assert "training goes on after epoch" in again.stdout
    (model,) = entries(attnlab.folder, "models")
    assert (model / "weights.safetensors").read_bytes() == (undisturbed / "weights.safetensors").read_bytes()
    assert (model / "metrics.csv").read_text() == (undisturbed / "metrics.csv").read_text()
    told = json.loads((model / "training.json").read_text())
    assert told["epochs"] == 20
    assert not kept.parent.exists()


def test_a_damaged_checkpoint_is_named_and_left_out(attnlab, undisturbed):
    kill_after(attnlab(*KEEPING, start=True), attnlab.folder, 1)
    for kept in attnlab.folder.glob(PATTERN):
        (kept / "last.ckpt").write_bytes(b"PK damaged")
    again = attnlab(*TRAINING)
    assert again.returncode == 0
    assert f"{kept} cannot be read and is left out" in again.stdout
    (model,) = entries(attnlab.folder, "models")
    assert (model / "weights.safetensors").read_bytes() == (undisturbed / "weights.safetensors").read_bytes()
