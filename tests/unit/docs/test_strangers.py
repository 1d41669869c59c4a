"""The script by which a pipeline takes what strangers propose: data, and nothing that anything would run."""

import subprocess

import pytest

from places import ROOT

SCRIPT = ROOT / "docs/ci/take.sh"
OURS = {
    "suites/a.yaml": "ours",
    "suites/gone.yaml": "ours",
    "suites/own.fio": "ours",
    "suites/conftest.py": "ours",
    "baselines/lab/device.yaml": "ours",
    "baselines/lab/a.yaml": "ours",
    "conftest.py": "ours",
    "pytest.ini": "ours",
}
DATA = {
    "suites/a.yaml": "theirs",
    "suites/nightly/b.yml": "theirs",
    "suites/own.fio": "theirs",
    "baselines/lab/a.yaml": "theirs",
    "baselines/lab.2/nightly/b.yaml": "theirs",
}
PROGRAMS = {
    "conftest.py": "theirs",
    "numpy.py": "theirs",
    "pytest.ini": "theirs",
    "pyproject.toml": "theirs",
    "baselines/lab/device.yaml": "theirs",
    "baselines/new/device.yaml": "theirs",
    "suites/__init__.py": "theirs",
    "suites/conftest.py": "theirs",
    "suites/a.yaml.d/conftest.py": "theirs",
    "suites/folder.yaml/conftest.py": "theirs",
    "suites/folder.yaml/test_x.py": "theirs",
    "suites/test_notes.txt": "theirs",
    "suites/x_test.py": "theirs",
    "other/suites/a.yaml": "theirs",
}


@pytest.fixture
def git(tmp_path):
    """Run git in a repository that knows no settings of the user's, and has our files."""
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"}
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

    def run(*words):
        subprocess.run(["git", *person, *words], cwd=tmp_path, env=own, check=True, capture_output=True)

    run("init", "-q", "-b", "main")
    write(tmp_path, OURS)
    run("add", ".")
    run("commit", "-qm", "ours")
    run("checkout", "-qb", "theirs")
    return run


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def taken(git, folder):
    """Commit what is there as theirs, and take it; return how that ended, and what is there then."""
    git("add", "-A")
    git("commit", "-qm", "theirs")
    git("checkout", "-q", "main")
    git("fetch", "-q", ".", "theirs")
    done = subprocess.run(
        ["sh", SCRIPT, "FETCH_HEAD"], cwd=folder, capture_output=True, text=True, check=False
    )
    files = [path for path in folder.rglob("*") if not path.is_dir() and ".git" not in path.parts]
    assert not [path for path in files if path.is_symlink()]
    return done, {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def test_it_takes_suites_job_files_and_baselines_and_nothing_else(git, tmp_path):
    write(tmp_path, DATA | PROGRAMS)
    (tmp_path / "suites/gone.yaml").unlink()
    done, found = taken(git, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert found == {name: text for name, text in OURS.items() if name != "suites/gone.yaml"} | DATA


def test_a_link_is_no_data(git, tmp_path):
    """pytest enters one that leads to a folder, whatever it is called."""
    (tmp_path / "suites/x.yaml").symlink_to("/tmp")
    (tmp_path / "suites/a.yaml").unlink()
    (tmp_path / "suites/a.yaml").symlink_to("../pytest.ini")
    (tmp_path / "baselines/new").symlink_to("/")
    done, found = taken(git, tmp_path)
    assert done.returncode == 0
    assert found == {name: text for name, text in OURS.items() if name != "suites/a.yaml"}


@pytest.mark.parametrize("name", ["baselines/lab/device.yaml", "suites/conftest.py"])
def test_no_folder_takes_the_place_of_a_file_of_ours(git, tmp_path, name):
    (tmp_path / name).unlink()
    write(tmp_path, {f"{name}/x.yaml": "theirs"})
    done, found = taken(git, tmp_path)
    assert done.returncode == 1
    assert f"nothing is taken: a folder of FETCH_HEAD is called as a file here:\n{name}\n" in done.stderr
    assert found == OURS
