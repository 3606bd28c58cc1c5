import subprocess
import sys
from pathlib import Path

import pytest

from attnlab.config.composing import composer
from attnlab.config.location import sweeps_directory
from attnlab.errors import ConfigError
from attnlab.job import Job
from attnlab.launch.cell import cell_id
from attnlab.launch.studies import expand_file, find_study, load_study, studies, study_folder, sweep_arguments

CELLS = {
    "quickstart": 12,
    "encoder_contextualisation": 72,
    "single_or_pair": 60,
    "paper/jain_wallace_2019": 480,
    "paper/wiegreffe_pinter_2019": 24,
    "paper/serrano_smith_2019": 162,
}


def test_the_studies_that_come_with_attnlab_are_found():
    assert set(CELLS) <= set(studies())


@pytest.mark.parametrize("name", sorted(set(studies())))
def test_every_cell_of_every_study_composes_to_a_job_of_its_own(name):
    jobs = expand_file(name)
    assert len(jobs) == CELLS[name]
    # Seeds differ in nothing but their number, and composing takes time: the first stands for the others.
    first = {}
    for job in jobs:
        first.setdefault(tuple(o for o in job if not o.startswith("seed=")), job)
    with composer() as compose:
        jobs_made = [Job.from_config(*compose(job)) for job in first.values()]
    assert len({cell_id(job) for job in jobs_made}) == len(first)
    assert len({(job.group, *job.result_keys) for job in jobs_made}) == len(first)
    assert len({tuple(job) for job in jobs}) == len(jobs)


@pytest.mark.parametrize("name", sorted(set(studies())))
def test_every_study_opens_with_its_claim_its_command_and_its_cost(name):
    text = find_study(name).read_text()
    group, _, stem = name.rpartition("/")
    assert text.startswith("# ")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert f"#   attnlab +{group or 'sweep'}={stem}" in comments
    for part in ("# Reproduces: ", f"# Cells: {CELLS[name]} ", "# Cost"):
        assert any(line.startswith(part) for line in comments), part


def test_finding_and_expanding_a_study_imports_no_torch():
    code = (
        "import sys; from attnlab.launch.studies import expand_file, study_folder;"
        "jobs = expand_file('quickstart'); study_folder('quickstart', jobs[0]);"
        "sys.exit('torch' in sys.modules or 'lightning' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_study_of_the_users_own_is_named_by_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("# Mine\ngrid:\n  seed: [0, 1]\n  model.optimizer.lr: [1e-3, '${x}']\n")
    assert sweep_arguments(["+sweep=mine.yaml"]) == ("mine.yaml", [])
    assert expand_file("mine.yaml") == [
        [f"seed={seed}", f"model.optimizer.lr={lr}"] for seed in (0, 1) for lr in ("0.001", "'${x}'")
    ]
    assert study_folder("mine.yaml", ["seed=0"]) == tmp_path / "outputs" / "sweeps" / "mine"
    assert study_folder("mine.yaml", ["hydra.sweep.dir=here"]) == tmp_path / "here"
    assert study_folder("mine.yaml", ["paths.output_dir=o"]) == tmp_path / "o" / "sweeps" / "mine"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("grid: {a: [1]\n", r"bad\.yaml cannot be read"),
        ("- a\n", r"bad\.yaml is not a study"),
        ("grid: {a: []}\n", r"bad\.yaml: grid\.a: the axis is empty"),
        ("grid: {a: [1]}\ngrid: {a: [2]}\n", r"bad\.yaml cannot be read: .*duplicate key"),
    ],
)
def test_a_file_that_is_no_study_is_named(tmp_path, content, message):
    file = tmp_path / "bad.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError, match=message):
        expand_file(str(file))


def test_a_misspelt_study_has_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'paper/jain_wallace_2019'"):
        find_study("paper/jain_walace_2019")
    with pytest.raises(ConfigError, match="no such file"):
        find_study("nowhere.yaml")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["data=sst"], None),
        (["-m", "seed=0,1"], None),
        (["+experiment=x"], None),
        (["+paper=a", "seed=0,1", "+x=1"], ("paper/a", ["seed=0,1", "+x=1"])),
        (["-m", "seed=1", "+sweep=quickstart"], ("quickstart", ["seed=1"])),
        (["sweep=paper/a"], ("paper/a", [])),
        (["+paper=/x/y.yaml"], ("/x/y.yaml", [])),
    ],
)
def test_the_command_line_names_a_study_and_its_overrides(arguments, expected):
    assert sweep_arguments(arguments) == expected


def test_what_a_study_does_not_take_is_refused():
    with pytest.raises(ConfigError, match="one study at a time"):
        sweep_arguments(["+paper=a", "+sweep=b"])
    with pytest.raises(ConfigError, match="--cfg does not work with a study"):
        sweep_arguments(["+paper=a", "--cfg", "job"])


def test_sweep_files_are_plain_data():
    for file in sweeps_directory().rglob("*.yaml"):
        if file.parent.name in ("sweeps", "paper"):
            assert isinstance(load_study(file), dict)
