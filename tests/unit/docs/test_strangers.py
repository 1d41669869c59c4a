"""The command by which a pipeline takes what strangers propose: data, and nothing that pytest would run."""

import re
import subprocess

import pytest

from places import ROOT

COMMAND = re.search(
    r"^```\n(git checkout --no-overlay .*?)^```",
    (ROOT / "docs/targets.md").read_text(),
    re.MULTILINE | re.DOTALL,
)
OURS = {
    "suites/a.yaml": "ours",
    "suites/gone.yaml": "ours",
    "suites/own.fio": "ours",
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
}
PROGRAMS = {
    "conftest.py": "theirs",
    "numpy.py": "theirs",
    "pytest.ini": "theirs",
    "pyproject.toml": "theirs",
    "baselines/lab/device.yaml": "theirs",
    "baselines/new/device.yaml": "theirs",
    "suites/__init__.py": "theirs",
    "suites/a.yaml.d/conftest.py": "theirs",
    "suites/folder.yaml/conftest.py": "theirs",
    "suites/folder.yaml/test_x.py": "theirs",
    "suites/test_notes.txt": "theirs",
    "suites/x_test.py": "theirs",
}


@pytest.fixture
def git(tmp_path):
    """Run git in a repository that knows no settings of the user's."""
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"}
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

    def run(*words):
        subprocess.run(["git", *person, *words], cwd=tmp_path, env=own, check=True, capture_output=True)

    run("init", "-q", "-b", "main")
    return run


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_it_takes_suites_job_files_and_baselines_and_nothing_else(git, tmp_path):
    write(tmp_path, OURS)
    git("add", ".")
    git("commit", "-qm", "ours")
    git("checkout", "-qb", "theirs")
    write(tmp_path, DATA | PROGRAMS)
    (tmp_path / "suites/gone.yaml").unlink()
    git("add", ".")
    git("commit", "-qm", "theirs")
    git("checkout", "-q", "main")
    git("fetch", "-q", ".", "theirs")
    subprocess.run(["sh", "-ec", COMMAND[1]], cwd=tmp_path, check=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file() and ".git" not in path.parts]
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in files}
    kept = {name: text for name, text in OURS.items() if name != "suites/gone.yaml"}
    assert found == kept | DATA
