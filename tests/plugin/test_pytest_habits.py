"""Everything that people know of pytest works on workloads."""

import configparser
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from places import PLUGINS, ROOT
from projects import refused

COPIES = "def pytest_collection_modifyitems(items): items.extend(list(items))\n"


def verdicts_in_order(result):
    results = sorted(Path(".iogate/results").glob("*/results.json"), key=lambda file: file.stat().st_mtime_ns)
    return [item["workload"] for item in json.loads(results[-1].read_text())["workloads"]]


def test_selection_by_id_keyword_and_marker(project):
    project.run("suites/demo.yaml::beta").assert_outcomes(passed=1)
    project.run("suites", "-k", "alpha").assert_outcomes(passed=1, deselected=1)
    project.run("suites", "-m", "slow", "--strict-markers").assert_outcomes(passed=1, deselected=1)


def test_a_matrix_makes_ids_of_its_points(project):
    project.suite(
        "workloads:\n"
        "  x: {engine: fake, matrix: {value: [1, 2], size: [1M, 2M]}, exclude: [{value: 2, size: 1M}]}\n"
    )
    result = project.run("suites", "--collect-only", "-q")
    lines = [line for line in result.outlines if "::" in line]
    assert lines == [f"suites/demo.yaml::x[value={v},size={s}]" for v, s in ((1, "1M"), (1, "2M"), (2, "2M"))]


def test_the_last_failed_run_again(project):
    project.run("suites")
    project.suite(
        "defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n  beta: {value: 2000, says: 'x'}\n"
    )
    project.run("suites").assert_outcomes(passed=1, failed=1)
    project.run("suites", "--lf").assert_outcomes(failed=1, deselected=0)


def test_points_of_a_matrix_that_failed_run_again_too(project):
    """Beside others that failed, which hid that they were left out; what passes since is forgotten."""
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {}\n  x: {matrix: {value: [1000, 2000]}}\n")
    project.run("suites")
    project.run("suites", factor=0.5).assert_outcomes(failed=3)
    result = project.run("suites", "--lf", factor=0.5)
    result.assert_outcomes(failed=3)
    assert "rerun previous 3 failures" in result.stdout.str()
    project.run("suites", "--lf").assert_outcomes(passed=3)
    assert "no previously failed tests" in project.run("suites", "--lf").stdout.str()


def test_x_stops_at_the_first_failure(project):
    project.run("suites")
    result = project.run("suites", "-x", factor=0.5)
    result.assert_outcomes(failed=1)
    assert "stopping after 1 failures" in result.stdout.str()


def test_stepwise_passes_over_nothing_that_was_not_decided(project):
    """pytest takes all before the failed test for passed: what is decided first must wait for its turn."""
    project.device("lab", "target: .\n")
    project.run("suites", "--device=lab", "--update-baselines", "-k", "alpha")
    first = project.run("suites", "--device=lab", "--stepwise")
    first.assert_outcomes(passed=1, failed=1)
    assert verdicts_in_order(first) == ["alpha", "beta"]
    project.run("suites", "--device=lab", "--stepwise").assert_outcomes(failed=1, deselected=1)
    project.run("suites", "--device=lab", "--stepwise-skip").assert_outcomes(failed=1, deselected=1)


def test_copies_of_a_workload_are_left_out(project):
    """As a conftest.py makes them that lets all run for longer: what is decided stays decided."""
    project.run("suites")
    project.conftest(COPIES)
    result = project.run("suites", "--io-json=out.json", factor=0.5)
    result.assert_outcomes(failed=2, deselected=2)
    assert verdicts_in_order(result) == ["alpha", "beta"]
    assert not json.loads(Path("out.json").read_text())["run"]["open"]
    result.stdout.fnmatch_lines(["2 copies of workloads deselected*"])


def test_a_suite_that_is_named_twice_is_measured_once(project):
    result = project.run("suites", "suites", "--keep-duplicates", "--io-json=out.json")
    result.assert_outcomes(passed=4)
    run = json.loads(Path("out.json").read_text())["run"]
    assert run["ended"] and not run["open"] and len(run["selection"]) == 2


def test_copies_of_a_test_in_python_are_told_what_it_measured(project):
    project.pytester.makepyfile(
        test_mine="def test_mine(measure): measure(engine='fake')\ndef test_other(): pass\n"
    )
    project.run("test_mine.py", "--io-missing=record")
    project.conftest(COPIES)
    result = project.run("test_mine.py", factor=0.5)
    result.assert_outcomes(failed=2, passed=2)


NAMESAKE = "import pytest\nfrom unittest.mock import Mock\n@pytest.fixture\ndef {}(): return Mock()\n"
TAKES_CALLS = """\
import pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem): return True
"""
DROPS_FAILURES = """\
import pytest
@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except BaseException:
        return True
"""


@pytest.mark.parametrize(
    "conftest",
    [NAMESAKE.format("gate"), NAMESAKE.format("measurement"), TAKES_CALLS, DROPS_FAILURES],
    ids=["gate", "measurement", "call", "dropped"],
)
def test_a_workload_is_judged_whatever_a_conftest_puts_in_the_way(project, conftest):
    """As where the user's tests are of a gate, too; or a plugin calls the tests."""
    project.run("suites")
    project.conftest(conftest)
    project.run("suites", factor=0.5).assert_outcomes(failed=2)
    project.run("suites").assert_outcomes(passed=2)


@pytest.mark.parametrize("flag", ["--setup-only", "--setup-plan"])
def test_setting_up_alone_measures_and_records_nothing(project, flag):
    """There would be a test to set up, and none to fail: a regression would go unseen."""
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def measured(measure):
            return measure(engine="fake", value=500)

        def test_mine(measured): pass
        def test_other(tmp_path): pass
        """
    )
    result = project.run("suites", "test_setting_up_alone_measures_and_records_nothing.py", flag)
    assert result.ret == 0 and "SETUP    F measurement" in result.stdout.str()
    result.stdout.fnmatch_lines(["*SETUP    F tmp_path*"])
    assert not any(line.startswith("demo: ") for line in result.outlines)
    assert not project.baseline().parent.exists()
    assert not (project.path / ".iogate").exists()


def test_what_failed_goes_first_and_nothing_is_left_out(project):
    project.device("lab", "target: .\n")
    project.run("suites", "--device=lab", "--update-baselines", "-k", "alpha")
    project.run("suites", "--device=lab", "-x").assert_outcomes(failed=1)
    project.run("suites", "--device=lab", "--ff").assert_outcomes(passed=1, failed=1)


def test_suites_that_do_not_apply_to_the_device_are_left_out_unless_named(project):
    project.suite("workloads:\n  gamma: {engine: fake}\n", name="other")
    project.device("local", "target: .\nsuites: [demo]\nmissing: record\n")
    project.run("suites").assert_outcomes(passed=2, deselected=1)
    project.run("suites/other.yaml").assert_outcomes(passed=1)


def test_yaml_elsewhere_is_no_suite(project):
    (project.path / "other.yaml").write_text("a: 1")
    project.run(".").assert_outcomes(passed=2)


def test_a_test_written_in_python_has_the_same_fixtures(project):
    project.pytester.makepyfile(
        """
        def test_mine(measure, gate):
            gate.check(measure(engine="fake", value=500))

        def test_plain():
            assert True
        """
    )
    module = next(project.path.glob("test_*.py")).name
    project.run(module).assert_outcomes(passed=2)
    project.run(module).assert_outcomes(passed=2)
    result = project.run(module, factor=0.5)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*regressed: read.iops*", f"{module}:1: test_mine"])


def test_a_python_test_can_look_at_the_baseline(project):
    project.run("suites")
    (project.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(autouse=True)\ndef look(baseline):\n"
        "    assert baseline is not None and len(baseline.sessions) == 1\n"
    )
    project.run("suites").assert_outcomes(passed=2)


@pytest.mark.parametrize("flags", ["-n 2", "-d --tx 2*popen", "--dist=each --tx=popen"])
def test_running_in_parallel_is_refused(project, flags):
    pytest.importorskip("xdist")
    result = project.pytester.runpytest_subprocess("-p", "iogate.plugin", *flags.split(), "suites")
    refused(result, f"{'-n' if '-n' in flags else '--tx'} cannot be used with suites", status=4)


def test_a_project_whose_tests_run_in_parallel_measures_by_a_flag(project):
    pytest.importorskip("xdist")
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = -n 2\n")
    refused(project.run_apart("suites"), "-n cannot be used with suites", status=4)
    project.run_apart("suites", "-n", "0").assert_outcomes(passed=2)


@pytest.mark.parametrize("count", ["1", "2"])
def test_running_in_parallel_is_refused_where_the_suites_are_behind_a_link(project, count):
    pytest.importorskip("xdist")
    (project.path / "suites").rename(project.path / "shared")
    (project.path / "suites").symlink_to("shared")
    result = project.pytester.runpytest_subprocess("-p", "iogate.plugin", "-n", count, ".")
    refused(result, "xdist cannot be used with suites", status=1)


@pytest.mark.parametrize("count", ["1", "2"])
def test_measuring_in_parallel_is_refused_in_tests_in_python_too(project, count):
    """One process alone would keep the errors, warnings and the table to itself."""
    pytest.importorskip("xdist")
    project.pytester.makepyfile("def test_it(measure, gate): gate.check(measure(engine='fake'))")
    file = next(project.path.glob("test_*.py")).name
    result = project.run_apart("-n", count, file)
    refused(result, "`measure` cannot be used with xdist", status=1)


def test_without_pytests_terminal_all_is_measured_and_nothing_is_said(project):
    result = project.run("suites", "-p", "no:terminal", "--io-json=results.json", "--update-baselines")
    assert result.ret == 0 and project.baseline().exists()
    assert len(json.loads((project.path / "results.json").read_text())["workloads"]) == 2
    assert str(result.stdout) == str(result.stderr) == ""


def test_without_pytests_terminal_a_plan_is_still_shown(project):
    result = project.run("suites", "-p", "no:terminal", "--io-plan")
    result.stdout.fnmatch_lines(["target: *", "alpha *", "device time: *"])


def test_a_checkout_that_cannot_be_written_ends_in_no_traceback(project):
    """By this project's own rules about warnings: pytest cannot keep its cache."""
    ini = configparser.ConfigParser()
    ini.read(PLUGINS.parent / "pytest.ini")
    rules = ini["pytest"]["filterwarnings"].replace("\n", "\n ")
    (project.path / "pytest.ini").write_text(f"[pytest]\nfilterwarnings = {rules}\n")
    result = project.run("suites", "-o", "cache_dir=/proc/none")
    result.assert_outcomes(passed=2)
    assert "Traceback" not in f"{result.stdout}{result.stderr}"


def test_a_project_whose_path_is_no_text(project):
    """Names of files are bytes; the results show what is no UTF-8 as `?`."""
    place = Path(os.fsdecode(os.fsencode(project.path) + b"/place\xff"))
    (project.path / "suites").rename(project.path / "kept")
    place.mkdir()
    (project.path / "kept").rename(place / "suites")
    (place / "pytest.ini").touch()
    os.chdir(place)
    name = os.fsdecode(b"results\xfe.json")
    arguments = ("suites", "-p", "no:cacheprovider", "--update-baselines", f"--io-json={name}")
    result = project.run(*arguments, f"--io-results={os.fsdecode(bytes([0xFD]))}")
    assert result.ret == 0
    assert len(json.loads((place / name).read_text())["workloads"]) == 2


def test_a_suite_whose_name_is_no_text_is_refused(project):
    suites = project.path / "suites"
    (suites / "demo.yaml").rename(suites / os.fsdecode(b"demo\xff.yaml"))
    refused(project.run("suites", "--update-baselines"), "demo?.yaml: this name is not plain text", status=2)


def test_other_tests_may_run_in_parallel(project):
    pytest.importorskip("xdist")
    project.pytester.makepyfile("def test_plain(): pass")
    result = project.pytester.runpytest_subprocess(
        "-p", "iogate.plugin", "-n", "2", next(project.path.glob("test_*.py")).name
    )
    result.assert_outcomes(passed=1)


def test_a_plan_runs_nothing(project):
    result = project.run("suites", "--io-plan")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["target: *", "alpha *5 *to be recorded*", "device time: about *", "written: nothing"]
    )
    assert not project.baseline().exists()
    assert not list(project.path.glob(".iogate/results/*"))


def test_repetitions_of_workloads_are_interleaved_in_rounds(project):
    result = project.run("suites")
    lines = [
        line.split(":")[1].strip() for line in result.outlines if line.startswith("demo: ") and "/" in line
    ]
    assert lines == [f"{name} {number}/5" for number in range(1, 6) for name in ("alpha", "beta")]


def test_an_ini_file_can_set_every_option(project):
    (project.path / "pytest.ini").write_text("[pytest]\nio_missing = skip\nio_tolerance = 5%\ndevice = lab\n")
    project.device("lab", "target: .\n")
    project.run("suites").assert_outcomes(skipped=2)


def test_a_plan_has_no_command_for_who_runs_the_job_in_a_targets_name(project):
    """As a mount point has it that is made of a disk's label."""
    target = project.path / "disk\n::error::x"
    target.mkdir()
    text = project.run("suites", "--io-plan", "-v", f"--io-target={target}").stdout.str()
    assert "target: " in text and "\n::" not in text


def test_the_plan_of_a_large_matrix_says_what_its_baselines_range_over(project):
    values = [100 * number for number in range(1, 13)]
    project.suite(f"workloads:\n  sweep: {{engine: fake, matrix: {{value: {values}}}}}\n")
    project.run("suites")
    brief = project.run("suites", "--io-plan").stdout.str()
    assert "sweep[...] x 12" in brief and "sweep[value=300]" not in brief
    assert "IOPS to 1.2" in brief
    whole = project.run("suites", "--io-plan", "-v").stdout.str()
    assert all(whole.count(f"sweep[value={value}]: sh ") == 1 for value in values)


def test_a_mistyped_suite_is_told_where_the_packages_of_the_tests_are_missing():
    """As in a checkout that only measures: pytest reads the tests' conftest.py there, too."""
    without = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'hypothesis': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import pytest\n"
        "sys.exit(pytest.main(['-p', 'no:hypothesispytest', 'suites/nosuch.yaml']))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", without], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 4
    assert "file or directory not found: suites/nosuch.yaml" in run.stderr
    assert "Traceback" not in run.stdout + run.stderr
