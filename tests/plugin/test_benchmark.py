"""Workloads in pytest-benchmark: its table, its JSON, its options; measured once, by the engine's clock."""

import json
import subprocess
import sys

import pytest

SUITE = """\
workloads:
  single: {engine: stopwatch}
  curve: {engine: stopwatch, threads: [1, 2, 4]}
  other: {engine: fake}
"""


@pytest.fixture
def project(project):
    project.suite(SUITE)
    return project


def benchmarks(project, **options):
    """What pytest-benchmark wrote of a run, by name."""
    path = project.path / "benchmark.json"
    project.run("suites", f"--benchmark-json={path}", **options)
    return {item["name"]: item for item in json.loads(path.read_text())["benchmarks"]}


def test_each_point_of_a_curve_is_a_benchmark_with_a_round_for_each_repetition(project):
    found = benchmarks(project)
    points = ["curve[threads_1]", "curve[threads_2]", "curve[threads_4]"]
    assert sorted(found) == [*points, "other", "single"]
    expected = [100.0 * (1 + number / 1000) for number in range(1, 6)]
    for name, threads in (("single", 1), ("curve[threads_1]", 1), ("curve[threads_4]", 4)):
        times = [seconds / threads for seconds in expected]
        assert found[name]["stats"]["data"] == pytest.approx(times)
        assert found[name]["stats"]["rounds"] == 5
        assert found[name]["options"]["timer"].endswith("engine_clock")


def test_the_other_metrics_of_a_point_go_along(project):
    found = benchmarks(project)
    known = found["curve[threads_4]"]["extra_info"]
    assert known == {
        "read.iops": pytest.approx(39.88, rel=1e-3),
        "serial_fraction": 0.0,
        "verdict": "recorded",
    }
    assert found["curve[threads_4]"]["group"] == "curve"
    assert found["curve[threads_4]"]["fullname"] == "suites/demo.yaml::curve[threads_4]"


def test_minutes_of_wall_time_are_not_waited_for_again(project):
    result = project.run("suites")
    result.assert_outcomes(passed=3)
    assert "100.1" in result.stdout.str() and result.duration < 60


def test_a_failed_workload_is_shown_as_well(project):
    benchmarks(project)
    found = benchmarks(project, factor=0.5)
    assert found["single"]["extra_info"]["verdict"] == "regressed"


def test_without_a_measurement_there_is_no_benchmark_and_no_warning(project):
    project.device("local", "target: .\n")
    found = project.run("suites", "-W", "error")
    found.assert_outcomes(failed=3)
    assert "was not used" not in found.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        (["-p", "no:benchmark"], {"passed": 3}),
        (["--benchmark-disable"], {"passed": 3}),
        (["--benchmark-only"], {"passed": 3}),
        (["--benchmark-only", "--benchmark-skip"], {"passed": 3}),
        (["--benchmark-group-by=name", "--benchmark-columns=min,max"], {"passed": 3}),
    ],
)
def test_the_options_of_pytest_benchmark_work(project, arguments, outcomes):
    project.run("suites", *arguments).assert_outcomes(**outcomes)


def test_benchmarks_can_be_compared_with_saved_ones(project):
    project.run("suites", "--benchmark-save=first").assert_outcomes(passed=3)
    result = project.run("suites", "--benchmark-compare", "--benchmark-compare-fail=mean:5%")
    result.assert_outcomes(passed=3)
    assert "curve[threads_4] (0001_first)" in result.stdout.str()
    assert "other (0001_first)" in result.stdout.str()
    assert "machine_info is different" not in f"{result.stdout}{result.stderr}"


def test_the_folder_of_pytest_benchmark_is_left_only_if_something_is_in_it(project):
    storage = project.path / ".benchmarks"
    project.run("suites")
    assert not storage.exists()
    project.run("suites", "--benchmark-save=first")
    assert [file.name for file in storage.rglob("*.json")] == ["0001_first.json"]


# ------------------------------------------------------------ workloads that are rates


def test_a_rate_is_the_time_of_one_operation_so_that_ops_are_iops(project):
    project.suite("workloads:\n  reads: {engine: fake, value: 500}\n")
    (found,) = benchmarks(project).values()
    assert found["stats"]["ops"] == pytest.approx(500, rel=0.01)
    assert found["stats"]["rounds"] == 5 and found["group"] == "time of one operation"
    known = found["extra_info"]
    assert known["read.iops"] == pytest.approx(500, rel=0.01) and known["read.lat.mean"] > 0
    assert (known["metric"], known["unit"], known["verdict"]) == ("read.iops", "IOPS", "recorded")
    machine = json.loads((project.path / "benchmark.json").read_text())["machine_info"]
    assert machine["system"] == "Linux" and machine["iogate"]["device"] == "local"
    assert machine["iogate"]["identity"] and "kernel" in machine["iogate"]["subject"]


def test_each_metric_that_decides_is_a_benchmark_and_says_what_the_gate_does(project):
    project.suite("workloads:\n  reads: {engine: fake, gate: {read.iops: 5%, read.lat.mean: 5%}}\n")
    project.run("suites")
    found = benchmarks(project, factor=0.5)
    assert sorted(found) == ["reads[read.iops]", "reads[read.lat.mean]"]
    assert found["reads[read.lat.mean]"]["stats"]["mean"] == pytest.approx(1 / 500, rel=0.01)
    known = found["reads[read.iops]"]["extra_info"]
    assert known["verdict"] == "regressed" and known["tolerance"] == 0.05
    assert known["change"] == pytest.approx(-0.5, abs=0.01) and len(known["interval"]) == 2
    assert known["baseline"] == pytest.approx(1000, rel=0.01)


def test_saved_benchmarks_are_compared_by_its_command_and_drawn(project):
    project.suite("workloads:\n  reads: {engine: fake}\n")
    project.run("suites", "--benchmark-save=first")
    arguments = ("--benchmark-save=second", "--benchmark-histogram")
    project.run_apart("suites", *arguments, factor=0.8).assert_outcomes(failed=1)
    assert list(project.path.glob("benchmark_*.svg"))
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "--columns=ops,rounds", "--sort=name"]
    said = subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True).stdout
    assert "reads (0001_first)" in said and "reads (0002_second)" in said


def test_nobody_who_does_not_ask_sees_a_second_table(project):
    project.suite("workloads:\n  reads: {engine: fake}\n")
    assert "operation': 1 tests" not in project.run("suites").stdout.str()
    assert "operation': 1 tests" in project.run("suites", "--benchmark-columns=ops").stdout.str()


def test_benchmarks_that_are_skipped_are_not_measured(project):
    project.run("suites", "--benchmark-skip").assert_outcomes(skipped=3)
    assert not list(project.path.glob(".iogate/results/*/*"))


def test_benchmarks_that_are_skipped_are_told_and_refused_strictly(project):
    """Many projects have that in their addopts, so that a plain pytest runs no benchmarks."""
    project.device("lab", "target: .\n")
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = --benchmark-skip\n")
    told = project.run("suites", "--device=lab")
    assert "warning: --benchmark-skip, which may stand in an ini file's addopts" in told.stdout.str()
    refused = project.run("suites", "--device=lab", "--io-strict")
    assert refused.ret == 4 and "skips all workloads" in refused.stderr.str()


def test_a_fixture_of_the_project_that_is_called_measure_is_its_own(project):
    (project.path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef measure(): return len\n")
    (project.path / "test_own.py").write_text("def test_own(measure): assert measure('a') == 1\n")
    result = project.run("test_own.py", "--benchmark-only")
    result.assert_outcomes(skipped=1)
    assert "skips what measures" not in result.stdout.str()


@pytest.mark.parametrize(("option", "skipped"), [("--benchmark-only", "one"), ("--benchmark-skip", "timed")])
def test_tests_in_python_that_are_skipped_are_told_and_refused_strictly(project, option, skipped):
    project.device("lab", "target: .\n")
    (project.path / "test_disk.py").write_text(
        "def test_one(measure): measure(engine='fake')\n"
        "def test_timed(measure, benchmark): measure(engine='fake'); benchmark(int)\n"
    )
    arguments = ("test_disk.py", "--device=lab", option)
    for beside in ([], ["suites"]):
        told = " ".join(project.run(*beside, *arguments).stdout.str().split())
        assert f"skips what measures: test_disk.py::test_{skipped}" in told
    refused = project.run(*arguments, "--io-strict")
    assert refused.ret == 4
    assert refused.stderr.str().rstrip().endswith(f"skips what measures: test_disk.py::test_{skipped}")
