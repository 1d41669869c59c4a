"""What a suite may make the machine run: nothing, unless the user says so on the command line."""

import pytest

from projects import everywhere, need_fio

pytestmark = pytest.mark.system

RUNS = """\
defaults: {{engine: fio, direct: false, size: 1M, runtime: 0.1, time_based: true, repetitions: 1}}
workloads:
  reader: {{rw: randread, bs: 4k, fio: {{{option}: "touch {mark}"}}}}
"""


@pytest.fixture(params=["exec_prerun", "exec_postrun"])
def command(request, project):
    """A suite that wants to run a command, and the file that the command would make."""
    need_fio()
    mark = project.path / "it-ran"
    project.suite(RUNS.format(option=request.param, mark=mark))
    return request.param, mark


@pytest.mark.parametrize(
    "arguments", [(), ("--io-plan",), ("--collect-only",)], ids=["run", "plan", "collect"]
)
def test_a_command_is_refused_with_its_place_and_what_would_allow_it(project, command, arguments):
    option, mark = command
    result = project.run("suites", *arguments)
    assert result.status == 2, result.text
    for word in ("suites/demo.yaml:3:", option, "it runs a command", "--io-allow-exec"):
        assert word in result.text, result.text
    assert "Traceback" not in result.text
    assert not mark.exists()


def test_a_suite_cannot_allow_it_itself(project, command):
    _, mark = command
    (project.path / "pytest.ini").write_text("[pytest]\nio_allow_exec = true\n")
    suite = project.path / "suites/demo.yaml"
    suite.write_text(suite.read_text().replace("engine: fio,", "engine: fio, allow_exec: true,"))
    assert project.run().status == 2
    assert not mark.exists()


@everywhere
def test_the_user_can_allow_it(project, command):
    _, mark = command
    project.record_at_once()
    result = project.run("suites", "--io-allow-exec")
    assert (result.status, result.verdicts) == (0, {"reader": "recorded"}), result.text
    assert mark.exists()
