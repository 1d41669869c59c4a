"""When workloads are measured, and what pytest and its plugins know of the time that it takes."""

import os
import re
import xml.etree.ElementTree as ElementTree

import pytest

from iogate.plugin.status import STATUSES
from projects import refused


def measured(project):
    """Whether anything was run."""
    return bool(list(project.path.glob(".iogate/results/*/*")))


def mark(project, line):
    """Let a conftest add a mark to the workload alpha."""
    (project.path / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        f"    for item in items:\n        if item.name == 'alpha': item.add_marker({line})\n"
    )


def sleepy(project, seconds=0.2):
    """A workload whose five repetitions take so long each."""
    says = f"1000'; sleep {seconds}; echo '"
    project.suite(f'workloads:\n  alpha: {{engine: fake, says: "{says}"}}\n')


def test_a_plan_of_set_ups_measures_nothing(project):
    assert project.run("suites", "--setup-plan").ret == 0
    assert not measured(project)


@pytest.mark.parametrize("line", ["pytest.mark.skipif(True, reason='no')", "pytest.mark.xfail(run=False)"])
def test_what_is_skipped_is_not_measured(project, line):
    mark(project, line)
    result = project.run("suites", "-k", "alpha")
    assert result.ret == 0
    assert "1 skipped" in result.stdout.str() or "1 xfailed" in result.stdout.str()
    assert not measured(project)


def test_a_condition_that_cannot_be_evaluated_is_an_error_before_measuring(project):
    mark(project, "pytest.mark.skipif('undefined_name', reason='no')")
    project.run("suites", "-k", "alpha").assert_outcomes(errors=1)
    assert not measured(project)


def test_baselines_that_cannot_be_written_are_found_before_measuring(project):
    (project.path / "baselines").write_text("no folder")
    for arguments in (["suites"], ["suites", "--update-baselines"]):
        refused(project.run(*arguments), "could not be recorded", "is no folder", status=4)
    assert not measured(project)
    plan = project.run("suites", "--io-plan")
    assert plan.ret == 0
    assert "refused: " in plan.stdout.str()


def test_a_baseline_that_learns_and_cannot_be_written_is_found_before_measuring(project, monkeypatch):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {noise: 0.3}\n")
    project.run("suites")
    before = measured(project)
    monkeypatch.setattr(os, "access", lambda path, *_, **__: "baselines" not in str(path))  # root may all
    refused(project.run("suites"), "could not be recorded", "cannot be written to", status=4)
    assert measured(project) == before


def durations(project):
    root = ElementTree.parse(project.path / "junit.xml").getroot()
    return {case.get("name"): float(case.get("time")) for case in root.iter("testcase")}


@pytest.mark.parametrize("count", ["total", "call"])
def test_the_time_of_a_test_is_that_of_its_measurement(project, count):
    sleepy(project)
    result = project.run(
        "suites", "--junitxml=junit.xml", "--durations=1", "-o", f"junit_duration_report={count}"
    )
    assert 1.0 <= durations(project)["alpha"] < 60
    (seconds,) = re.findall(r"(\d+\.\d+)s call +suites/demo.yaml::alpha", result.stdout.str())
    assert float(seconds) >= 1.0


# ------------------------------------------------------------ pytest-timeout


def test_a_timeout_ends_the_workload_that_takes_longer_and_no_other(project):
    pytest.importorskip("pytest_timeout")
    project.suite(
        "defaults: {engine: fake}\n"
        "workloads:\n  alpha: {says: \"1000'; sleep 60; echo '\"}\n  beta: {value: 2000}\n"
    )
    result = project.run("suites", "--timeout=6")
    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == STATUSES["invalid"]
    assert result.duration < 50
    result.stdout.fnmatch_lines(
        ["*repetitions took longer than the 6 s of pytest-timeout*", "*demo.yaml:3: alpha*"]
    )
    assert not any("sleep 60" in line for line in project.processes())


def test_a_timeout_counts_the_repetitions_of_one_workload_together(project):
    pytest.importorskip("pytest_timeout")
    sleepy(project, 1.0)
    project.run("suites", "--timeout=2.5").assert_outcomes(errors=1)
    mark(project, "pytest.mark.timeout(60)")
    project.run("suites", "--timeout=2.5").assert_outcomes(passed=1)


def test_a_timeout_of_functions_only_leaves_workloads_alone(project):
    pytest.importorskip("pytest_timeout")
    sleepy(project, 0.3)
    project.run("suites", "--timeout=1", "-o", "timeout_func_only=true").assert_outcomes(passed=1)
