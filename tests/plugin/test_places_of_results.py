"""Where `--io-json` points: nothing of the user's is replaced, what is no file is written into."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from another_user import as_its_owner, directory  # noqa: F401 (fixture)
from places import PLUGINS
from projects import refused


def results(text):
    """The results document in what a program said."""
    start = text.index('{"schema"')
    return json.JSONDecoder().raw_decode(text[start:])[0]


@pytest.mark.parametrize("named", ["suites/demo.yaml", "baselines/local/demo.yaml", "pytest.ini"])
def test_a_file_of_the_project_is_refused_before_anything_is_measured(project, named):
    project.run("suites", "--update-baselines")
    before = (project.path / named).read_bytes()
    sessions = sorted((project.path / ".iogate/results").iterdir())
    refused(project.run("suites", f"--io-json={named}"), named, "no results document", status=4)
    assert (project.path / named).read_bytes() == before
    assert sorted((project.path / ".iogate/results").iterdir()) == sessions


def test_one_file_for_two_outputs_is_refused_before_anything_is_measured(project):
    result = project.run("suites", "--io-json=out", "--io-report=./out")
    refused(result, "--io-json and --io-report name the same file", status=4)
    assert not (project.path / "out").exists()


def test_a_device_node_survives(project):
    if os.geteuid():
        pytest.skip("needs root")
    os.mknod(project.path / "null", 0o020666, os.makedev(1, 3))
    result = project.run("suites", "--update-baselines", "--io-json=null")
    result.assert_outcomes(passed=2)
    assert (project.path / "null").is_char_device()


def test_the_results_of_the_last_run_are_replaced(project):
    sessions = []
    for _ in range(2):
        project.run("suites", "--update-baselines", "--io-json=results.json").assert_outcomes(passed=2)
        document = json.loads((project.path / "results.json").read_text())
        assert len(document["workloads"]) == 2
        sessions.append(document["session"])
    folders = sorted(path.name for path in (project.path / ".iogate/results").iterdir())
    assert folders == sorted(set(sessions)) and len(folders) == 2  # of one second, perhaps, in any order


@pytest.mark.parametrize("capture", ["fd", "sys", "no"])
def test_stdout_gets_the_document_once_between_what_pytest_says(project, capture):
    argv = project.argv("suites", "--update-baselines", f"--capture={capture}", "--io-json=/dev/stdout")
    environment = {**project.environment, "PYTHONPATH": f"{PLUGINS}:{Path(__file__).parent / 'engines'}"}
    here = {"cwd": project.path, "env": environment}
    piped = subprocess.run(argv, check=True, **here, stdout=subprocess.PIPE, text=True)
    log = project.path / "log"
    with log.open("w") as stream:
        subprocess.run(argv, check=True, **here, stdout=stream)
    for text in (piped.stdout, log.read_text()):
        assert len(results(text)["workloads"]) == 2 and text.count('{"schema"') == 1
        assert text.startswith("====") and text.rstrip().endswith("====")


def test_a_reader_of_a_pipe_gets_it(project):
    pipe = project.path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        project.run("suites", "--update-baselines", "--io-json=pipe").assert_outcomes(passed=2)
        document = os.read(reader, 2**20).decode()
    finally:
        os.close(reader)
    assert len(results(document)["workloads"]) == 2 and pipe.is_fifo()


def test_a_pipe_without_a_reader_is_refused_before_anything_is_measured(project):
    os.mkfifo(project.path / "pipe")
    refused(project.run("suites", "--io-json=pipe"), "nobody reads", status=4)
    assert not (project.path / ".iogate/results").exists()


@pytest.mark.parametrize("place", ["file", "file/below", "dangling"])
def test_raw_outputs_that_could_not_be_kept_are_told_once_before_anything_is_measured(project, place):
    (project.path / "file").write_text("of somebody")
    (project.path / "dangling").symlink_to("nowhere")
    result = project.run("suites", "--update-baselines", f"--io-results={place}")
    refused(result, "raw outputs cannot be kept in", "is no folder", "--io-results=DIR", status=4)
    assert f"{result.stdout}{result.stderr}".count("raw outputs cannot be kept") == 1
    assert (project.path / "file").read_text() == "of somebody"
    assert not project.baseline().exists()


def test_results_are_kept_in_no_folder_that_a_link_of_another_user_leads_to(project, directory, tmp_path):  # noqa: F811 (the fixture)
    victim = tmp_path / "victim"
    victim.mkdir()
    with as_its_owner():
        (directory / "link").symlink_to(victim)
    for named in (directory / "link", directory / "link" / "new"):
        refused(project.run("suites", f"--io-results={named}"), "cannot be kept in", "not followed", status=4)
    assert os.listdir(victim) == []
