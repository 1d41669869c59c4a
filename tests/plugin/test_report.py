"""`--io-report` and `iogate report`: the page of a run, wherever it ended."""

import json
import os

from iogate.cli import main
from iogate.report.html.page import MARK
from iogate.report.html.place import is_report
from projects import refused


def page(project, name="page.html"):
    return (project.path / name).read_text()


def test_a_run_writes_its_page_at_the_end(project):
    project.run("suites", "--update-baselines", "--io-report=page.html").assert_outcomes(passed=2)
    first = page(project)
    assert MARK in first and "2 workloads recorded: no verdict" in first
    project.run("suites", "--io-report=page.html", factor=0.5).assert_outcomes(failed=2)
    assert "2 regressed, of 2 workloads" in page(project)


def test_what_is_no_report_is_not_replaced(project):
    (project.path / "mine.html").write_text("<!DOCTYPE html><p>mine")
    result = project.run("suites", "--update-baselines", "--io-report=mine.html")
    refused(result, "mine.html", "no report of iogate", status=4)
    assert page(project, "mine.html") == "<!DOCTYPE html><p>mine"
    assert not list(project.path.glob(".iogate/results/*/results.json"))


def test_an_interrupted_run_says_so(project):
    project.conftest(
        "import pytest\n"
        "@pytest.hookimpl(trylast=True)\n"
        "def pytest_runtest_teardown(item):\n    raise KeyboardInterrupt\n"
    )
    project.run("suites", "--update-baselines", "--io-report=page.html")
    text = page(project)
    assert "This session was broken off: 1 of 2 workloads is not decided." in text
    assert is_report(project.path / "page.html")


def test_a_plan_writes_no_page(project):
    project.run("suites", "--io-plan", "--io-report=page.html")
    assert not (project.path / "page.html").exists()


def test_the_last_run_is_reported_when_no_results_are_named(project, monkeypatch, capsys):
    project.run("suites", "--update-baselines").assert_outcomes(passed=2)
    (project.path / "suites" / "deeper").mkdir()
    for folder in (project.path, project.path / "suites" / "deeper"):
        monkeypatch.chdir(folder)
        assert main(["report", "-o", str(project.path / "page.html")]) == 0
        assert "1 session" in capsys.readouterr().out
        assert "2 workloads recorded" in page(project)
        os.remove(project.path / "page.html")


def test_where_nothing_was_run_the_command_says_what_to_do(project, monkeypatch, capsys):
    monkeypatch.chdir(project.path)
    assert main(["report"]) == 2
    error = capsys.readouterr().err
    assert "no session is kept in" in error and "name a results file" in error
    assert not (project.path / "report.html").exists()


def test_the_document_keeps_what_was_run_and_what_it_is_held_against(project):
    project.run("suites", "--update-baselines").assert_outcomes(passed=2)
    project.run("suites", "--io-json=results.json").assert_outcomes(passed=2)
    document = json.loads((project.path / "results.json").read_text())
    for workload in document["workloads"]:
        assert workload["command"]
        (gating,) = [item for item in workload["metrics"].values() if item["gating"]]
        (values,) = gating["sessions"].values()
        assert len(values) == 5
