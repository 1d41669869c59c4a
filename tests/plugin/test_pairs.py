"""Pairs in whole runs of pytest: `against` in a suite, and --io-against."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from jsonschema import Draft202012Validator

from iogate.report.origin import sealed
from iogate.report.results import Results, results_schema
from projects import refused

SAME = "--io-against=same"
UNDECIDED = 10
"""The status of a run in which nothing but undecided workloads failed."""


def against(change, more=""):
    return f"defaults: {{engine: fake}}\nworkloads:\n  alpha: {{value: 1000, against: {change}}}\n{more}"


def document(project, *arguments, **how):
    """How a run ended, and its results."""
    result = project.run("suites", "--io-json=out.json", *arguments, **how)
    return result, Results.read(project.path / "out.json")


def results(project, *arguments, **how):
    """The verdicts of a run, by workload."""
    _, found = document(project, *arguments, **how)
    return {item.workload: item.verdict for item in found.workloads}


# ------------------------------------------------------------ against, in a suite


def test_a_workload_is_held_against_itself_with_other_options(project):
    project.suite(against("{noise: 0.011}"))
    result = project.run("suites")
    result.assert_outcomes(passed=1)
    assert int(result.ret) == 0
    text = result.stdout.str()
    assert re.search(r"^workload +metric +B +A +change +tolerance +blocks +verdict", text, re.M), text
    assert re.search(r"^alpha +read\.iops +\S+ k? ?IOPS +.* 5\.0% +\d+ +pass", text, re.M), text
    assert "A is the same data with noise: 0.011" in text
    assert "by whole runs, not slices: alpha: a run of fake is a whole" in text
    assert not project.baseline().exists()


def test_a_worse_setting_fails_with_both_figures_interval_blocks_and_place(project):
    project.suite(against("{value: 1200}"))
    result = project.run("suites")
    result.assert_outcomes(failed=1)
    assert int(result.ret) == 1
    text = result.stdout.str()
    assert re.search(
        r"regressed: read\.iops: B is \S+ k? ?IOPS against 1\.\d+ k IOPS of A, 16\.\d% lower", text
    )
    assert re.search(r"between 1\d\.\d% lower and 1\d\.\d% lower.* \(\d+ blocks\)", text), text
    assert "A is the same data with value: 1200.0; " in text
    assert "suites/demo.yaml:3: alpha" in text
    assert "Traceback" not in text


def test_a_better_setting_passes_and_is_told(project):
    project.suite(against("{value: 800}"))
    project.run("suites", "-v").stdout.fnmatch_lines(["*alpha PASSED (improved)*"])


def test_it_stands_beside_workloads_that_have_baselines(project):
    project.suite(against("{noise: 0.011}", more="  beta: {value: 2000}\n"))
    first, second = project.run("suites"), project.run("suites")
    first.assert_outcomes(passed=2)
    second.assert_outcomes(passed=2)
    assert "beta" in project.baseline().read_text()
    assert "alpha" not in project.baseline().read_text()
    text = second.stdout.str()
    tables = re.findall(r"^workload +metric +(measured|B) ", text, re.M)
    assert tables == ["measured", "B"]


def test_it_is_not_recorded_by_an_update(project):
    project.suite(against("{noise: 0.011}", more="  beta: {value: 2000}\n"))
    project.run("suites", "--update-baselines").assert_outcomes(passed=2)
    assert "alpha" not in project.baseline().read_text()


def test_it_fails_no_strict_run_for_want_of_a_baseline(project):
    project.suite(against("{noise: 0.011}"))
    project.device("orin", "target: .\n")
    (project.path / "pytest.ini").write_text("[pytest]\n")
    project.run("suites", "--device=orin", "--io-strict", "--io-baselines=baselines").assert_outcomes(
        passed=1
    )
    project.run("suites", "--device=orin", "--io-missing=skip").assert_outcomes(passed=1)


def test_with_another_target_nobody_misses_a_device_or_a_folder_of_baselines(project):
    for more in ((), ("--io-strict",)):
        result = project.run("suites", SAME, *more)
        result.assert_outcomes(passed=2)
        assert "warning" not in result.stdout.str()


def test_a_mistake_in_it_is_told_with_its_place(project):
    project.suite(against("{valeu: 3}"))
    refused(
        project.run("suites"), "suites/demo.yaml:3:34", "unknown key 'valeu', did you mean 'value'?", status=2
    )


# ------------------------------------------------------------ --io-against


def test_every_workload_is_held_against_a_second_copy(project):
    result, found = document(project, SAME)
    result.assert_outcomes(passed=2)
    assert {item.pair.places for item in found.workloads} == {"copies"}
    assert "A is a second copy of the same data" in result.stdout.str()
    assert not project.baseline().exists()


def test_a_baseline_is_neither_needed_nor_read(project):
    project.run("suites")
    known = project.baseline().read_text()
    result, found = document(project, SAME, factor=0.5)
    result.assert_outcomes(failed=2)
    assert "measured     baseline" not in result.stdout.str()
    assert all(item.gating["read.iops"].baseline < 2100 for item in found.workloads)
    assert project.baseline().read_text() == known


def test_a_damaged_baseline_is_no_obstacle(project):
    project.run("suites")
    project.baseline().write_text("workloads: [\n")
    refused(project.run("suites"), "demo.yaml", status=4)
    project.run("suites", SAME).assert_outcomes(passed=2)


@pytest.mark.parametrize("missing", ["fail", "skip", "record"])
def test_what_a_missing_baseline_means_does_not_matter(project, missing):
    project.run("suites", SAME, f"--io-missing={missing}").assert_outcomes(passed=2)
    assert not project.baseline().exists()


def test_statuses_are_those_of_any_verdict(project):
    assert int(project.run("suites", SAME).ret) == 0
    assert int(project.run("suites", SAME, factor=0.8).ret) == 1
    few = (SAME, "--io-max-blocks=4")
    undecided = project.run("suites", *few)
    undecided.assert_outcomes(failed=2)
    assert int(undecided.ret) == UNDECIDED
    project.run("suites", *few, "--io-inconclusive=skip").assert_outcomes(skipped=2)


def test_tolerance_and_ids_are_as_ever(project):
    wide, _ = document(project, SAME, "--io-tolerance=40%", "-k", "alpha", factor=0.8)
    wide.assert_outcomes(passed=1, deselected=1)
    one, found = document(project, SAME, "suites/demo.yaml::beta")
    assert "beta" in {item.workload for item in found.workloads}
    one.assert_outcomes(passed=2)


def test_the_document_and_junit_have_both_arms(project):
    _, found = document(project, SAME, "--junitxml=junit.xml", factor=0.8)
    data = json.loads((project.path / "out.json").read_text())
    Draft202012Validator(results_schema()).validate(data)
    alpha = next(item for item in found.workloads if item.workload == "alpha")
    item = alpha.metrics["read.iops"]
    assert item.value / item.baseline == pytest.approx(0.8, abs=0.01)
    assert item.change == pytest.approx(-0.2, abs=0.01)
    assert item.place_effect is not None and item.noise is not None
    assert {block.swapped for block in alpha.measured} == {True, False}
    assert all(block.base.metrics for block in alpha.measured)
    tree = ElementTree.parse(project.path / "junit.xml")
    case = next(case for case in tree.iter("testcase") if case.get("name") == "alpha")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties["verdict"] == "regressed"
    assert float(properties["read.iops.change"]) == pytest.approx(-0.2, abs=0.01)
    assert "of A" in case.find("failure").get("message", "") + (case.find("failure").text or "")


def test_two_places_on_one_file_system_are_refused_unless_meant(project):
    for name in ("old", "new"):
        (project.path / name).mkdir()
    both = ("--io-target=new", "--io-against=old")
    refused(project.run("suites", *both), "are on one file system", "--io-against=same", "place:")
    result, found = document(project, "--io-target=new", "--io-against=place:old")
    result.assert_outcomes(passed=2)
    assert f"A is {project.path / 'old'}, B is {project.path / 'new'}\n" in result.stdout.str()
    assert "their places are a part of what is compared" in result.stdout.str()
    assert {item.pair.places for item in found.workloads} == {"targets"}
    assert not any(block.swapped for item in found.workloads for block in item.measured)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((SAME, "--update-baselines"), ("--io-against measures its base now", "no baseline to update")),
        ((SAME, "--update-baselines=append"), ("no baseline to update",)),
        (("--io-against=missing",), ("missing",)),
        (("--io-against=place:missing",), ("missing",)),
        (("--io-against=.", "--io-target=."), ("is the target itself", "--io-against=same")),
        (("--io-against=place:.", "--io-target=."), ("is the target itself",)),
        (("--io-against=",), ("--io-against", "is empty")),
        (("--io-against=place:", "--io-target=."), ("names no place",)),
        (("--io-against=suites/demo.yaml",), ("demo.yaml",)),
        ((SAME, "--io-slice=0"), ("--io-slice", "is no time at all")),
        ((SAME, "--io-max-blocks=1"), ("--io-max-blocks",)),
    ],
    ids=" ".join,
)
def test_what_cannot_be_is_refused_before_anything_runs(project, arguments, words):
    result = project.run("suites", *arguments)
    refused(result, *words, status=4)
    assert not list(project.path.rglob("stdout"))


def test_a_plan_says_what_would_be_held_against_what(project):
    result = project.run("suites", "--io-plan", SAME)
    assert int(result.ret) in (0, 5)
    text = result.stdout.str()
    assert "A, a second copy of the same data; by whole runs: a run of fake is a whole" in text
    assert "alpha A: sh -c" in text and "alpha B: sh -c" in text


def test_a_session_against_another_base_is_not_gone_on_with(project):
    project.run("suites", "--io-budget=30", factor=1.0)
    cut = next((project.path / ".iogate/results").glob("*/results.json"))
    data = json.loads(cut.read_text())
    data["run"]["open"] = [data["workloads"][0]["id"]]
    cut.write_text(sealed(Results.parse(json.dumps(data).encode(), "")).text())  # as a run here would
    result = project.run("suites", "--io-budget=30", "--io-resume", SAME)
    refused(result, "--io-against was not given, is same", status=4)


# ------------------------------------------------------------ what becomes of the document


def test_it_becomes_no_baseline(project, capsys):
    from iogate.cli import main

    document(project, SAME)
    file = str(project.path / "out.json")
    project.device("orin", "target: .\n")
    given = ["--device=orin", f"--suite={project.path / 'suites/demo.yaml'}"]
    assert main(["import", file, *given, f"--baselines={project.path / 'baselines'}"]) == 2
    said = "".join(capsys.readouterr())
    assert "is a results file of iogate" in said and "Traceback" not in said
    assert not project.baseline("orin").exists()
