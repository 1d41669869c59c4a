"""From a declared workload to an outcome of pytest."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from iogate.host.environment import machine
from iogate.report.results import Results, results_schema
from projects import refused


def test_the_first_run_records_and_the_second_gates(project):
    project.run("suites").assert_outcomes(passed=2)
    first = project.baseline().read_text()
    second = project.run("suites", "-v")
    second.assert_outcomes(passed=2)
    assert "recorded" not in second.stdout.str()
    assert project.baseline().read_text() == first


def test_a_regression_fails_with_figures_bound_and_place(project):
    project.run("suites")
    result = project.run("suites", factor=0.7)
    result.assert_outcomes(failed=2)
    text = result.stdout.str()
    assert re.search(r"regressed: read\.iops is \d{3}\.\d IOPS against 1\.00\d k IOPS, -\d+\.\d%", text)
    assert re.search(r"fails below \d+\.\d IOPS \(tolerance", text)
    assert "suites/demo.yaml:3: alpha" in text
    assert "Traceback" not in text


def test_an_improvement_passes_and_is_told(project):
    project.run("suites")
    result = project.run("suites", "-v", factor=1.3)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*alpha PASSED (improved)*"])


def test_a_workload_without_baseline_fails_unless_told_otherwise(project):
    project.device("bare", "target: .\n")
    failed = project.run("suites", "--device=bare")
    failed.assert_outcomes(failed=2)
    failed.stdout.fnmatch_lines(["*no_baseline: bare has no baseline of this workload*--update-baselines*"])
    project.run("suites", "--device=bare", "--io-missing=skip").assert_outcomes(skipped=2)
    project.run("suites", "--device=bare", "--io-missing=record").assert_outcomes(passed=2)
    project.run("suites", "--device=bare").assert_outcomes(passed=2)


def test_a_changed_workload_has_no_baseline_and_says_which_key_changed(project):
    project.run("suites")
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000, size: 2M}\n")
    result = project.run("suites", "--io-missing=fail")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no_baseline: *size was 1M, is 2M*"])


@pytest.mark.parametrize("changed", ["definition", "metrics"])
def test_a_baseline_that_does_not_fit_is_not_missing_where_coverage_is_not_to_be_lost(project, changed):
    project.device("lab", "target: .\n")
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000, size: 1M}\n")
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    if changed == "definition":
        project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000, size: 2M}\n")
    else:
        file = project.baseline("lab")
        file.write_text(file.read_text().replace("read.iops", "write.iops"))
    arguments = ("suites", "--device=lab", "--io-missing=skip")
    project.run(*arguments).assert_outcomes(skipped=1)
    strict = project.run(*arguments, "--io-strict")
    strict.assert_outcomes(failed=1)
    assert strict.ret == 11


def test_an_update_replaces_and_append_adds_a_session(project):
    project.run("suites")
    replaced = project.run("suites", "--update-baselines", "--io-reason=new firmware", factor=0.5)
    replaced.assert_outcomes(passed=2)
    assert "-50" in replaced.stdout.str()
    text = project.baseline().read_text()
    assert "new firmware" in text
    assert text.count("environment:") == 1
    project.run("suites", "--update-baselines=append", factor=0.5).assert_outcomes(passed=2)
    assert project.baseline().read_text().count("environment:") == 2
    project.run("suites", factor=0.5).assert_outcomes(passed=2)


def sessions(project):
    return project.baseline().read_text().count("environment:")


def test_an_appended_session_is_judged_by_those_before_it(project):
    project.run("suites")
    result = project.run("suites", "--update-baselines=append", "--io-json=out.json")
    result.assert_outcomes(passed=2)
    assert sessions(project) == 2
    workloads = Results.read(project.path / "out.json").workloads
    assert [item.verdict for item in workloads] == ["pass", "pass"]
    assert all("appended as the 2nd session" in item.reason for item in workloads)
    result.stdout.fnmatch_lines(["alpha*read.iops*pass", "workload*old*session*change*new*", "*appended"])


@pytest.mark.parametrize("quiet", [(), ("-q",)])
def test_a_gain_beyond_doubt_is_not_appended_but_by_force(project, quiet):
    """It passes, and is nowhere else: the baseline would be two levels, with losses between them."""
    for _ in range(3):
        project.run("suites", "--update-baselines=append").assert_outcomes(passed=2)
    before = project.baseline().read_bytes()
    result = project.run("suites", "--update-baselines=append", *quiet, factor=1.4)
    result.assert_outcomes(passed=2)
    said = " ".join(result.stdout.str().split())
    assert "2 workloads (alpha, beta): not appended: read.iops is better than the noise explains" in said
    assert "begin anew: --update-baselines; --update-baselines=force appends it all the same" in said
    assert project.baseline().read_bytes() == before
    project.run("suites", "--update-baselines=force", factor=1.4).assert_outcomes(passed=2)
    assert sessions(project) == 4


def test_a_regressed_session_is_not_appended_but_by_force(project):
    project.run("suites")
    before = project.baseline().read_bytes()
    result = project.run("suites", "--update-baselines=append", factor=0.5)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*regressed: read.iops*", "*not appended: *--update-baselines=force*"])
    assert project.baseline().read_bytes() == before
    forced = project.run("suites", "--update-baselines=force", factor=0.5)
    forced.assert_outcomes(passed=2)
    forced.stdout.fnmatch_lines(
        ["alpha*-50.*regressed", "*alpha: appended as the 2nd session*by force, although regressed*"]
    )
    assert sessions(project) == 2


def test_an_undecided_session_is_appended_and_says_so(project):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {noise: 0.1, gate: {read.iops: 1%}}\n")
    project.run("suites")
    result = project.run("suites", "-v", "--update-baselines=append", "--io-json=out.json")
    result.assert_outcomes(passed=1)
    (alpha,) = Results.read(project.path / "out.json").workloads
    assert (alpha.verdict, alpha.gating["read.iops"].verdict) == ("recorded", "inconclusive")
    assert alpha.reason.startswith("appended as the 2nd session of the baseline, undecided: read.iops is")
    result.stdout.fnmatch_lines(["alpha*inconclusive", "*alpha: appended as the 2nd session*undecided*"])
    assert sessions(project) == 2


def elsewhere(project):
    """The baseline, which is of another machine now."""
    file = project.baseline()
    document = yaml.safe_load(file.read_text())
    for session in document["sessions"].values():
        session["environment"]["identity"] = {"machine": "other", "cores": "a million"}
    file.write_text(yaml.safe_dump(document))
    return file


def test_a_session_of_another_machine_is_refused_before_it_is_measured(project):
    project.run("suites")
    file = elsewhere(project)
    before = file.read_bytes()
    result = project.run("suites", "--update-baselines=append")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*not appended: the session * is of another machine: *cores was a million*"])
    assert file.read_bytes() == before
    forced = project.run("suites", "--update-baselines=force")
    forced.assert_outcomes(passed=2)
    forced.stdout.fnmatch_lines(
        ["*(alpha, beta): appended as the 2nd * by force, although the", "*of another*"]
    )
    assert sessions(project) == 2


def test_a_baseline_of_another_machine_is_not_replaced_without_a_word(project):
    """As by the root disk's, where the card is not mounted."""
    project.run("suites")
    elsewhere(project)
    result = project.run("suites", "--update-baselines")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["warning: replaced, although the session * is of another machine: *; is the right target mounted?"]
    )
    elsewhere(project)
    project.run("suites", "--update-baselines", "-k", "alpha")
    result = project.run("suites", "--update-baselines", "-k", "alpha")  # beta has one of another machine
    result.stdout.no_fnmatch_line("*another machine*")


def test_a_model_is_held_against_a_good_one_and_that_is_not_replaced_without_a_word(project, monkeypatch):
    known = machine.identity
    project.device("lab", "target: .\naccepts: model\n")
    for serial, asked in (("1", ["--update-baselines"]), ("2", [])):
        monkeypatch.setattr(
            machine, "identity", lambda root, serial=serial: {**known(root), "serial": serial}
        )
        result = project.run("suites", "--device=lab", *asked)
        result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["alpha*pass"])
    first = project.run("suites", "--device=lab", "--io-missing=record")
    refused(first, "--io-missing=record makes a baseline of whichever machine comes first", status=4)
    replaced = project.run("suites", "--device=lab", "--update-baselines")
    replaced.stdout.fnmatch_lines(
        ["warning: replaced, *serial was 1, is 2; any machine of its model is held *"]
    )


def test_a_new_suite_is_not_recorded_on_another_machine_without_a_word(project):
    """It was, so that each of two boards was the good one in some of the suites."""
    project.run("suites")
    elsewhere(project)
    (project.path / "suites/other.yaml").write_text(
        "workloads: {gamma: {engine: fake, value: 1000, size: 1M}}\n"
    )
    result = project.run("suites/other.yaml", "--update-baselines")
    result.stdout.fnmatch_lines(["warning: recorded, although the session * is of another machine: *"])
    result = project.run("suites/other.yaml", "--update-baselines")
    result.stdout.no_fnmatch_line("*another machine*")


def test_nor_a_new_workload_beside_those_of_its_suite(project):
    """Whatever machine measured the newest of another suite."""
    project.run("suites")
    elsewhere(project)
    other = project.path / "suites/other.yaml"
    other.write_text("workloads: {gamma: {engine: fake, value: 1000, size: 1M}}\n")
    project.run("suites/other.yaml", "--update-baselines")
    demo = project.path / "suites/demo.yaml"
    demo.write_text(f"{demo.read_text()}  delta: {{value: 1000, size: 1M}}\n")
    result = project.run("suites/demo.yaml", "-k", "delta", "--update-baselines")
    result.stdout.fnmatch_lines(["warning: recorded, although the session * is of another machine: *"])


def test_a_new_workload_is_not_stored_beside_sessions_of_another_machine(project):
    project.run("suites", "-k", "alpha")
    elsewhere(project)
    result = project.run("suites", "-k", "beta")
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["*not appended: the session * is of another machine: *cores was a million*"])


def test_what_cannot_be_trusted_is_an_error_and_never_a_baseline(project):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {says: garbage}\n  beta: {}\n")
    result = project.run("suites")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*'garbage' is no figure*", "*suites/demo.yaml:3: alpha*"])
    assert "Traceback" not in result.stdout.str()
    assert "alpha" not in project.baseline().read_text()


def test_a_gating_metric_that_is_not_measured_is_never_a_pass(project):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {gate: [read.bandwidth]}\n")
    result = project.run("suites")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*read.bandwidth was not measured*"])


def test_a_pair_of_tolerances_judges_both_sides(project):
    declaration = "defaults: {engine: fake}\nworkloads:\n  alpha: {gate: {read.iops: [-5%, 10%]}}\n"
    project.suite(declaration)
    project.run("suites").assert_outcomes(passed=1)
    project.run("suites", factor=0.9).assert_outcomes(failed=1)
    result = project.run("suites", factor=1.4)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*better than the suite holds possible (at most 10.0%)*"])


def test_an_inconclusive_workload_fails_unless_told_otherwise(project):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {noise: 0.5, gate: {read.iops: 1%}}\n")
    (project.path / "baselines/lab").mkdir(parents=True)
    (project.path / "baselines/lab/device.yaml").write_text("target: .\nmissing: record\n")
    lab = ("suites", "--device=lab", "--io-max-repetitions=3")
    project.run(*lab)
    result = project.run(*lab)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*inconclusive: read.iops is *; passes above *", "*--io-against"])
    skipped = project.run(*lab, "--io-inconclusive=skip", "-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["*skipped and not failed, as --io-inconclusive=skip asks for*"])


def test_the_shipped_device_learns_until_it_can_judge(project):
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {noise: 0.3}\n")
    project.run("suites")
    second = project.run("suites", "-v")
    second.assert_outcomes(passed=1)
    second.stdout.fnmatch_lines(
        [
            "*PASSED (recorded)*",
            "alpha: recorded, 2nd session: resolves *% now, 20% is needed; *",
            "*--io-against",
        ]
    )
    assert "had no baseline" not in second.stdout.str()
    document = project.baseline().read_text()
    assert document.count("reason:") == 2
    project.run("suites", factor=0.1).assert_outcomes(failed=1)
    assert project.baseline().read_text() == document


def test_a_device_that_learns_says_that_a_gain_is_not_learnt(project):
    """It passes, and is nowhere else: the baseline would be two levels, with losses between them."""
    names = ("alpha", "beta", "gamma", "delta")
    workloads = ", ".join(f"{name}: {{gate: {{read.iops: 1%}}}}" for name in names)
    project.suite(f"defaults: {{engine: fake}}\nworkloads: {{{workloads}}}\n")
    for _ in range(2):
        project.run("suites").assert_outcomes(passed=4)
    document = project.baseline().read_text()
    gained = project.run("suites", factor=1.2)
    gained.assert_outcomes(passed=4)
    assert "4 improved" in gained.stdout.str()
    assert "4 workloads (alpha, beta, gamma and 1 more): not recorded: read.iops" in gained.stdout.str()
    assert project.baseline().read_text() == document


def test_results_are_json_of_schema_1(project):
    project.run("suites")
    project.run("suites", "--io-json=out.json", factor=0.7)
    results = json.loads((project.path / "out.json").read_text())
    assert results["schema"] == 1
    assert results["device"] == "local"
    alpha = next(item for item in results["workloads"] if item["workload"] == "alpha")
    assert alpha["id"] == "suites/demo.yaml::alpha"
    assert (alpha["suite"], alpha["engine"], alpha["verdict"]) == ("demo", "fake", "regressed")
    metric = alpha["metrics"]["read.iops"]
    assert metric["gating"]
    assert metric["unit"] == "IOPS"
    assert len(metric["values"]) == alpha["repetitions"]
    assert metric["change"] < metric["interval"][1] < 0
    assert metric["interval"][0] < metric["change"]


def session_results(project):
    """The results beside the raw outputs of the newest session."""
    newest = max((project.path / ".iogate" / "results").iterdir(), key=lambda path: path.stat().st_mtime)
    return newest / "results.json"


def test_every_run_keeps_its_results_beside_its_raw_outputs(project):
    project.run("suites")
    results = Results.read(session_results(project))
    assert [item.verdict for item in results.workloads] == ["recorded", "recorded"]
    alpha = results.workloads[0]
    assert len(alpha.measured) == alpha.repetitions == 5
    assert all(Path(one.folder).parents[1] == session_results(project).parent for one in alpha.measured)
    assert [one.metrics["read.iops"] for one in alpha.measured] == list(alpha.metrics["read.iops"].values)
    assert {"iogate", "pytest"} <= set(results.versions)
    assert results.versions["fake"] == "fake-1.0"
    assert results.gate is not None and results.gate.alpha == 0.01


def test_a_second_place_for_the_results_holds_the_same(project):
    project.run("suites", "--io-json=out.json")
    assert (project.path / "out.json").read_bytes() == session_results(project).read_bytes()


def test_results_are_of_their_json_schema(project):
    project.run("suites")
    document = json.loads(session_results(project).read_text())
    validator = Draft202012Validator(results_schema())
    validator.validate(document)
    del document["workloads"][0]["measured"][0]["metrics"]
    assert not validator.is_valid(document)


def test_a_run_that_was_stopped_has_the_results_of_what_was_decided(project):
    (project.path / "conftest.py").write_text(
        "import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n"
    )
    assert project.run("suites").ret == 2
    alpha, beta = Results.read(session_results(project)).workloads
    assert (alpha.workload, alpha.verdict) == ("alpha", "recorded")
    assert (beta.workload, beta.verdict) == ("beta", "inconclusive")
    assert "interrupted" in beta.reason
    assert beta.measured


def test_junit_shows_the_figures(project):
    project.run("suites", "--junitxml=junit.xml")
    root = ElementTree.parse(project.path / "junit.xml").getroot()
    case = next(case for case in root.iter("testcase") if case.get("name") == "alpha")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert properties["verdict"] == "recorded"
    assert float(properties["read.iops"]) > 900


def test_the_table_is_in_units_that_people_read(project):
    result = project.run("suites")
    result.stdout.fnmatch_lines(
        ["*storage performance of local*", "workload*metric*measured*", "beta*2.00* k IOPS*recorded"]
    )
