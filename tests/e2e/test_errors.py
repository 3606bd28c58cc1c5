"""What a user gets wrong costs one line and exit code 2, before anything is trained."""

import pytest

from tests.e2e.conftest import PLANTED, entries

CHEAP = [
    (["sed=1"], "sed: no such option; did you mean 'seed'?"),
    (["trainer.max_epoch=1"], "did you mean 'trainer.max_epochs'?"),
    (["data=movi"], "data=movi: no such option; did you mean 'movie'?; choose from"),
    (["protocol=[permutations]"], "did you mean 'permutation'?"),
    (["modle=cnn"], "did you mean 'model'?"),
    (["seed=abc"], "seed=abc: expected a whole number"),
    (["trainer.max_epochs=two"], "trainer.max_epochs=two: expected a whole number"),
    (["split=dev"], "split=dev: choose one of train, validation, test"),
    (["protocol=[predictions]", "protocols.permutation.draws=3"], "draws: no such option with these choices"),
    (["protocol=[]"], "protocol=[] measures nothing"),
    (["data=text", "data.path=nowhere.csv"], "nowhere.csv"),
    (["vectors=file"], "vectors.path: it has no default; add vectors.path="),
    (["data=planted", "seed=[1"], "seed=[1"),
]

LATE = [
    (["+model.depth=2"], "model"),
    (["protocols.permutation.draws=0"], "protocols.permutation: draws must be positive"),
    (["protocols.adversarial_attention.solver=magic"], "solver must be 'exact' or 'search'"),
    (["trainer.accelerator=gpu"], "trainer"),
    (["logger.mode=sometimes"], "logger.mode=sometimes: choose one of"),
    (["logger.mode=online"], "WANDB_API_KEY"),
    (["model/attention=frozen"], "data.attention"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), CHEAP + LATE, ids=lambda v: " ".join(v) if isinstance(v, list) else ""
)
def test_one_line_and_exit_code_2(attnlab, arguments, message):
    data = () if any(a.startswith("data=") for a in arguments) else PLANTED
    result = attnlab(*data, *arguments)
    assert result.returncode == 2, result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("attnlab: ")]
    assert len(lines) == 1, result.stderr
    assert message in lines[0]
    assert not entries(attnlab.folder, "models")
