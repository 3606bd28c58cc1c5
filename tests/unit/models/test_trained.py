import pytest
import torch

import attnlab
from attnlab.config.composing import compose
from attnlab.errors import StoreError
from attnlab.models.trained import build_model, save_model
from tests.conftest import make_batch

TASK = {"vocab_size": 40, "num_classes": 3, "pos_weight": None}


@pytest.fixture
def saved(tmp_path):
    config, _ = compose(["model=cnn", "model/attention=scaled_dot", "vectors.dim=12", "model.encoder.hidden_size=8"])
    torch.manual_seed(0)
    model = build_model(config["model"], TASK).eval()
    save_model(tmp_path, model, config, TASK)
    return model, tmp_path


def test_a_model_comes_back_in_one_line(saved):
    model, folder = saved
    loaded = attnlab.load_model(folder)
    assert not loaded.training
    torch.testing.assert_close(loaded(make_batch()), model(make_batch()), atol=0, rtol=0)


def test_what_is_saved_is_tensors_and_plain_values(saved):
    _, folder = saved
    assert {p.suffix for p in folder.iterdir()} == {".safetensors", ".yaml"}
    assert "!!python" not in (folder / "config.yaml").read_text()


@pytest.mark.parametrize("name", ["weights.safetensors", "config.yaml", "task.yaml"])
def test_a_missing_or_cut_file_is_named(saved, name):
    _, folder = saved
    (folder / name).write_bytes((folder / name).read_bytes()[:9])
    with pytest.raises(StoreError, match=rf"{name} (is damaged|cannot be read)"):
        attnlab.load_model(folder)
    (folder / name).unlink()
    with pytest.raises(StoreError, match=name.split(".")[0]):
        attnlab.load_model(folder)


def test_weights_of_another_shape_are_refused(saved):
    _, folder = saved
    (folder / "task.yaml").write_text("{vocab_size: 41, num_classes: 3, pos_weight: null}\n")
    with pytest.raises(StoreError, match="is damaged"):
        attnlab.load_model(folder)
