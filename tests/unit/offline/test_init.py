"""`iogate init`: what it writes, what it leaves alone, and what it refuses."""

import os
import subprocess
import sys

import pytest

from iogate.cli import main
from iogate.declare.device import load_device
from iogate.declare.suite import load_suite
from iogate.offline.init import shipped, shipped_suites
from places import ROOT

USUAL = {
    ".gitignore",
    "README.md",
    "baselines/local/device.yaml",
    "pytest.ini",
    "suites/acceptance.yaml",
    "suites/quick.yaml",
}


@pytest.fixture
def init(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder, and return what it says."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, status=0):
        assert main(["init", *map(str, arguments)]) == status
        text = "".join(capsys.readouterr())
        assert "Traceback" not in text
        return text

    return run


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_a_project_has_the_usual_suites_and_a_profile_for_this_machine(init, tmp_path):
    said = init("lab")
    assert files(tmp_path / "lab") == USUAL
    assert "measure and judge: cd lab && pytest suites/\n" in said
    local = load_device("local", tmp_path / "lab/baselines")
    assert (local.suites, local.missing, local.learn, local.target) == (("quick",), "record", True, ".")
    assert "`quick` | A first look at any machine in minutes. |" in (tmp_path / "lab/README.md").read_text()


def test_here_is_the_usual_place(init, tmp_path):
    assert "\nmeasure and judge: pytest suites/\n" in init()
    assert files(tmp_path) == USUAL


def test_every_suite_that_ships_can_be_had_and_is_run(init, tmp_path):
    names = shipped_suites()
    assert names == sorted(file.stem for file in ROOT.glob("suites/*.yaml"))
    init(*[f"--suite={name}" for name in names])
    for name in names:
        assert load_suite(tmp_path / f"suites/{name}.yaml").workloads
    assert set(load_device("local", tmp_path / "baselines").suites) == set(names)


@pytest.mark.parametrize("name", [file.parent.name for file in ROOT.glob("baselines/*/device.yaml")])
def test_a_device_comes_with_its_suites_and_published_figures(init, tmp_path, name):
    said = init(f"--device={name}")
    profile = load_device(name, tmp_path / "baselines")
    assert all((tmp_path / f"suites/{suite}.yaml").is_file() for suite in profile.suites)
    ours = {file.name for file in shipped("baselines").glob(f"{name}/*") if name != "local"}
    assert {file.name for file in (tmp_path / "baselines" / name).iterdir()} == (ours or {"device.yaml"})
    assert ("--device" in said) == (name != "local")


def test_a_job_without_iogate_does_not_run_other_tests_alone(init, tmp_path):
    init()
    (tmp_path / "test_other.py").write_text("def test(): pass\n")
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    called = [sys.executable, "-m", "pytest", "suites", "test_other.py"]
    done = subprocess.run(called, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (4, "ERROR: Missing required plugins: iogate")


def test_a_second_init_adds_what_lacks_and_replaces_nothing(init, tmp_path):
    init()
    (tmp_path / "suites/acceptance.yaml").unlink()
    (tmp_path / "suites/quick.yaml").write_text("workloads: {}\n")
    (tmp_path / "pytest.ini").unlink()
    (tmp_path / "pytest.ini").symlink_to("nowhere")
    said = init("--suite=memory")
    assert said.splitlines()[:5] == [
        "kept suites/quick.yaml as it is",
        "made suites/acceptance.yaml",
        "made suites/memory.yaml",
        "kept baselines/local/device.yaml as it is; add to its suites, so that they are run: memory",
        "kept pytest.ini as it is",
    ]
    assert (tmp_path / "suites/quick.yaml").read_text() == "workloads: {}\n"
    assert not (tmp_path / "nowhere").exists()


def test_a_third_has_nothing_to_do(init):
    init()
    assert init().startswith("nothing to do: ")


def test_a_gitignore_of_others_is_kept_and_told_what_it_lacks(init, tmp_path):
    (tmp_path / ".gitignore").write_text("*.log\n.iogate/")
    said = init()
    assert "kept .gitignore as it is; these lines would do it good: .iogate-scratch-*/ " in said
    assert (tmp_path / ".gitignore").read_text() == "*.log\n.iogate/"


@pytest.mark.parametrize(
    "name, text, ours",
    [
        ("pyproject.toml", "[tool.pytest.ini_options]\nminversion = '8'\n", False),
        ("setup.cfg", "[tool:pytest]\n", False),
        ("tox.ini", "[pytest]\n", False),
        ("pyproject.toml", "[project]\nname = 'x'\n", True),
    ],
)
def test_what_configures_pytest_already_stays_in_force(init, tmp_path, name, text, ours):
    (tmp_path / name).write_text(text)
    said = init()
    assert (tmp_path / "pytest.ini").exists() == ours
    assert (f"kept {name}, which configures pytest: no pytest.ini is needed" in said) != ours


def test_a_pipe_is_not_waited_for(init, tmp_path):
    os.mkfifo(tmp_path / "pytest.ini")
    assert "kept pytest.ini" in init()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--suite=quik"], "no suite 'quik' ships, did you mean 'quick'?\n  these do: acceptance, iozone, "),
        (["--suite=../quick"], "no suite '../quick' ships"),
        (["--device=onin"], "no profile of 'onin' ships, did you mean 'orin'?"),
        (["--device=../orin"], "'../orin' cannot be the name of a device"),
        (["--suite=a\x1b[31m"], "no suite 'a?[31m' ships"),
    ],
)
def test_what_does_not_ship_is_refused_and_nothing_is_written(init, tmp_path, arguments, words):
    assert words in init(*arguments, status=2)
    assert not files(tmp_path)


def test_no_project_is_made_among_the_suites_of_another(init, tmp_path, monkeypatch):
    init("lab")
    known = files(tmp_path)
    monkeypatch.chdir(tmp_path / "lab" / "suites")
    for place in (".", "more"):
        said = init(place, status=2)
        assert f"among the suites of the project {tmp_path}/lab" in said
        assert f"iogate init {tmp_path}/lab" in said
    assert files(tmp_path) == known


def test_a_place_that_is_none_is_told(init, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "cannot write file/suites/quick.yaml: Not a directory" in init("file", status=2)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["suites", "baselines", "baselines/local"])
def test_nothing_is_made_where_a_link_leads_out_of_the_project(init, tmp_path, tmp_path_factory, name):
    outside = tmp_path_factory.mktemp("outside")
    project = tmp_path / "clone"
    (project / name).parent.mkdir(parents=True)
    (project / name).symlink_to(outside)
    text = init(project, status=2)
    assert f"a symbolic link leads {project / name}" in text
    assert f"out of the project, to {outside}" in text
    assert files(project) == set() and files(outside) == set()


def test_links_within_the_project_are_followed(init, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "suites").symlink_to("real")
    init()
    assert (tmp_path / "real/quick.yaml").exists()
