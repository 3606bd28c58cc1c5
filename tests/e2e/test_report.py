"""`attnlab report` on a store that the command line made."""

import io
import subprocess
import sys

import pandas as pd
import pytest

from tests.e2e.conftest import SMALL, entries

IN_PYTHON = """
import sys, attnlab
study = attnlab.load("outputs/store").select(protocol="permutation", seed=[0, 1])
assert len(study) == 2 and "torch" not in sys.modules
cell = study[1]
value = cell.records.to_pandas().median_tvd.mean()
assert abs(value - cell.summary["statistics"]["tvd"]["all"]) < 1e-9
assert study.numbers(replicates=20).height > 0
assert not cell.load_model().training
"""


def test_tables_figures_and_python_from_a_store_made_by_jobs(attnlab):
    for seed in (0, 1):
        arguments = (
            *SMALL,
            "logger=none",
            "model=projection",
            "protocol=[predictions,permutation,set_erasure]",
            "trainer.max_epochs=2",
        )
        done = attnlab(*arguments, f"seed={seed}")
        assert done.returncode == 0, done.stderr
    done = attnlab("report", "outputs/store", "--format=csv", "--figures=figures", "--replicates=100")
    assert done.returncode == 0, done.stderr
    assert "figures in figures" in done.stderr
    assert (attnlab.folder / "figures/planted/projection/page.pdf").read_bytes().startswith(b"%PDF")
    numbers = pd.read_csv(io.StringIO(done.stdout)).set_index(["protocol", "statistic"])
    records = [pd.read_parquet(folder / "records.parquet") for folder in entries(attnlab.folder, "results")]
    tvd = [frame.median_tvd.mean() for frame in records if "median_tvd" in frame]
    right = [(frame.label == frame.prediction).mean() for frame in records if "probabilities" in frame]
    for name, values in ((("permutation", "tvd"), tvd), (("predictions", "accuracy"), right)):
        row = numbers.loc[name]
        assert row["mean"] == pytest.approx(sum(values) / 2)
        assert row.low <= row["mean"] <= row.high
        assert (row.seeds, row.instances) == (2, 60)

    table = attnlab("report", "--table=serrano_smith/erasure", "--output=erasure.tex", PYTHONPROFILEIMPORTTIME="1")
    assert table.returncode == 0, table.stderr
    assert r"\toprule" in (attnlab.folder / "erasure.tex").read_text()
    assert " polars\n" in table.stderr
    assert " torch\n" not in table.stderr
    absent = attnlab("report", "--table=jain_wallace/correlation")
    assert (absent.returncode, absent.stderr.count("\n")) == (2, 1)
    assert "no result here is by gradient_correlation or leave_one_out" in absent.stderr
    compared = attnlab("report", "--compare", "set_erasure/never_attention", "set_erasure/never_gradient")
    assert compared.returncode == 0, compared.stderr
    assert "with 2 common seeds no sign-flip test" in compared.stdout

    command = [sys.executable, "-c", IN_PYTHON]
    python = subprocess.run(command, cwd=attnlab.folder, env=attnlab.environment, capture_output=True, text=True)
    assert python.returncode == 0, python.stderr
