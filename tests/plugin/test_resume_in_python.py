"""Going on with a session whose tests in Python `measure`."""

import json
import signal

import pytest

from projects import refused

CHECK = "gate.check(measure(engine='fake', value={value}, gate={{'read.iops': '5%'}}))"
BODY = "def test_{name}(measure, gate): " + CHECK + "\n"
TESTS = "".join(BODY.format(name=name, value=value) for name, value in (("one", 500), ("two", 700)))


def interrupting(test, how="raise KeyboardInterrupt"):
    """Return a conftest.py that ends a run when a test begins."""
    return (
        f"import os, signal, pytest\ndef pytest_runtest_setup(item):\n    if item.name == '{test}': {how}\n"
    )


def sessions(project):
    found = (project.path / ".iogate/results").glob("*/results.json")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)


def verdicts(path):
    return {item["workload"]: item["verdict"] for item in json.loads(path.read_text())["workloads"]}


def measured(result):
    """Return the workloads of which a repetition was measured."""
    return {line.split()[1] for line in result.outlines if line.startswith("test_mine: ") and "/" in line}


def cut_in(project, test, *arguments, factor=1.0, how="raise KeyboardInterrupt"):
    project.conftest(interrupting(test, how))
    result = project.run(*arguments, factor=factor)
    (project.path / "conftest.py").unlink()
    return result


@pytest.fixture
def known(project):
    """A project with a module of tests, and baselines."""
    (project.path / "test_mine.py").write_text(TESTS)
    project.device("lab", "target: .\n")
    project.run("suites", "test_mine.py", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    return project


def test_a_regression_that_was_decided_is_not_measured_until_it_passes(known):
    result = cut_in(known, "test_two", "test_mine.py", "--device=lab", factor=0.5)
    refused(
        result, "Interrupted: by Ctrl-C; 1 of 2 workloads decided, kept in", "--io-resume goes on", status=2
    )
    file = sessions(known)[-1]
    result = known.run("test_mine.py", "--device=lab", "--io-resume")
    result.assert_outcomes(failed=1, passed=1)
    going = f"going on with session {file.parent.name}: 1 of tests in Python are decided"
    result.stdout.fnmatch_lines([going, "*regressed: read.iops *"])
    assert measured(result) == {"test_two"}
    assert sessions(known)[-1] == file
    assert verdicts(file) == {"test_one": "regressed", "test_two": "pass"}
    again = known.run("test_mine.py", "--device=lab", "--io-resume")
    again.stdout.fnmatch_lines(
        [f"--io-resume: session {file.parent.name} was not cut off: all are measured anew"]
    )


ASKS = TESTS.replace("(measure, gate): ", "(request, gate): measure = request.getfixturevalue('measure'); ")


def test_a_test_that_asks_for_measure_as_it_runs_is_gone_on_with(known):
    """As those of pytest-bdd do: its baseline tells that it measures."""
    (known.path / "test_mine.py").write_text(ASKS)
    both = ("suites", "test_mine.py", "--device=lab")
    refused(cut_in(known, "test_two", *both, factor=0.5), "3 of 4 workloads decided, kept in", status=2)
    result = known.run(*both, "--io-resume")
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        ["going on with session *: 2 of 2 workloads and 1 of tests in Python are decided"]
    )
    assert measured(result) == {"test_two"}
    cut_in(known, "test_two", "test_mine.py", "--device=lab", factor=0.5)
    known.run("test_mine.py", "--device=lab", "--io-resume").assert_outcomes(failed=1, passed=1)


def test_of_tests_that_nobody_knows_to_measure_it_is_said(known):
    (known.path / "test_mine.py").write_text(ASKS)
    known.baseline("lab", "test_mine").unlink()
    result = known.run("test_mine.py", "--device=lab", "--io-resume", "--io-missing=record")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["--io-resume: nobody knew that these tests measure, *"])


def test_suites_and_tests_in_python_are_gone_on_with_together(known):
    both = ("suites", "test_mine.py", "--device=lab")
    result = cut_in(known, "test_two", *both, factor=0.5)
    refused(result, "3 of 4 workloads decided, kept in", status=2)
    result = known.run(*both, "--io-resume")
    result.assert_outcomes(failed=3, passed=1)
    result.stdout.fnmatch_lines(
        ["going on with session *: 2 of 2 workloads and 1 of tests in Python are decided"]
    )
    assert measured(result) == {"test_two"}


def test_what_was_decided_outlives_a_second_cut_that_comes_before_it_is_asked_for(known):
    arguments = ("test_mine.py", "--device=lab")
    cut_in(known, "test_two", *arguments, factor=0.5)
    file = sessions(known)[-1]
    result = cut_in(known, "test_one", *arguments, "--io-resume")
    refused(result, "1 of 2 workloads decided, kept in", status=2)
    assert verdicts(file) == {"test_one": "regressed"}
    known.run(*arguments, "--io-resume").assert_outcomes(failed=1, passed=1)


def test_what_a_test_decided_stays_decided_if_it_was_cut_off_itself(known):
    """It measures two: the one that is known fails, the other is measured."""
    (known.path / "test_mine.py").write_text(
        "import os\n"
        "def test_both(measure, gate):\n"
        "    one = measure(engine='fake', value=500, gate={'read.iops': '5%'}, name='a')\n"
        "    if os.path.exists('cut'): raise KeyboardInterrupt\n"
        "    measure(engine='fake', value=500, gate={'read.iops': '5%'}, name='b')\n"
    )
    known.run("test_mine.py", "--device=lab", "--update-baselines")
    (known.path / "cut").touch()
    refused(known.run("test_mine.py", "--device=lab", factor=0.5), "1 of 2 workloads decided", status=2)
    (known.path / "cut").unlink()
    result = known.run("test_mine.py", "--device=lab", "--io-resume")
    result.assert_outcomes(failed=1)
    assert measured(result) == {"test_both.b"}
    assert verdicts(sessions(known)[-1]) == {"test_both.a": "regressed", "test_both.b": "pass"}


def test_a_run_that_stopped_at_a_failure_left_its_other_tests_open(known):
    arguments = ("test_mine.py", "--device=lab")
    result = known.run(*arguments, "-x", factor=0.5)
    result.stdout.fnmatch_lines(["1 regressed *; the session broke off, 1 test in Python did not end"])
    result = known.run(*arguments, "--io-resume")
    result.assert_outcomes(failed=1, passed=1)
    assert measured(result) == {"test_two"}


def test_another_declaration_is_refused(known):
    arguments = ("test_mine.py", "--device=lab")
    cut_in(known, "test_two", *arguments, factor=0.5)
    (known.path / "test_mine.py").write_text(TESTS.replace("5%", "60%"))
    result = known.run(*arguments, "--io-resume")
    refused(result, "cannot go on with session ", "test_mine.py::test_one was declared otherwise", status=12)
    assert measured(result) == {"test_two"}


def test_what_was_held_against_a_former_baseline_is_measured_anew(known):
    arguments = ("test_mine.py", "--device=lab")
    cut_in(known, "test_two", *arguments)
    old = sessions(known)[-1]
    known.run(*arguments, "--update-baselines", factor=2.0)
    for other in set(sessions(known)) - {old}:
        other.unlink()
    result = known.run(*arguments, "--io-resume")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["measured anew, as the baseline is another one by now: test_one"])


def test_other_tests_are_another_session(known):
    cut_in(known, "test_two", "test_mine.py", "--device=lab", factor=0.5)
    result = known.run("test_mine.py", "--device=lab", "--io-resume", "-k", "one")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*--io-resume: no session of these workloads is kept*: all are measured*"])


def test_what_was_recorded_is_recorded_once(project):
    (project.path / "test_mine.py").write_text(TESTS)
    project.device("lab", "target: .\n")
    arguments = ("test_mine.py", "--device=lab", "--update-baselines")
    cut_in(project, "test_two", *arguments)
    result = project.run(*arguments, "--io-resume")
    result.assert_outcomes(passed=2)
    assert measured(result) == {"test_two"}
    text = project.baseline("lab", suite="test_mine").read_text()
    assert "test_one:" in text and "test_two:" in text and text.count("environment:") == 1


def test_a_refused_run_leaves_the_session_as_it_is(known):
    arguments = ("test_mine.py", "--device=lab")
    cut_in(known, "test_two", *arguments, factor=0.5)
    file = sessions(known)[-1]
    before = file.read_bytes()
    refused(known.run(*arguments, "--io-resume", "--io-tolerance=60%"), "cannot go on with session", status=4)
    assert file.read_bytes() == before


def test_sigterm_is_as_control_c(known):
    how = f"os.kill(os.getpid(), {int(signal.SIGTERM)})"
    known.conftest(interrupting("test_two", how))
    result = known.run_apart("test_mine.py", "--device=lab")
    refused(result, "Interrupted: ended by SIGTERM; 1 of 2 workloads decided, kept in", status=2)


def test_a_test_may_provoke_control_c(known):
    (known.path / "test_a.py").write_text(
        "import os, pytest, signal\n\n\n@pytest.mark.parametrize('time', (1, 2))\ndef test_c(time):\n"
        "    with pytest.raises(KeyboardInterrupt):\n        os.kill(os.getpid(), signal.SIGINT)\n"
    )
    result = known.run_apart("test_a.py", "test_mine.py", "--device=lab", "-p", "no:randomly")
    result.assert_outcomes(passed=4)


def test_an_end_that_somebody_takes_for_a_failure_is_one(known):
    """As pytest-retry does, or `except:` in a test: a job that was cancelled went on until it was killed."""
    (known.path / "test_a.py").write_text(
        "import os, signal\n\n\ndef test_swallows():\n    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n    except BaseException:\n        pass\n"
    )
    result = known.run_apart("test_a.py", "test_mine.py", "--device=lab", "-p", "no:randomly")
    refused(result, "Interrupted: ended by SIGTERM; nothing was measured", status=2)
