"""A training that is killed goes on where it was, to the very same model."""

import json
import signal
import time

import pytest

from tests.e2e.conftest import SMALL, entries

TRAINING = (*SMALL, "trainer.max_epochs=20", "callbacks=none", "logger=none", "protocol=[predictions]")
KEEPING = "resume_seconds=0"
# With dropout, so that each process draws numbers of its own, and a learning rate that follows the dev set.
SCHEDULED = ("model=flat_cnn", "trainer.max_epochs=8")
SEVERAL = (*SCHEDULED, "trainer=ddp", "trainer.accelerator=cpu")
PATTERN = "outputs/store/unfinished/*/epoch-*"


def kill_after(process, folder, epoch):
    """SIGKILL the process as soon as it has kept so many epochs."""
    while process.poll() is None:
        if any(int(path.name[6:]) >= epoch for path in folder.glob(PATTERN)):
            process.send_signal(signal.SIGKILL)
        time.sleep(0.002)
    process.communicate()


def undisturbed(attnlab, *options):
    assert attnlab(*TRAINING, *options, "paths.output_dir=whole").returncode == 0
    (model,) = (attnlab.folder / "whole/store/models").iterdir()
    return model


@pytest.mark.parametrize(
    ("options", "epochs", "kills"),
    [
        (SCHEDULED, 8, (1,)),
        pytest.param((), 20, (1, 5), marks=pytest.mark.slow),
        pytest.param(SEVERAL, 8, (1, 3), marks=pytest.mark.slow),
    ],
)
def test_the_model_is_that_of_an_undisturbed_training(options, epochs, kills, attnlab):
    whole = undisturbed(attnlab, *options)
    for epoch in kills:
        kill_after(attnlab(*TRAINING, *options, KEEPING, start=True), attnlab.folder, epoch)
    kept = max(attnlab.folder.glob(PATTERN))
    again = attnlab(*TRAINING, *options)
    assert "training goes on after epoch" in again.stdout
    (model,) = entries(attnlab.folder, "models")
    assert (model / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
    assert (model / "metrics.csv").read_text() == (whole / "metrics.csv").read_text()
    told = json.loads((model / "training.json").read_text())
    assert told["epochs"] == epochs
    assert not kept.parent.exists()


def test_a_damaged_checkpoint_is_named_and_left_out(attnlab):
    whole = undisturbed(attnlab)
    kill_after(attnlab(*TRAINING, KEEPING, start=True), attnlab.folder, 1)
    for kept in attnlab.folder.glob(PATTERN):
        (kept / "last.ckpt").write_bytes(b"PK damaged")
    again = attnlab(*TRAINING)
    assert again.returncode == 0
    assert f"{kept} cannot be read and is left out" in again.stdout
    (model,) = entries(attnlab.folder, "models")
    assert (model / "weights.safetensors").read_bytes() == (whole / "weights.safetensors").read_bytes()
