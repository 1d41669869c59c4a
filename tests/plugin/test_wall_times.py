"""Wall times in pytest-benchmark: its table, its JSON, its options; measured once, by the engine's clock."""

import json

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
    assert sorted(found) == ["curve[threads_1]", "curve[threads_2]", "curve[threads_4]", "single"]
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
        (["--benchmark-only"], {"passed": 2, "skipped": 1}),
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


def test_the_folder_of_pytest_benchmark_is_left_only_if_something_is_in_it(project):
    storage = project.path / ".benchmarks"
    project.run("suites")
    assert not storage.exists()
    project.run("suites", "--benchmark-save=first")
    assert [file.name for file in storage.rglob("*.json")] == ["0001_first.json"]
