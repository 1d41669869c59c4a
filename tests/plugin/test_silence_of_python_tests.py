"""Tests in Python that measured once, and are left out of a run, or measure no more, in silence."""

import pytest

from projects import refused
from silence import last_failed, strictly_refused

MEASURES = """\
import pytest
def test_mine(measure): measure(engine="fake")
@pytest.mark.parametrize("value", [500, 600])
def test_each(measure, value): measure(engine="fake", value=value, name="it")
class TestOne:
    def test_asks(self, request): request.getfixturevalue("measure")(engine="fake")
def test_plain(): pass
"""


@pytest.fixture
def tested(lab):
    """A project with the baselines of tests in Python, too."""
    (lab.path / "test_disk.py").write_text(MEASURES)
    lab.run("test_disk.py", "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    return lab


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("test_mine", "test_yours", "test_mine"),
        ("def test_mine(measure): measure", "def test_mine(): dict", "test_mine"),
        ("[500, 600]", "[500]", "test_each[600].it"),
        ("class TestOne", "class TestTwo", "TestOne.test_asks"),
        (MEASURES, "", "test_mine, test_each[500].it, test_each[600].it, TestOne.test_asks"),
    ],
    ids=["renamed", "measures no more", "parameter", "class", "all"],
)
def test_a_baseline_that_no_test_in_python_measures(tested, old, new, lost):
    (tested.path / "test_disk.py").write_text(MEASURES.replace(old, new))
    words = f"test_disk.yaml: stored baselines that no test in Python measures: {lost}"
    strictly_refused(
        tested, words, arguments=(".", "--device=lab", "--io-missing=skip", "-k", "alpha or plain")
    )


RENAMED = "def test_asks", "def test_more(self): pass\n    def asks"


@pytest.mark.parametrize(
    ("change", "named", "lost"),
    [
        (("[500, 600]", "[500]"), ["test_disk.py::test_each"], "test_each[600].it"),
        (("[500, 600]", "[500]"), ["test_disk.py::test_each[500]", "test_disk.py"], "test_each[600].it"),
        (RENAMED, ["test_disk.py::TestOne"], "TestOne.test_asks"),
        (RENAMED, ["test_disk.py::TestOne", "."], "TestOne.test_asks"),
        (("mine(measure): measure", "mine(): dict"), ["test_disk.py::test_mine"], "test_mine"),
    ],
    ids=["parameter", "a file, too", "method", "a folder, too", "measures no more"],
)
def test_a_baseline_that_no_test_in_python_measures_of_what_is_named(tested, change, named, lost):
    """What pytest was told to collect is all of a class or test, although it is not the whole module."""
    (tested.path / "test_disk.py").write_text(MEASURES.replace(*change))
    words = f"test_disk.yaml: stored baselines that no test in Python measures: {lost}"
    strictly_refused(tested, words, arguments=(*named, "--device=lab", "--io-missing=skip"))


@pytest.mark.parametrize("named", ["rig.test_ssd", "rig.test_ssd::TestOne", "rig"])
def test_a_baseline_that_no_test_in_python_measures_of_a_module_named_with_dots(lab, named):
    package = lab.path / "rig"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "test_ssd.py").write_text(MEASURES)
    arguments = ("-o", "pythonpath=.", "--pyargs", named, "--device=lab")
    lab.run("rig", "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    assert lab.run(*arguments, "--io-strict").ret == 0
    (package / "test_ssd.py").write_text(MEASURES.replace(*RENAMED))
    words = "rig/test_ssd.yaml: stored baselines that no test in Python measures: TestOne.test_asks"
    strictly_refused(lab, words, arguments=(*arguments, "--io-missing=skip"))


@pytest.mark.parametrize(
    ("place", "inits", "shadow"),
    [("src/rig", ["src/rig/__init__.py"], "rig"), ("rig", [], None)],
    ids=["beside a folder of its name", "a namespace"],
)
def test_a_baseline_that_no_test_in_python_measures_of_a_package_as_python_imports_it(
    lab, place, inits, shadow
):
    package = lab.path / place
    package.mkdir(parents=True)
    for name in inits:
        (lab.path / name).touch()
    if shadow:
        (lab.path / shadow).mkdir()
    (package / "test_ssd.py").write_text(MEASURES)
    lab.run(place, "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    (package / "test_ssd.py").write_text(MEASURES.replace(*RENAMED))
    named = ("-o", "pythonpath=src .", "--pyargs", "rig", "-o", "consider_namespace_packages=true")
    words = f"{place}/test_ssd.yaml: stored baselines that no test in Python measures: TestOne.test_asks"
    strictly_refused(lab, words, arguments=(*named, "--device=lab", "--io-missing=skip"))


def test_a_suite_that_is_gone_is_missed_beside_a_file_of_its_name_that_has_no_tests(lab):
    """Any Python file of that name at the project's root stood for it."""
    (lab.path / "suites/demo.yaml").rename(lab.path / "suites/other.yaml")
    (lab.path / "demo.py").write_text("def append(log, entry): log.write(entry)\n")
    words = "demo.yaml: stored baselines of a suite that does not exist"
    strictly_refused(lab, words, arguments=("suites", "--device=lab", "--io-missing=skip"))


def test_a_baseline_that_no_test_in_python_measures_where_no_suite_is_asked_for(tested):
    """Such a run, as of a project without suites, told it with `--io-strict` alone."""
    (tested.path / "test_disk.py").write_text(MEASURES.replace("def test_mine(measure)", "def mine(measure)"))
    words = "test_disk.yaml: stored baselines that no test in Python measures: test_mine"
    strictly_refused(tested, words, arguments=("test_disk.py", "--device=lab"))
    (tested.path / "test_disk.py").write_text(MEASURES.replace("measure", "dict"))
    words = "test_disk.yaml: stored baselines that no test in Python measures: test_mine"
    strictly_refused(tested, words, arguments=("test_disk.py", "--device=lab", "-k", "plain"))


def test_a_baseline_that_no_test_in_python_measures_below_another_root(tested):
    """The ids of pytest do not tell then where a module lies."""
    (tested.path / "ci").mkdir()
    (tested.path / "ci/pytest.ini").write_text("[pytest]\n")
    (tested.path / "test_disk.py").write_text(
        MEASURES.replace("def test_mine(measure): measure", "def test_mine(): dict")
    )
    words = "test_disk.yaml: stored baselines that no test in Python measures: test_mine"
    for place in (".", "test_disk.py"):
        result = tested.run("-c", "ci/pytest.ini", place, "--device=lab", "--io-strict")
        refused(result, words)


@pytest.mark.parametrize("option", ["--lf", "--pyargs"])
def test_a_test_in_python_that_is_gone_where_nothing_failed_last_and_no_package_is_named(tested, option):
    """Then all of them run, as without these options."""
    (tested.path / "test_disk.py").write_text(MEASURES.replace("def test_mine(", "def check_mine("))
    result = tested.run("suites", "test_disk.py", option, "--device=lab", "--io-strict")
    refused(result, "stored baselines that no test in Python measures: test_mine", status=4)


@pytest.mark.parametrize(
    "failed", ["test_gone.py::test_a", "test_disk.py::test_mine", "other/test_a.py::test_a"]
)
def test_a_test_in_python_that_is_gone_where_what_failed_last_is_not_there(tested, failed):
    """The cache is that of another branch, or knows the test by the name that it had."""
    last_failed(tested, failed)
    (tested.path / "test_disk.py").write_text(MEASURES.replace("def test_mine(", "def check_mine("))
    result = tested.run("suites", "test_disk.py", "--lf", "--device=lab", "--io-strict")
    refused(result, "stored baselines that no test in Python measures: test_mine", status=4)


@pytest.mark.parametrize(
    "arguments",
    [
        (".",),
        (".", "-k", "plain"),
        (".", "--deselect=test_disk.py::test_mine"),
        ("test_disk.py::test_plain",),
        ("suites", "test_disk.py::test_mine"),
        (".", "--lf"),
        (".", "--collect-only"),
    ],
    ids=" ".join,
)
def test_a_part_of_the_tests_in_python_passes_strictly(tested, arguments):
    last_failed(tested, "test_disk.py::test_plain")
    assert tested.run(*arguments, "--device=lab", "--io-strict").ret == 0


@pytest.mark.parametrize(
    ("place", "options"),
    [("build/test_disk.py", []), ("disk.py", []), ("test_disk.py", ["-o", "python_files=check_*.py"])],
    ids=["folder", "file", "pattern"],
)
def test_tests_in_python_that_pytest_passes_over_for_a_name(lab, place, options):
    """It would not say that they are there."""
    module = lab.path / "checks" / place
    module.parent.mkdir(parents=True)
    module.write_text(MEASURES)
    lab.run(str(module), "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    words = (
        f"{module.stem}.yaml: stored baselines of tests that pytest passes over, for the name of their file"
    )
    strictly_refused(lab, words, arguments=("suites", "checks", "--device=lab", *options))
    for passes in (["suites"], ["suites", str(module)], ["suites", "checks", f"--ignore={module}"]):
        assert lab.run(*passes, "--device=lab", "--io-strict", *options).ret == 0


@pytest.mark.parametrize(
    "options",
    [["--ignore=checks/build"], ["--ignore-glob=*/build"], ["-o", "norecursedirs=build"]],
    ids=" ".join,
)
def test_tests_in_python_that_pytest_was_told_to_pass_over(lab, options):
    module = lab.path / "checks/build/test_disk.py"
    module.parent.mkdir(parents=True)
    module.write_text(MEASURES)
    lab.run(str(module), "--device=lab", "--update-baselines").assert_outcomes(passed=5)
    assert lab.run("suites", "checks", "--device=lab", "--io-strict", *options).ret == 0


@pytest.mark.parametrize(
    "hides",
    [
        "collect_ignore = ['{0}']",
        "collect_ignore_glob = ['*{1}']",
        "def pytest_ignore_collect(collection_path): return True if collection_path.name == '{1}' else None",
    ],
    ids=["collect_ignore", "collect_ignore_glob", "pytest_ignore_collect"],
)
@pytest.mark.parametrize(
    ("place", "lost"),
    [
        ("suites/demo.yaml", "demo"),
        ("suites/nightly", "nightly/more"),
        ("checks/test_disk.py", "checks/test_disk"),
        ("checks", "checks/test_disk"),
    ],
)
def test_what_a_conftest_leaves_out_before_it_is_collected(lab, hides, place, lost):
    """Often on a condition (`if "LAB" not in os.environ`); pytest says nothing of it."""
    (lab.path / "suites/nightly").mkdir()
    lab.suite("workloads: {gamma: {engine: fake}}\n", name="nightly/more")
    module = lab.path / "checks/test_disk.py"
    module.parent.mkdir()
    module.write_text(MEASURES)
    arguments = (".", "--device=lab")
    assert lab.run(*arguments, "--update-baselines").ret == 0
    (lab.path / "conftest.py").write_text(hides.format(place, place.rpartition("/")[2]))
    words = "that a conftest.py or a plugin leaves out without a word"
    strictly_refused(lab, f"baselines/lab/{lost}.yaml: stored baselines of ", words, arguments=arguments)
    assert lab.run(*arguments, "--io-strict", f"--ignore={place}").ret == 0


def test_a_script_called_as_a_suite_and_collecting_that_was_broken_off(tested):
    (tested.path / "demo.py").write_text("")
    assert tested.run(".", "--device=lab", "--io-strict").ret == 0
    (tested.path / "test_a.py").write_text("raise ValueError")
    result = tested.run("test_a.py", ".", "-x", "--device=lab", "--io-strict")
    assert "passes over" not in result.stderr.str()


@pytest.mark.parametrize(
    ("names", "lost"), [("a", "test_mine.b"), ("", "test_mine.a, test_mine.b")], ids=["one", "all"]
)
@pytest.mark.parametrize(
    "takes", ["(measure): get = lambda: measure", "(request): get = measure_of(request)"]
)
def test_a_test_in_python_that_passes_without_what_it_has_a_baseline_of(lab, names, lost, takes):
    """That is known when the test has ended: a strict run fails it."""
    text = "def measure_of(request): return lambda: request.getfixturevalue('measure')\n"
    text += f"def test_mine{takes}; [get()(engine='fake', name=name) for name in NAMES]\n"
    file = lab.path / "test_disk.py"
    file.write_text("NAMES = 'ab'\n" + text)
    lab.run("test_disk.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    file.write_text(f"NAMES = '{names}'\n" + text)
    words = (
        "baselines/lab/test_disk.yaml: stored baselines of what its test did not measure, or holds `against` "
        f"others: {lost}"
    )
    told = lab.run(".", "--device=lab")
    assert told.ret == 0 and f"warning: {words}" in " ".join(told.stdout.str().split())
    refused(lab.run(".", "--device=lab", "--io-strict"), words, status=1)


def test_a_test_in_python_that_no_longer_reads_its_baseline(lab):
    """A strict run was green at a loss of 20%."""
    file = lab.path / "test_disk.py"
    text = "def test_mine(measure, gate): gate.check(measure(engine='fake', value=1000{more}))\n"
    file.write_text(text.format(more=""))
    lab.run("test_disk.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    file.write_text(text.format(more=", against={'value': 900}"))
    words = "did not measure, or holds `against` others: test_mine"
    refused(lab.run("test_disk.py", "--device=lab", "--io-strict"), words, status=1)


TESTMON = """\
import types
def pytest_configure(config): config.testmon_config = types.SimpleNamespace(select={select})
def pytest_ignore_collect(collection_path): return collection_path.name in {names} or None
"""


def test_what_testmon_deselects_is_no_test_of_pytest(tested):
    """It only counts: a run that it leaves single tests out of ended with an internal error."""
    tested.conftest(
        TESTMON.format(select=True, names=[])
        + "import pytest\n@pytest.hookimpl(trylast=True)\n"
        + "def pytest_collection_modifyitems(config):\n"
        + "    config.hook.pytest_deselected(items=[types.SimpleNamespace(config=config)])\n"
    )
    assert tested.run("suites", "--device=lab").ret == 0


@pytest.mark.parametrize("option", ["--fixtures", "--fixtures-per-test"])
def test_a_run_that_only_shows_fixtures_lost_none(lab, option):
    (lab.path / "tests").mkdir()
    (lab.path / "tests/test_it.py").write_text("def test_it(measure): measure(engine='fake')\n")
    result = lab.run("tests", "--device=lab", "--io-strict", option)
    assert result.ret == 0 and "not run" not in result.stdout.str()


@pytest.mark.parametrize("names", [["demo.yaml"], ["test_disk.py"], []], ids=["suite", "module", "tests"])
def test_workloads_that_testmon_leaves_out_as_no_code_has_changed(tested, names):
    """It leaves out whole files, and tests in others, and says that all is well."""
    place = "test_disk.py" if names == ["test_disk.py"] else "suites"
    (tested.path / "test_plain.py").write_text("def test_plain(): pass\n")
    tested.conftest(TESTMON.format(select=True, names=names))
    strictly_refused(
        tested, "pytest-testmon leaves out what", arguments=(place, "test_plain.py", "--device=lab")
    )
    assert tested.run("test_plain.py", "--device=lab", "--io-strict").ret == 0
    tested.conftest(TESTMON.format(select=False, names=[]))
    assert tested.run("suites", "--device=lab", "--io-strict").ret == 0


IN_UNITTEST = """\
import pytest, unittest
class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _measure(self, measure):
        self.measure = measure
        yield
        {behind}
    def test_mine(self): {test}
"""


@pytest.mark.parametrize(
    ("test", "behind"),
    [
        ("self.measure(engine='fake')", ""),
        ("pass", "measure(engine='fake')"),
        ("self.skipTest('no disk')", ""),
        ("pytest.skip('no disk')", ""),
        ("assert False", ""),
    ],
)
def test_what_is_measured_behind_a_test_or_not_at_all_as_it_did_not_pass_is_not_missed(lab, test, behind):
    file = lab.path / "test_disk.py"
    file.write_text(IN_UNITTEST.format(test="self.measure(engine='fake')", behind=""))
    lab.run("test_disk.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    file.write_text(IN_UNITTEST.format(test=test, behind=behind))
    result = lab.run(".", "--device=lab", "--io-strict")
    assert "did not measure" not in result.stdout.str()
    assert (result.ret == 1) == ("False" in test)


def test_a_module_of_tests_that_skips_itself_passes_strictly(tested):
    (tested.path / "test_disk.py").write_text(
        "import pytest\npytest.importorskip('no_such_module')\n" + MEASURES
    )
    assert tested.run(".", "--device=lab", "--io-strict").ret == 0


@pytest.mark.parametrize("way", ["skipped", "taken out", "gone"])
def test_what_processes_of_xdist_alone_see_to_be_left_out_is_told_and_refused_strictly(tested, way):
    """They told nobody, and the run was green."""
    pytest.importorskip("xdist")
    module = tested.path / "test_disk.py"
    option, words = "--benchmark-disable", "stored baselines that no test in Python measures: test_mine"
    if way == "skipped":
        module.write_text(MEASURES.replace("test_mine(measure)", "test_mine(measure, benchmark)"))
        option, words = "--benchmark-skip", "skips what measures: test_disk.py::test_mine"
    elif way == "taken out":
        takes = "items[:] = [item for item in items if 'measure' not in item.fixturenames]"
        (tested.path / "conftest.py").write_text(f"def pytest_collection_modifyitems(items): {takes}\n")
        words = "test_disk.py::test_mine"
    else:
        module.write_text("def test_plain(): pass\n")
    result = tested.run_apart("test_disk.py", "-k", "mine or plain", "-n", "1", "--device=lab", option)
    told = " ".join(result.stdout.str().split())
    assert ("warning: " in told and words in told) == (way != "gone")
    result = tested.run_apart(
        "test_disk.py", "-k", "mine or plain", "-n", "1", "--device=lab", option, "--io-strict"
    )
    assert result.ret == 4
    assert words in " ".join(result.stdout.str().split())
