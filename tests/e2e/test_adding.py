"""What docs/adding.md shows works as it stands there, without editing anything else."""

import textwrap
from pathlib import Path

import pytest

from tests.e2e.conftest import SMALL

PAGE = Path(__file__).parents[2] / "docs" / "adding.md"


def block(after: str) -> str:
    """The first indented block after a line that starts so."""
    lines = PAGE.read_text(encoding="utf-8").split(f"\n{after}", 1)[1].splitlines()[1:]
    start = next(n for n, line in enumerate(lines) if line.startswith("    "))
    end = next((n for n in range(start, len(lines)) if lines[n] and not lines[n].startswith("    ")), len(lines))
    return textwrap.dedent("\n".join(lines[start:end])).strip() + "\n"


@pytest.fixture
def mine(tmp_path, environment):
    """A package and a configuration folder of the user's own."""
    for folder in ("conf/protocol", "conf/model", "conf/data"):
        (tmp_path / folder).mkdir(parents=True)
    environment["PYTHONPATH"] = f"{tmp_path}:{environment.get('PYTHONPATH', '')}"
    return tmp_path


def test_a_protocol(mine, attnlab):
    (mine / "mine.py").write_text(block("`attnlab/protocols/erasure/top_token.py`"))
    yaml = block("`conf/protocol/top_token.yaml`").split("\n\n")[0]
    (mine / "conf/protocol/top_token.yaml").write_text(yaml.replace("attnlab.protocols.erasure.top_token", "mine"))
    result = attnlab("--config-dir", str(mine / "conf"), *SMALL, "logger=none", "protocol=[top_token]")
    assert result.returncode == 0, result.stderr
    assert "change of the prediction" in result.stdout
    study = ("+sweep=quickstart", "--config-dir", str(mine / "conf"), "protocol=[top_token]", "dry_run=true")
    planned = attnlab(*study)
    assert planned.returncode == 0, planned.stderr
    assert "0 impossible" in planned.stdout


def test_an_encoder(mine, attnlab):
    head = "from torch import Tensor, nn\nfrom torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n\n"
    (mine / "mine.py").write_text(head + block("An encoder is a module"))
    bilstm = (PAGE.parents[1] / "conf/model/bilstm.yaml").read_text()
    (mine / "conf/model/gru.yaml").write_text(bilstm.replace("attnlab.nn.BiLSTM", "mine.GRU"))
    result = attnlab("--config-dir", str(mine / "conf"), *SMALL, "logger=none", "model=gru", "protocol=[permutation]")
    assert result.returncode == 0, result.stderr
    assert "planted-gru-additive-random" in result.stdout


def test_a_data_set(mine, attnlab):
    head = (
        "from dataclasses import dataclass\nfrom pathlib import Path\n\nimport pyarrow as pa\n\n"
        "from attnlab.data.sources.source import Source\n\n"
    )
    (mine / "mine.py").write_text(head + block("Local files need a YAML file alone"))
    rows = [f"{label} film {word} number {n}" for n in range(40) for label, word in (("bad", "dull"), ("good", "fine"))]
    (mine / "rows.txt").write_text("\n".join(rows))
    (mine / "conf/data/lines.yaml").write_text(
        "# Lines\ndefaults:\n  - common@_here_: text\n  - _self_\n\nsource:\n"
        f"  _target_: mine.Lines\n  file: {mine / 'rows.txt'}\n"
    )
    arguments = (*SMALL[4:], "data=lines", "logger=none", "protocol=[predictions]")
    result = attnlab("--config-dir", str(mine / "conf"), *arguments)
    assert result.returncode == 0, result.stderr
    assert "lines-bilstm-additive-random" in result.stdout
