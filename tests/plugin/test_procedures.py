"""Steady state, the length of a repetition, and device time that is short."""

import json

import pytest

from projects import refused

FAKE = "defaults: {engine: fake, noise: 0.01}\nworkloads:\n"
SETTLES = "engine='fake', size='1M', noise=0.01, settles=2, takes=0.06"
OTHER_WORK = "*came behind * of measuring, and behind * in the baseline*"


def results(project):
    return json.loads((project.path / "out.json").read_text())["workloads"]


def test_repetitions_before_the_steady_state_are_kept_and_not_judged(project):
    project.suite(FAKE + "  a: {settles: 4, steady_state: {rounds: 5}}\n")
    project.run("suites", "--io-json=out.json").assert_outcomes(passed=1)
    (workload,) = results(project)
    assert len(workload["warmup"]) == 4
    assert workload["warmup"][0]["metrics"]["read.iops"] < 800
    assert min(workload["metrics"]["read.iops"]["values"]) > 980
    assert len(workload["metrics"]["read.iops"]["values"]) == 5


def test_a_device_that_does_not_come_to_rest_gives_no_verdict(project):
    project.suite(FAKE + "  a: {settles: 99, steady_state: {rounds: 5, max_rounds: 8}}\n")
    result = project.run("suites")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*read.iops is not steady after 8 rounds: the last 5 rounds range over *"])


def test_a_steady_state_is_part_of_the_definition(project):
    project.suite(FAKE + "  a: {steady_state: {rounds: 5}}\n")
    project.run("suites")
    project.suite(FAKE + "  a: {steady_state: {rounds: 6}}\n")
    result = project.run("suites", "--io-missing=fail")
    result.stdout.fnmatch_lines(["*steady_state.rounds was 5, is 6*"])


def test_rounds_that_never_suffice_are_refused(project):
    project.suite(FAKE + "  a: {steady_state: {rounds: 9, max_rounds: 8}}\n")
    result = project.run("suites")
    result.stdout.fnmatch_lines(["suites/demo.yaml:3:*max_rounds is 8, less than the 9 rounds*"])


def test_a_fixed_protocol_runs_apart_and_as_often_as_it_says(project):
    project.suite(FAKE + "  a: {repetitions: 4}\n  b: {}\n  c: {}\n")
    project.run("suites", "--update-baselines")
    result = project.run("suites", "--io-json=out.json")
    lines = [
        line.split(":")[1].strip() for line in result.outlines if line.startswith("demo: ") and "/" in line
    ]
    assert lines[:4] == ["a 1/4", "a 2/4", "a 3/4", "a 4/4"]
    assert lines[4][0] != lines[5][0]
    assert next(item for item in results(project) if item["workload"] == "a")["repetitions"] == 4


def test_device_time_that_is_used_up_leaves_workloads_inconclusive_and_makes_no_baseline(project):
    project.suite(FAKE + "  alpha: {runtime: 10}\n  beta: {runtime: 10}\n")
    result = project.run("suites", "--io-budget=5s", "--io-json=out.json")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*inconclusive: not measured: the device time of --io-budget does not*"])
    assert [item["verdict"] for item in results(project)] == ["inconclusive"] * 2
    assert not project.baseline().exists()


def test_what_a_verdict_rests_on_is_told_before_the_run(project):
    project.run("suites")
    result = project.run("suites", "--io-tolerance=0.1%")
    result.stdout.fnmatch_lines(["2 metrics judged by the baseline, tolerance 0.1%, it can resolve *"])
    result = project.run("suites", "--io-tolerance=0.1%", "-v")
    result.stdout.fnmatch_lines(
        [
            "workload*metric*baseline*tolerance*can resolve*",
            "alpha*read.iops*0.1%*",
            "warning: alpha: read.iops: a tolerance of 0.1% is less than the *",
        ]
    )


def test_a_baseline_that_resolves_next_to_nothing_is_told_in_one_line_with_what_does_better(project):
    project.suite(FAKE.replace("0.01", "0.3") + "  alpha: {}\n  beta: {}\n  gamma: {noise: 0.001}\n")
    project.run("suites")
    result = project.run("suites", "--io-plan")
    (line,) = [line for line in result.outlines if line.startswith("warning: ") and "resolve" in line]
    assert line.startswith("warning: 2 of 3 metrics: the baseline resolves ")
    assert line.endswith("side by side does better: pytest suites/ --io-against=DIR|IMAGE|same")


def test_a_plan_says_what_it_does_not_count(project):
    project.suite(FAKE + "  a: {runtime: auto}\n  b: {steady_state: true, runtime: 10}\n")
    found = project.run("suites", "--io-plan").stdout
    found.fnmatch_lines(["not counted: the first run of 1 workload"])
    found.fnmatch_lines(["not counted: what brings the device to rest before 1 workload"])
    project.run("suites")
    found = project.run("suites", "--io-plan").stdout
    found.fnmatch_lines(["not counted: the first run of 1 workload"])
    found.fnmatch_lines(["a: a first run of 20 s, as before those of its baseline"])


def test_how_strong_a_baseline_is_is_told_after_an_update(project):
    result = project.run("suites", "--update-baselines")
    result.stdout.fnmatch_lines(
        [
            "2 workloads recorded in baselines/local/demo.yaml, which now resolves",
            "workload*metric*losses of*session noise*repetition noise",
            "alpha*read.iops*%*% (assumed)*%",
        ]
    )


def test_what_a_session_changes_is_told_where_it_was_asked_for(project):
    project.run("suites")
    assert "old" not in project.run("suites", "--update-baselines").stdout.str().split("recorded in")[1]
    project.run("suites").stdout.no_fnmatch_line("*sessions*repetitions*")
    project.run("suites", "--update-baselines=append").stdout.fnmatch_lines(["workload*old*session*change*"])


def test_a_baseline_that_is_replaced_as_the_workload_is_another_one_is_told(project):
    project.run("suites")
    project.suite("defaults: {engine: fake, size: 8k}\nworkloads:\n  alpha: {}\n")
    project.run("suites").stdout.fnmatch_lines(["*no_baseline: *size was 1M, is 8k*"])
    told = project.run("suites", "--update-baselines=append")
    told.stdout.fnmatch_lines(["alpha*read.iops*replaced: *"])


def test_a_device_that_slows_down_is_judged_over_the_seconds_of_its_baseline(project):
    """Else what `--io-budget` makes shorter would be held against what was measured for longer."""
    project.suite("defaults: {engine: fake, noise: 0.01, runtime: auto}\nworkloads:\n  a: {}\n")
    project.run("suites", "--io-json=out.json").assert_outcomes(passed=1)
    (recorded,) = results(project)
    assert [item["folder"].rpartition("/")[2] for item in recorded["warmup"]] == ["pilot"]
    baseline = project.path / "baselines/local/demo.yaml"
    text, was = baseline.read_text(), f"runtime: {recorded['runtime']}"
    assert was in text
    baseline.write_text(text.replace(was, "runtime: 33.0"))
    project.run("suites", "--io-json=out.json", "--io-budget=90s").assert_outcomes(passed=1)
    (judged,) = results(project)
    assert judged["runtime"] == 33.0
    assert [item["folder"].rpartition("/")[2] for item in judged["warmup"]] == ["pilot"]
    result = project.run("suites", "--io-budget=30s")
    result.stdout.fnmatch_lines(["*the device time of --io-budget does not suffice*"])


def test_a_workload_alone_is_not_held_against_places_of_sessions_that_measured_more(project):
    """How warm a device is at a place depends on what was measured before."""
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n  two: {noise: 0, takes: 0.06}\n")
    project.suite(FAKE + "  six: {noise: 0}\n", name="more")
    for _ in range(3):
        project.run("suites", "--update-baselines=append").assert_outcomes(passed=3)
    project.run("suites").assert_outcomes(passed=3)
    project.run("suites/demo.yaml").assert_outcomes(passed=2)  # which is measured first
    for selected in ("suites/more.yaml", "suites -k one", "suites -k two"):
        result = project.run(*selected.split())
        assert result.ret == 10
        result.stdout.fnmatch_lines([OTHER_WORK])


def test_a_workload_alone_is_not_appended_to_sessions_that_measured_more(project):
    """Else the loss of a device that gets hot became part of its baseline, as a pass, where it was cold."""
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n  two: {noise: 0, takes: 0.06}\n")
    append = "--update-baselines=append"
    for _ in range(3):
        project.run("suites", append).assert_outcomes(passed=2)
    result = project.run("suites", "-k", "one", append)
    assert result.ret == 10
    result.stdout.fnmatch_lines(
        [
            OTHER_WORK,
            "*not appended: read.iops depends on what was measured before, which is another work here*force*",
        ]
    )
    project.run("suites", "-k", "one", "--update-baselines=force").assert_outcomes(passed=1)
    project.run("suites", append).assert_outcomes(passed=2)


def test_what_a_session_goes_on_with_is_not_held_against_places_behind_what_it_has_decided(project):
    """A device that got hot is cold again."""
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n  two: {settles: 2, takes: 0.06}\n")
    for _ in range(3):
        project.run("suites", "--update-baselines=append").assert_outcomes(passed=2)
    project.conftest("import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n")
    assert project.run("suites").ret == 2
    (project.path / "conftest.py").unlink()
    result = project.run("suites", "--io-resume")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([OTHER_WORK])


def test_nor_behind_tests_in_python_that_it_has_decided(project):
    project.suite(FAKE + "  nine: {settles: 2, takes: 0.06}\n")
    body = f"(measure, gate):\n    gate.check(measure({SETTLES}))\n"
    (project.path / "test_disk.py").write_text(f"def test_one{body}def test_two{body}")
    order = ("test_disk.py", "suites", "-p", "no:randomly")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=3)
    project.conftest("import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n")
    assert project.run(*order).ret == 2
    (project.path / "conftest.py").unlink()
    result = project.run(*order, "--io-resume")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines([OTHER_WORK])


def test_a_test_in_python_alone_is_not_held_against_places_of_sessions_that_ran_more(project):
    """How warm a device is at a place depends on what was measured before."""
    (project.path / "suites/demo.yaml").unlink()
    body = f"(measure, gate):\n    gate.check(measure({SETTLES}))\n"
    (project.path / "test_disk.py").write_text(
        f"def test_one{body}class TestMore:\n  def test_two(self, {body[1:]}"
    )
    for _ in range(3):
        project.run("test_disk.py", "--update-baselines=append").assert_outcomes(passed=2)
    project.run("test_disk.py").assert_outcomes(passed=2)
    project.run("test_disk.py::test_one").assert_outcomes(passed=1)
    for selected in ("test_disk.py -k test_two", "test_disk.py::TestMore::test_two"):
        result = project.run(*selected.split())
        assert result.ret == 10
        result.stdout.fnmatch_lines([OTHER_WORK])


@pytest.mark.parametrize("first", ["pytest.skip()", "assert False"])
def test_nor_behind_a_test_in_python_that_did_not_get_to_measure(project, first):
    body = f"gate.check(measure({SETTLES}))\n"
    before, behind = (f"def test_{name}(measure, gate):\n    {body}" for name in ("nil", "two"))
    file, order = project.path / "test_disk.py", ("test_disk.py", "-p", "no:randomly")
    file.write_text(f"{before}def test_one(measure, gate):\n    {body}{behind}")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=3)
    project.run(*order).assert_outcomes(passed=3)
    file.write_text(f"import pytest\n{before}def test_one(measure, gate):\n    {first}\n    {body}{behind}")
    result = project.run(*order)
    assert result.parseoutcomes()["passed"] == 1
    result.stdout.fnmatch_lines([OTHER_WORK])
    result.stdout.fnmatch_lines(["FAILED test_disk.py::test_two*"])


def test_a_test_in_python_that_is_gone_is_not_left_out(project):
    """As a workload of a suite is not: else all others were inconclusive until its baseline is dropped."""
    body = f"(measure, gate):\n    gate.check(measure({SETTLES}))\n"
    file, order = project.path / "test_disk.py", ("test_disk.py", "-p", "no:randomly")
    file.write_text(f"def test_two{body}def test_one{body}")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=2)
    file.write_text(f"def test_two{body}")
    project.run(*order).assert_outcomes(passed=1)
    refused(project.run(*order, "--device=local", "--io-strict"), "no test in Python measures: test_one")


def test_what_comes_behind_fewer_repetitions_than_in_the_baseline_is_not_held_against_its_places(project):
    """What comes first is at the same places as ever."""
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n")
    project.suite(FAKE + "  six: {settles: 2, takes: 0.06}\n", name="more")
    order = ("suites", "-p", "no:randomly")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=2)
    project.run(*order, "--io-max-repetitions=5").assert_outcomes(passed=2)
    result = project.run(*order, "--io-max-repetitions=3")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([OTHER_WORK])
    result.stdout.fnmatch_lines(["FAILED suites/more.yaml::six*"])


def test_nor_behind_a_suite_that_is_new(project):
    """What had not changed was regressed: a device that gets hot was hot by then."""
    project.suite(FAKE + "  six: {settles: 2, takes: 0.06}\n", name="more")
    order = ("suites", "-p", "no:randomly")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=3)
    project.suite(FAKE + "  new: {settles: 2, takes: 0.06}\n", name="first")
    for _ in ("recorded", "judged"):
        result = project.run(*order)
        result.assert_outcomes(passed=3, failed=1)
        result.stdout.fnmatch_lines([OTHER_WORK])
        result.stdout.fnmatch_lines(["FAILED suites/more.yaml::six*"])


def test_what_is_by_turns_with_one_that_is_not_measured_is_not_held_against_its_places(project):
    """It passed: its fifth repetition found a device as cool as ever, and counted as an outlier."""
    project.suite(
        FAKE + "  one: {settles: 2, takes: 0.06, runtime: 1}\n  two: {settles: 2, takes: 0.06, runtime: 10}\n"
    )
    for _ in range(3):
        project.run("suites", "--update-baselines=append").assert_outcomes(passed=2)
    project.run("suites").assert_outcomes(passed=2)
    result = project.run("suites", "--io-budget=8s")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([OTHER_WORK])


def test_nor_behind_one_that_failed_or_is_measured_more_often(project, monkeypatch):
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n")
    project.suite(FAKE + "  six: {settles: 2, takes: 0.06}\n", name="more")
    order = ("suites", "-p", "no:randomly")
    for _ in range(3):
        project.run(*order, "--update-baselines=append").assert_outcomes(passed=2)
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06, repetitions: 9}\n")
    result = project.run(*order)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([OTHER_WORK])
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n")
    monkeypatch.setenv("IOGATE_FAKE_FAILS", "one")
    result = project.run(*order)
    result.assert_outcomes(errors=1, failed=1)
    result.stdout.fnmatch_lines([OTHER_WORK])


def test_what_was_recorded_suite_by_suite_is_not_held_against_places_of_a_session_of_all(project):
    """What comes first is at the same places as ever."""
    project.suite(FAKE + "  one: {settles: 2, takes: 0.06}\n")
    project.suite(FAKE + "  six: {settles: 2, takes: 0.06}\n", name="more")
    for _ in range(3):
        for suite in ("demo", "more"):
            project.run(f"suites/{suite}.yaml", "--update-baselines=append").assert_outcomes(passed=1)
    project.run("suites/more.yaml").assert_outcomes(passed=1)
    result = project.run("suites", "-p", "no:randomly")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([OTHER_WORK])
    result.stdout.fnmatch_lines(["FAILED suites/more.yaml::six*"])
