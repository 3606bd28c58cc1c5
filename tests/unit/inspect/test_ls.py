import json

import pytest

from attnlab.errors import ConfigError
from attnlab.inspect.ls import main
from attnlab.store import Store
from attnlab.store.entry import read_entry
from tests.unit.inspect.conftest import add_model, add_result


@pytest.fixture
def filled(make_job):
    """Three jobs, measured."""
    jobs = [
        make_job("model=cnn", "seed=1"),
        make_job("model=bilstm", "seed=10", "trainer.max_epochs=2"),
        make_job("model=bilstm", "seed=2", "model/attention=uniform"),
    ]
    for number, job in enumerate(jobs):
        add_model(job)
        add_result(job, value=number / 8)
    return jobs


def listed(capsys, *arguments):
    """Rows of ``--json``."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_results_are_a_table_sorted_by_what_they_are(filled, capsys):
    assert main(["results"]) == 0
    header, *rows, _, total = capsys.readouterr().out.splitlines()
    assert " ".join(header.split()) == (
        "key data model attention vectors seed split protocol statistic value seconds date"
    )
    assert [row.split()[1:10] for row in rows] == [
        ["planted", "bilstm", "additive", "random", "10", "test", "permutation", "tvd", "0.1250"],
        ["planted", "bilstm", "uniform", "random", "2", "test", "permutation", "tvd", "0.2500"],
        ["planted", "cnn", "additive", "random", "1", "test", "permutation", "tvd", "0.0000"],
    ]
    assert rows[0].endswith("0.2 s  2026-01-02 03:04")
    assert total.startswith("3 of 3 results in ")


def test_models_show_what_chose_their_epoch(filled, capsys):
    main(["models", "model=cnn"])
    _, row, *_ = capsys.readouterr().out.splitlines()
    assert row.split()[1:9] == ["planted", "cnn", "additive", "random", "1", "val/auroc", "3", "0.7500"]


@pytest.mark.parametrize(
    ("filters", "seeds"),
    [
        ([], {1, 2, 10}),
        (["model=bilstm"], {2, 10}),
        (["model=bilstm", "attention=uniform"], {2}),
        (["model/attention=uniform"], {2}),
        (["seed=1,2"], {1, 2}),
        (["trainer.max_epochs=2"], {10}),
        (["split=test", "protocol=permutation"], {1, 2, 10}),
        (["protocols.permutation.draws=100"], {1, 2, 10}),
        (["model.encoder.kernel_sizes=[1,3,5,7]"], {1}),
        (["data.bucket=true", "data.path=null"], {1, 2, 10}),
        (["model=projection"], set()),
    ],
)
def test_filters_name_groups_columns_and_configuration_keys(filled, capsys, filters, seeds):
    assert {row["seed"] for row in listed(capsys, "results", *filters)} == seeds


def test_a_key_is_found_by_its_start(filled, capsys):
    key = next(iter(filled[0].result_keys.values()))
    (row,) = listed(capsys, "results", f"key={key[:8]}")
    assert row["key"] == key
    assert row["model_key"] == filled[0].model_key


def test_a_filter_that_no_entry_knows_is_refused(filled):
    with pytest.raises(ConfigError, match="sed: no entry has such a key; did you mean 'seed'"):
        main(["results", "sed=1"])
    with pytest.raises(ConfigError, match="filters are key=value"):
        main(["results", "permutation"])


def test_an_empty_store_is_told(outputs, capsys):
    assert main(["results", "seed=1"]) == 0
    assert "none of 0 results" in capsys.readouterr().out
    assert not outputs.exists()


def test_damaged_and_foreign_entries_are_named_and_left_out(filled, outputs, capsys):
    results = outputs / "store" / "results"
    damaged, truncated = (next(iter(job.result_keys.values())) for job in filled[:2])
    (results / damaged / "entry.json").write_text('{"seed": 1}')
    (results / truncated / "entry.json").write_bytes(b'{"seed": 10, "conf')
    (results / "notes").mkdir()
    (results / ("f" * 20)).mkdir()
    (results / ("e" * 20)).write_text("")
    assert main(["results"]) == 0
    captured = capsys.readouterr()
    assert "1 of 1 results" in captured.out
    for name in (damaged, truncated, "notes", "f" * 20, "e" * 20):
        assert name in captured.err
    assert captured.err.count("skipped: ") == 5


def test_an_entry_without_its_summary_file_is_read_from_the_others(filled, capsys):
    job = filled[0]
    for kind, key in (("models", job.model_key), ("results", next(iter(job.result_keys.values())))):
        folder = job.store.path(kind, key)
        before = read_entry(kind, folder)
        (folder / "entry.json").unlink()
        choices = before["choices"] if kind == "results" else {}
        assert read_entry(kind, folder) == {**before, "choices": choices}


def test_another_store_is_named_by_an_option(filled, tmp_path, capsys):
    assert listed(capsys, "models", "--store", str(tmp_path / "other")) == []
    assert len(listed(capsys, "models", "--store", str(Store("outputs/store").root))) == 3
