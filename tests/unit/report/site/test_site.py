import base64
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import attnlab
from attnlab.errors import ConfigError
from attnlab.report.cells import read_cells
from attnlab.report.grid import make_grid
from attnlab.report.headline import Headline
from attnlab.report.site import write_site
from attnlab.report.site.embedding import pack, script_json
from attnlab.report.site.instances import PART_TOKENS, part_starts
from attnlab.report.site.joining import join
from attnlab.report.site.layout import arrange
from tests.unit.report.conftest import make_job, outputs
from tests.unit.report.site.written import NASTY, PROTOCOLS, make_records, write_store

__all__ = ["make_job", "outputs"]


@pytest.fixture
def write(outputs, make_job):
    """Write the site of stored results; returns its folder and the problems."""

    def run(folder="site"):
        problems = []
        write_site(read_cells(problems=problems), outputs / folder, problems)
        return outputs / folder, problems

    return run


def _part(path):
    """What a data script hands over."""
    text = path.read_text("utf-8")
    return json.loads(text[text.index("=") + 1 : text.rindex(";")])


def test_belief_is_how_far_the_value_has_come_from_one_end_to_the_other():
    for value, ends, belief in [
        (0.4, (0.0, 1.0), 0.4),
        (math.log(2), (math.log(2), 0.0), 0.0),
        (0.1, (0.5, 0.0), 0.8),
        (-0.3, (0.0, 1.0), 0.0),
        (0.9, (0.0, 0.5), 1.0),
    ]:
        assert Headline("s", "", value, ends).belief == pytest.approx(belief)
    assert Headline("s", "", None, (0.0, 1.0)).belief is Headline("s", "", 0.5, None).belief is None


def test_texts_cannot_end_the_script_that_carries_them():
    text = script_json(NASTY)
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == NASTY
    packed = np.frombuffer(base64.b64decode(pack([0.1, None, 1e-30])), "<f4")
    np.testing.assert_array_equal(packed, np.array([0.1, np.nan, 1e-30], np.float32))


def test_parts_hold_whole_instances():
    lengths = np.array([10, PART_TOKENS, 5, 5, 3 * PART_TOKENS, 1])
    assert part_starts(lengths) == [0, 2, 5]


def test_protocols_are_joined_by_id_whatever_their_order(outputs, make_job):
    tables = make_records(30)
    write_store(make_job(PROTOCOLS), tables)
    (group,) = arrange(make_grid(read_cells()))
    (measured,) = group.models()
    joined = join(measured, [])
    by_id = {protocol: table.to_pandas().set_index("id") for protocol, table in tables.items()}
    ids = joined.base["id"].to_pylist()
    found = {(c.protocol, c.name): c.values.to_pylist() for c in [*joined.scores, *joined.columns]}
    assert len(joined.scores) == 3
    for (protocol, name), values in found.items():
        expected = by_id[protocol][name].reindex(ids)
        for value, wanted in zip(values, expected, strict=True):
            np.testing.assert_equal(value if value is not None else np.nan, np.nan if wanted is None else wanted)


def test_the_data_of_a_browser_are_the_records(write, make_job):
    tables = make_records(40)
    job = make_job(PROTOCOLS)
    write_store(job, tables)
    site, problems = write()
    assert problems == []
    data = site / "data" / f"{job.model_key}-test"
    page = (site / "instances" / f"{job.model_key}-test.html").read_text("utf-8")
    about = json.loads(re.search(r'<script id="about" type="application/json">(.*?)</script>', page).group(1))
    assert (about["count"], about["unit"]) == (40, "words")
    assert [s["title"] for s in about["scores"]] == [
        "Attention",
        "Gradient × input",
        "Strongest adversarial attention",
    ]
    attention = np.concatenate(tables["predictions"]["attention"].to_numpy())
    written = [np.frombuffer(base64.b64decode(_part(p)[0]), "<f4") for p in sorted(data.glob("scores-*.js"))]
    np.testing.assert_array_equal(np.concatenate(written), attention)
    texts = [text.split("\x1f") for p in sorted(data.glob("text-*.js")) for text in _part(p)["tokens"]]
    assert texts == tables["predictions"]["tokens"].to_pylist()
    index = _part(data / "index.js")
    place = [(c["protocol"], c["name"]) for c in about["columns"]].index(("gradient_correlation", "tau"))
    tau = np.frombuffer(base64.b64decode(index["columns"][place]), "<f4")
    np.testing.assert_allclose(tau, tables["gradient_correlation"]["tau"].to_numpy(), rtol=1e-6)


def test_pages_link_only_to_files_that_are_there(write, make_job):
    for overrides in (["seed=0"], ["seed=1"], ["seed=0", "model=cnn"]):
        write_store(make_job(PROTOCOLS, *overrides), make_records(10))
    site, _ = write()
    pages = list(site.rglob("*.html"))
    assert len(pages) == 1 + 2 + 3
    for page in pages:
        text = page.read_text("utf-8")
        assert not re.search(r"(https?:)?//\w", text)
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            name, _, anchor = link.partition("#")
            target = (page.parent / name) if name else page
            assert link == "data:," or target.is_file(), link
            assert not anchor or f'id="{anchor}"' in target.read_text("utf-8")


def test_damaged_files_are_named_and_the_rest_is_shown(write, make_job):
    job = make_job(PROTOCOLS)
    write_store(job, make_records(10))
    folder = {protocol: job.store.path("results", key) for protocol, key in job.result_keys.items()}
    content = (folder["gradient_correlation"] / "records.parquet").read_bytes()
    middle = len(content) // 2
    (folder["gradient_correlation"] / "records.parquet").write_bytes(b"PAR1" + b"\0" * middle + content[middle:])
    (folder["permutation"] / "provenance.json").write_text("{")
    (folder["adversarial_attention"] / "specification.json").write_text("[]")
    (folder["predictions"] / "figures").mkdir()
    (folder["predictions"] / "figures" / "cut.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (job.store.root / "results" / "notes.txt").write_text("mine")
    foreign = make_job("protocol=[permutation]", "seed=1")
    write_store(foreign, {"permutation": make_records(10)["permutation"]})
    path = foreign.store.path("results", foreign.result_keys["permutation"]) / "records.parquet"
    table = pq.read_table(path)
    place = table.column_names.index("label")
    pq.write_table(table.set_column(place, "label", pa.array(["yes"] * table.num_rows)), path)
    site, problems = write()
    page = (site / "index.html").read_text("utf-8")
    for name in ("provenance.json", "specification.json", "cut.png", "notes.txt"):
        assert sum(name in line for line in problems) == 1, name
        assert page.count(name) == 1
    assert sum("no numbers" in line for line in problems) == page.count("no numbers") == 1
    assert f"{path} has labels that are no numbers: not records of this version" in problems
    assert sum(str(folder["gradient_correlation"]) in line for line in problems) == 1
    assert (site / "instances" / f"{job.model_key}-test.html").is_file()


def test_a_folder_of_ones_own_is_left_alone_and_a_site_is_replaced(write, outputs, make_job):
    write_store(make_job(PROTOCOLS), make_records(5))
    site, _ = write()
    (site / "groups" / "old.html").write_text("")
    write()
    assert not (site / "groups" / "old.html").exists()
    (outputs / "mine").mkdir()
    (outputs / "mine" / "thesis.tex").write_text("")
    with pytest.raises(ConfigError, match="something other than a site"):
        write("mine")


def test_nothing_here_needs_torch():
    code = "import sys, attnlab.report.command, attnlab.report.site; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(attnlab.__file__).parents[1]).returncode == 0
