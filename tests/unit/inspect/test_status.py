import json
import os
import platform
import time

import pytest

from attnlab.errors import StoreError
from attnlab.inspect.status import main
from attnlab.store.document import write_yaml
from tests.unit.inspect.conftest import add_cell, add_result

HERE = {"pid": os.getpid(), "host": platform.node()}
GONE = {"pid": 2**22 + 1, "host": platform.node()}


def error(message):
    """Content of ``error.json``."""
    return {"type": "DataError", "message": message, "traceback": "…"}


@pytest.fixture
def sweep(outputs, make_job):
    """Nine cells in every state."""
    folder = outputs / "sweeps" / "study"
    for seed in (0, 1):
        job = make_job(f"seed={seed}")
        add_result(job)
        add_cell(folder, job, done={"seconds": 30.0 + 10 * seed})
    add_cell(folder, make_job("seed=2"), error=error("no file a"))
    log = add_cell(folder, make_job("seed=3"), error=error("no file a")) / "output.log"
    log.write_text("what was printed")
    add_cell(folder, make_job("seed=4"), error=error("no file b"))
    add_cell(folder, make_job("seed=5"), heartbeat={**HERE, "started": time.time() - 5})
    add_cell(folder, make_job("seed=6"), heartbeat={**GONE, "started": time.time()})
    for seed in (7, 8):
        add_cell(folder, make_job(f"seed={seed}"))
    write_yaml(folder / "sweep.yaml", {"command": ["/usr/bin/attnlab", "-m", "seed=range(9)", "x=a b"]})
    return folder


def states(capsys, *arguments):
    """Seed and state of every cell."""
    assert main([*arguments, "--json"]) == 0
    return {cell["seed"]: cell["state"] for cell in json.loads(capsys.readouterr().out)["cells"]}


def test_states_are_read_from_store_errors_and_heartbeats(sweep, capsys):
    expected = {0: "done", 1: "done", 2: "failed", 3: "failed", 4: "failed", 5: "alive", 6: "dead", 7: "waiting"}
    assert states(capsys) == {**expected, 8: "waiting"}


def test_the_report_groups_failures_and_tells_what_is_left(sweep, capsys):
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("outputs/sweeps/study: 9 cells")
    assert lines[1].split() == ["done", "2", "failed", "3", "dead", "1", "alive", "1", "waiting", "2"]
    # 35 s a cell: three that wait or died, and 30 s of the one that runs.
    assert lines[2].strip() == "ETA 2 min, from the seconds of 2 cells, 1 running"
    assert lines[3] == "3 failed:"
    assert lines[4] == "  2 x DataError: no file a"
    assert "cells" in lines[5]
    assert lines[6] == "  1 x DataError: no file b"
    assert lines[8].startswith("1 died without a word")
    assert lines[9] == "run the missing cells: attnlab -m 'seed=range(9)' 'x=a b'"


def test_a_cell_from_another_machine_lives_as_long_as_it_is_heard_of(outputs, make_job, capsys):
    folder = outputs / "sweeps" / "far"
    for seed, age in ((0, 0), (1, 3600)):
        beat = add_cell(folder, make_job(f"seed={seed}"), heartbeat={"pid": 1, "host": "elsewhere"}) / "heartbeat.json"
        os.utime(beat, (time.time() - age,) * 2)
    assert states(capsys, "far") == {0: "alive", 1: "dead"}


def test_a_failed_cell_whose_results_another_sweep_made_is_done(sweep, make_job, capsys):
    add_result(make_job("seed=2"))
    assert states(capsys)[2] == "done"


def test_estimates_tell_models_apart(outputs, make_job, capsys):
    folder = outputs / "sweeps" / "two"
    for model, seconds in (("cnn", 1000.0), ("bilstm", 10.0)):
        job = make_job(f"model={model}")
        add_result(job)
        add_cell(folder, job, done={"seconds": seconds})
    add_cell(folder, make_job("model=bilstm", "seed=1"))
    main([])
    assert "10 s of work left, from the seconds of 2 cells; nothing is running" in capsys.readouterr().out


def test_nothing_measured_is_told(outputs, make_job, capsys):
    add_cell(outputs / "sweeps" / "new", make_job())
    main([])
    assert "ETA unknown" in capsys.readouterr().out


def test_the_newest_sweep_is_shown_and_others_by_name_or_folder(sweep, outputs, make_job, capsys):
    newer = outputs / "sweeps" / "2026-01-01" / "10-00-00"
    add_cell(newer, make_job())
    os.utime(sweep / "cells", (1, 1))
    os.utime(sweep / "sweep.yaml", (1, 1))
    os.utime(sweep, (1, 1))
    assert len(states(capsys)) == 1
    assert len(states(capsys, "study")) == 9
    assert len(states(capsys, str(sweep))) == 9
    with pytest.raises(StoreError, match=r"nowhere: no sweep there .*newest: 2026-01-01/10-00-00, study"):
        main(["nowhere"])


def test_no_sweep_is_told(outputs):
    with pytest.raises(StoreError, match="no sweep under outputs/sweeps"):
        main([])


def test_damaged_and_foreign_cells_are_named_and_left_out(sweep, capsys):
    cells = sorted((sweep / "cells").iterdir())
    (cells[0] / "cell.json").write_text("{")
    (cells[1] / "cell.json").write_text('{"store": 3}')
    (sweep / "cells" / "notes").mkdir()
    (sweep / "cells" / "file").write_text("")
    (sweep / "sweep.yaml").write_text("{")
    assert main([]) == 0
    captured = capsys.readouterr()
    assert "7 cells" in captured.out
    for name in (cells[0].name, cells[1].name, "notes"):
        assert name in captured.err


def test_a_damaged_error_or_heartbeat_is_no_obstacle(outputs, make_job, capsys):
    folder = outputs / "sweeps" / "odd"
    (add_cell(folder, make_job("seed=0")) / "error.json").write_text('{"type"')
    (add_cell(folder, make_job("seed=1")) / "heartbeat.json").write_text("")
    assert states(capsys) == {0: "failed", 1: "waiting"}
    main([])
    assert "error.json cannot be read" in capsys.readouterr().out


def test_a_cell_without_its_short_file_is_read_from_its_configuration(sweep, capsys):
    for path in sweep.glob("cells/*/cell.json"):
        path.unlink()
    assert len(states(capsys)) == 9
