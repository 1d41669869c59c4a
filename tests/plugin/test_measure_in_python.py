"""Tests written in Python that `measure`: each measurement is one of its own, and counts once."""

import json

import pytest

from iogate.cli import main
from iogate.plugin.status import STATUSES
from projects import refused

FAKE = "engine='fake'"
CLOSE, LOOSE = "gate={'read.iops': '5%'}", "gate={'read.iops': '20%'}"


def module(project, text, name="test_mine"):
    """Write a module of tests."""
    (project.path / f"{name}.py").write_text(text)
    return f"{name}.py"


def workloads(project, file="out.json"):
    return json.loads((project.path / file).read_text())["workloads"]


def test_what_a_process_of_the_tests_own_measures_would_be_lost(project):
    """pytest-forked gives each test one, and nothing was recorded, nor said."""
    file = module(
        project,
        "import os, pytest\n"
        "def test_it(request):\n"
        "    if pid := os.fork():\n"
        "        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7\n"
        "        return\n"
        "    with pytest.raises(pytest.fail.Exception, match='told to nobody'):\n"
        "        request.getfixturevalue('measure')\n"
        "    os._exit(7)\n",
    )
    project.run(file).assert_outcomes(passed=1)


# ------------------------------------------------------------ several measurements in one test


@pytest.mark.parametrize("second", ["", ", value=900"], ids=["alike", "another"])
def test_a_second_measurement_without_a_name_is_refused(project, second):
    """The first result would stand for a state that was never measured, or the second be kept nowhere."""
    text = (
        "def test_it(measure, gate):\n"
        f"    gate.check(measure({FAKE}))\n"
        f"    gate.check(measure({FAKE}{second}))\n"
    )
    result = project.run(module(project, text), "--io-json=out.json")
    refused(result, "test_mine.py:1:1: test_it measures a second time", "measure(..., name='...')", status=1)
    assert len(workloads(project)) == 1


def test_measurements_of_several_names_are_each_kept(project):
    text = (
        "def test_it(measure, gate):\n"
        "    for value in (500, 600):\n"
        f"        gate.check(measure({FAKE}, value=value, name=f'at_{{value}}'))\n"
    )
    file = module(project, text)
    project.run(file).assert_outcomes(passed=1)
    project.run(file, "--io-json=out.json").assert_outcomes(passed=1)
    assert {item["workload"] for item in workloads(project)} == {"test_it.at_500", "test_it.at_600"}
    stored = project.baseline(suite="test_mine").read_text()
    assert "test_it.at_500:" in stored and "test_it.at_600:" in stored


def test_a_matrix_is_refused(project):
    """Its points would not be measured, and nobody would know."""
    file = module(project, f"def test_it(measure): measure({FAKE}, matrix={{'value': [500, 600]}})\n")
    refused(project.run(file), "matrix makes workloads in a suite, and does nothing in a test", status=1)


def test_what_a_profile_gates_is_beside_what_a_test_does(project):
    project.device("local", "target: .\nmissing: record\noverrides: {'*': {gate: {read.lat.mean: 30%}}}\n")
    file = module(project, f"def test_it(measure, gate): gate.check(measure({FAKE}, {CLOSE}))\n")
    project.run(file, "--io-json=out.json").assert_outcomes(passed=1)
    assert workloads(project)[0]["gate"].keys() == {"read.iops", "read.lat.mean"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"def test_it(measure): measure({FAKE})\n", "1 test in Python: what they measure is known when*"),
        (f"def test_it(request): request.getfixturevalue('measure')({FAKE})\n", "*1 skipped*"),
    ],
)
def test_a_plan_measures_and_records_nothing(project, text, said):
    result = project.run(module(project, text), "--io-plan")
    result.stdout.fnmatch_lines([said])
    assert result.ret == 0
    assert not project.baseline().parent.exists() and not (project.path / ".iogate").exists()


# ------------------------------------------------------------ a test that forgets the gate


@pytest.mark.parametrize("more", [(), ("-p", "rerunfailures", "--reruns=1")], ids=["once", "again"])
def test_what_a_test_measures_and_does_not_check_is_checked_at_its_end(project, more):
    file = module(project, f"def test_it(measure): assert measure({FAKE}, {CLOSE})\n")
    project.run(file).assert_outcomes(passed=1)
    result = project.run_apart(*more, file, "--io-json=out.json", factor=0.5)
    refused(result, "regressed: read.iops", "test_mine.py:1: test_it", status=1)
    (found,) = workloads(project)
    assert found["verdict"] == "regressed"


def test_what_has_no_baseline_and_is_not_checked_is_no_pass(project):
    file = module(project, f"def test_it(measure): assert measure({FAKE})\n")
    refused(project.run(file, "--io-missing=fail"), "no_baseline:", status=STATUSES["no_baseline"])
    project.run(file, "--io-missing=skip").assert_outcomes(skipped=1)


def test_one_of_several_that_is_not_checked_is(project):
    text = (
        "def test_it(measure, gate):\n"
        f"    measure({FAKE}, {CLOSE}, name='one')\n"
        f"    gate.check(measure({FAKE}, {LOOSE}, name='two'))\n"
    )
    file = module(project, text)
    project.run(file).assert_outcomes(passed=1)
    refused(project.run_apart(file, factor=0.87), "regressed: read.iops", "test_it.one", status=1)


UNSURE = "noise=0.5, gate={'read.iops': '1%'}"


@pytest.mark.parametrize(
    ("checks", "skip"),
    [
        ("gate.check(one); gate.check(two)", "missing"),
        ("pass", "missing"),
        ("gate.check(one); gate.check(two)", "inconclusive"),
        ("gate.check(one); gate.check(two)", None),
        ("pass", None),
    ],
)
def test_a_mild_verdict_hides_no_regression_of_the_same_test(project, checks, skip):
    """A test is skipped, or fails by a status that CI may allow, only if nothing else of it is worse."""
    text = (
        "def test_it(measure, gate):\n"
        f"    one, two = measure({FAKE}, {UNSURE}, name='one'), measure({FAKE}, {LOOSE}, name='two')\n"
        f"    {checks}\n"
    )
    (project.path / "baselines/lab").mkdir(parents=True)
    (project.path / "baselines/lab/device.yaml").write_text("target: .\n")
    few = (module(project, text), "--device=lab", "--io-max-repetitions=3")
    project.run(*few, "--update-baselines")
    if skip == "missing":
        stored = project.baseline("lab", "test_mine")
        main(["baseline", "drop", str(stored), "--workload", "test_it.one"])
    asked = [f"--io-{skip}=skip"] if skip else []
    project.run(*few, "--io-inconclusive=skip", *asked).assert_outcomes(skipped=1)
    refused(project.run(*few, *asked, factor=0.5), "regressed: read.iops", "test_it.two", status=1)


def test_what_is_skipped_keeps_nothing_else_from_being_measured(project):
    text = (
        "def test_it(measure, gate):\n"
        f"    gate.check(measure({FAKE}, name='new'))\n"
        f"    gate.check(measure({FAKE}, {LOOSE}, name='old'))\n"
    )
    file = module(project, text)
    project.run(file, "--update-baselines")
    main(["baseline", "drop", str(project.baseline(suite="test_mine")), "--workload", "test_it.new"])
    project.run(file, "--io-missing=skip", "--io-json=out.json").assert_outcomes(skipped=1)
    assert [item["verdict"] for item in workloads(project)] == ["no_baseline", "pass"]
    refused(project.run(file, "--io-missing=skip", factor=0.5), "regressed: read.iops", status=1)


FORGETFUL = {
    "in a fixture": f"""
@pytest.fixture
def found(measure): return measure({FAKE}, {CLOSE})
def test_it(found): pass
""",
    "behind the test": f"""
@pytest.fixture
def late(measure):
    yield
    measure({FAKE}, {CLOSE})
def test_it(late): pass
""",
    "in unittest": f"""
class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _measure(self, measure): self.measure = measure
    def test_it(self): self.measure({FAKE}, {CLOSE})
""",
    "in a doctest": f"""
def it():
    '''
    >>> found = getfixture("measure")({FAKE}, {CLOSE})
    '''
""",
}


@pytest.mark.parametrize("text", FORGETFUL.values(), ids=FORGETFUL)
@pytest.mark.parametrize("more", [(), ("-p", "rerunfailures", "--reruns=1")], ids=["once", "again"])
def test_what_is_not_checked_is_wherever_it_was_measured(project, text, more):
    file = module(project, f"import pytest, unittest\n{text}")
    project.run(file, "--doctest-modules").assert_outcomes(passed=1)
    result = project.run_apart(*more, file, "--doctest-modules", "--io-json=out.json", factor=0.5)
    refused(result, "regressed: read.iops", status=1)
    (found,) = workloads(project)
    assert found["verdict"] == "regressed"


def test_a_fixture_that_measures_leaves_the_check_to_its_test(project):
    text = (
        "import pytest\n"
        f"@pytest.fixture\ndef found(measure): return measure({FAKE}, {CLOSE})\n"
        "def test_it(found, gate):\n"
        "    with pytest.raises(BaseException, match='regressed'): gate.check(found)\n"
    )
    file = module(project, text)
    project.run(file, "--update-baselines")
    project.run_apart(file, factor=0.5).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("before", "test", "behind", "outcome"),
    [
        ("assert not measured()", "pass", "pass", {"passed": 1, "errors": 1}),
        ("pass", "assert not measured()", "pass", {"passed": 1, "failed": 1}),
        ("pass", "pass", "assert not measured()", {"passed": 2, "errors": 1}),
    ],
    ids=["set-up", "call", "teardown"],
)
def test_what_failed_otherwise_fails_once_and_no_other_test(project, before, test, behind, outcome):
    """A second failure behind it, or in the next test, would mislead."""
    text = (
        "import pytest\n"
        "@pytest.fixture\n"
        "def measured(measure):\n"
        f"    return lambda: measure({FAKE}, {CLOSE})\n"
        "@pytest.fixture\n"
        f"def around(measured):\n    {before}\n    yield\n    {behind}\n"
        f"def test_it(around, measured):\n    {test}\n"
        "def test_next(): pass\n"
    )
    file = module(project, text)
    project.run(file)
    project.run_apart(file, factor=0.5).assert_outcomes(**outcome)


# ------------------------------------------------------------ a test that runs again


def test_a_rerun_does_not_measure_again_what_chose_its_own_length(project):
    """What is measured is then no longer what was declared."""
    file = module(
        project,
        f"def test_it(measure, gate): gate.check(measure({FAKE}, runtime='auto', {CLOSE}))\n",
    )
    first = project.run(file)
    first.assert_outcomes(passed=1)
    assert str(first.stdout).count("test_it pilot") == 1
    again = ("-p", "rerunfailures", "--reruns=2", "--io-json=out.json")
    result = project.run_apart(*again, file, factor=0.5)
    assert "1 failed, 2 rerun" in str(result.stdout), str(result.stdout)
    (found,) = workloads(project)
    assert found["verdict"] == "regressed"
    assert str(result.stdout).count("test_it 1/") == 1


def test_a_rerun_that_declares_something_else_is_refused(project):
    """One of several workloads would pass sooner or later."""
    text = (
        f"values = [500, 1000]\ndef test_it(measure, gate): gate.check(measure({FAKE}, value=values.pop()))\n"
    )
    file = module(project, text)
    project.run(file).assert_outcomes(passed=1)
    again = ("-p", "rerunfailures", "--reruns=1", "--io-json=out.json")
    result = project.run_apart(*again, file, factor=0.5)
    refused(result, "test_mine.py:2:1: test_it was another workload when this test ran before", status=1)
    assert [item["verdict"] for item in workloads(project)] == ["regressed"]


# ------------------------------------------------------------ what they are called


CLASSES = (
    "class TestSlow:\n"
    f"    def test_read(self, measure, gate): gate.check(measure({FAKE}, value=500, {LOOSE}))\n"
    "class TestFast:\n"
    f"    def test_read(self, measure, gate): gate.check(measure({FAKE}, value=900, {LOOSE}))\n"
    "    class TestInner:\n"
    f"        def test_read(self, measure, gate): gate.check(measure({FAKE}, name='small'))\n"
)


def test_tests_of_two_classes_have_a_baseline_each(project):
    file = module(project, CLASSES)
    project.run(file).assert_outcomes(passed=3)
    stored = project.baseline(suite="test_mine").read_text()
    names = ["TestSlow.test_read", "TestFast.test_read", "TestFast.TestInner.test_read.small"]
    assert all(f"\n  {name}:\n" in stored for name in names)
    project.run(file, "--io-json=out.json").assert_outcomes(passed=3)
    assert [item["workload"] for item in workloads(project)] == names
    figures = {item["workload"]: item["metrics"]["read.iops"]["baseline"] for item in workloads(project)}
    assert figures["TestSlow.test_read"] == pytest.approx(500, rel=0.02)


def test_modules_of_one_name_do_not_share_a_baseline(project):
    """One lies where the suites are, which are named from there."""
    text = f"def test_it(measure, gate): gate.check(measure({FAKE}))\n"
    module(project, text)
    module(project, text, name="suites/test_mine")
    result = project.run(
        "test_mine.py", "suites/test_mine.py", "--import-mode=importlib", "--io-json=out.json"
    )
    refused(result, "are both called 'test_mine', and would share a baseline", status=12)
    result.assert_outcomes(failed=2)
    assert not list(project.path.glob("baselines/*/*"))


def test_modules_of_one_name_that_measure_by_a_fixture_of_a_conftest_py(project):
    """Nothing in them says that they measure."""
    (project.path / "conftest.py").write_text(
        f"import pytest\n@pytest.fixture\ndef bench(measure): return lambda: measure({FAKE})\n"
    )
    for name in ("test_mine", "suites/test_mine"):
        module(project, "def test_it(bench): bench()\n", name=name)
    result = project.run(
        "test_mine.py", "suites/test_mine.py", "--import-mode=importlib", "--io-json=out.json"
    )
    refused(
        result, "test_mine.py:1:1: test_mine: test_it is also what suites/test_mine.py::test_it", status=1
    )
    assert len(workloads(project)) == 1


def test_a_mistake_is_told_at_the_line_of_the_test(project):
    text = "def test_it(measure):\n    measure(engine='fak')\n"
    result = project.run(module(project, text))
    refused(result, "unknown engine 'fak', did you mean 'fake'?", "test_mine.py:2: InputErrors", status=1)
    assert "run.py" not in str(result.stdout)


def test_a_fixture_of_suites_is_refused_in_words(project):
    result = project.run(module(project, "def test_it(measurement): pass\n"))
    result.assert_outcomes(errors=1)
    refused(result, "test_it is no workload of a suite", "by the fixture `measure`", status=1)
    assert "AttributeError" not in str(result.stdout)


# ------------------------------------------------------------ false alarms


SHARED = """
import pytest
from iogate.plugin.run import RUN
def pytest_runtest_teardown(item):
    with open("shared", "a") as file:
        file.write(f"{item.config.stash[RUN]._judges.options.metrics} ")
"""


def shared(project, *arguments):
    """Among how many metrics a false alarm was shared out, test after test."""
    file = project.path / "shared"
    file.unlink(missing_ok=True)
    project.run(*arguments)
    return [int(word) for word in file.read_text().split()]


def test_a_false_alarm_is_shared_out_among_all_tests_that_measure(project):
    """Each would else fail by chance as often as a whole session may."""
    project.conftest(SHARED)
    file = module(
        project,
        f"def test_one(measure, gate): gate.check(measure({FAKE}))\n"
        "def test_several(measure, gate):\n"
        f"    for name in ('a', 'b', 'c'): gate.check(measure({FAKE}, name=name))\n"
        "def test_leaves_it(measure): pass\n"
        "def test_plain(): pass\n",
    )
    assert shared(project, "suites", file) == [5, 5, 5, 7, 7, 7]  # of how many is not known yet
    assert shared(project, "suites", file) == [7] * 6
    assert shared(project, file, "-k", "one") == [1]


def test_a_false_alarm_is_shared_out_among_the_metrics_of_each(project):
    project.conftest(SHARED)
    gates = "gate=['read.iops', 'read.lat.mean']"
    text = "".join(f"def test_{name}(measure): measure({FAKE}, {gates})\n" for name in "abc")
    assert shared(project, module(project, text)) == [6, 6, 6]
