"""What a run would leave out, or make up, in silence: warnings in its summary, errors with --io-strict."""

import json
import os
import shutil

import pytest

from projects import refused

LAB = "target: .\n"


@pytest.fixture
def lab(project):
    """A project with the baseline of a device."""
    project.device("lab", LAB)
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=2)
    return project


def strictly_refused(project, *words, arguments=("suites", "--device=lab")):
    """The run warns of this without --io-strict, and is refused with it."""
    warned = project.run(*arguments)
    assert warned.ret == 0
    text = " ".join(warned.stdout.str().split())
    assert "warning: " in text
    for word in words:
        assert word in text
    result = project.run(*arguments, "--io-strict")
    refused(result, "--io-strict refuses this run", *words, status=4)
    assert "runs" not in result.stdout.str()


def test_nothing_to_complain_of_passes_strictly_and_warns_of_nothing(lab):
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)
    assert "warning" not in lab.run("suites", "--device=lab").stdout.str()


def test_a_device_that_is_not_named(project):
    project.run("suites")
    strictly_refused(project, "no --device is named", arguments=["suites"])
    refused(project.run("suites", "-o", "io_strict=true"), "no --device is named", status=4)
    project.run("suites", "--device=local", "--io-strict").assert_outcomes(passed=2)


def test_no_folder_of_baselines(project):
    refused(
        project.run("suites", "--device=local", "--io-strict"), "there is no folder", "baselines", status=4
    )
    assert not project.baseline().parent.exists()


def test_a_suite_of_the_profile_that_does_not_exist(lab):
    lab.device("lab", LAB + "suites: [demo, lost]\n")
    strictly_refused(lab, "the profile of lab lists suites that do not exist: lost")


def test_a_suite_that_is_a_link_into_what_is_not_there(lab):
    """As into a submodule that the job did not check out; that it has a baseline is told, too."""
    (lab.path / "shared").mkdir()
    shutil.move(lab.path / "suites/demo.yaml", lab.path / "shared/other.yaml")
    (lab.path / "suites/other.yaml").symlink_to("../shared/other.yaml")
    lab.suite("workloads: {alpha: {engine: fake}, beta: {engine: fake}}\n")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    shutil.rmtree(lab.path / "shared")
    told = "suites/other.yaml is a link that leads nowhere", "git submodule update --init"
    strictly_refused(lab, *told, "other.yaml: stored baselines of a suite that does not exist")
    (lab.path / "baselines/lab/other.yaml").unlink()
    strictly_refused(lab, *told)


def test_options_of_the_profile_for_a_suite_that_does_not_exist(lab):
    lab.device("lab", LAB + "overrides: {deom: {size: 8M}}\n")
    strictly_refused(lab, "the profile of lab overrides options of suites that do not exist: deom")


def test_a_suite_of_the_profile_that_was_not_asked_for_exists(lab):
    lab.suite("workloads:\n  gamma: {engine: fake}\n", name="other")
    lab.device("lab", LAB + "suites: [demo, other]\n")
    lab.run("suites/demo.yaml", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_stored_baseline_without_its_workload(lab):
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n")
    strictly_refused(lab, "demo.yaml: stored baselines whose workloads the suite does not declare: beta")


def test_a_stored_baseline_whose_name_ends_otherwise(lab):
    lab.baseline("lab").rename(lab.baseline("lab").with_suffix(".yml"))
    told = "demo.yml: nothing reads it, as baselines end in .yaml: rename it to demo.yaml"
    strictly_refused(lab, told, arguments=("suites", "--device=lab", "--io-missing=skip"))


def test_a_stored_baseline_that_is_not_read(lab):
    """By a line in the suite nothing was held against it any more, without a word."""
    alpha = "  alpha: {value: 1000, against: {value: 900}}\n"
    lab.suite(f"defaults: {{engine: fake}}\nworkloads:\n{alpha}  beta: {{value: 2000}}\n")
    strictly_refused(lab, "demo.yaml: stored baselines that `against` leaves unread: alpha")


def test_a_workload_that_was_not_asked_for_is_declared(lab):
    lab.run("suites", "-k", "alpha", "--device=lab", "--io-strict").assert_outcomes(passed=1, deselected=1)
    lab.run("suites/demo.yaml::beta", "--device=lab", "--io-strict").assert_outcomes(passed=1)


def test_a_stored_baseline_without_its_suite(lab):
    text = lab.baseline("lab").read_text().replace("suite: demo", "suite: old")
    lab.baseline("lab", "old").write_text(text)
    words = "old.yaml: stored baselines of a suite that does not exist"
    strictly_refused(lab, words)
    lab.pytester.makepyfile(old="def alpha(log): 'what we measure here'")  # and no beta
    strictly_refused(lab, words)
    lab.pytester.makepyfile(old="import unittest\nclass alpha(unittest.TestCase): pass\ndef beta(): pass")
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_module_whose_tests_measure_by_a_fixture_is_no_suite_that_is_gone(lab):
    """Its file has no word of measuring, and is named by another job alone."""
    text = lab.baseline("lab").read_text().replace("suite: demo", "suite: bench/disk")
    (lab.path / "bench").mkdir()
    (lab.path / "bench/disk.py").write_text("def test_it(disk): pass\n")
    lab.baseline("lab", "bench/disk").parent.mkdir()
    lab.baseline("lab", "bench/disk").write_text(text.replace("alpha", "test_it").replace("beta", "test_of"))
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=2)


def test_a_suite_of_the_same_name_in_another_folder_is_another(lab):
    text = lab.baseline("lab").read_text()
    lab.baseline("lab", "nightly/demo").parent.mkdir()
    lab.baseline("lab", "nightly/demo").write_text(text.replace("suite: demo", "suite: nightly/demo"))
    strictly_refused(lab, "nightly/demo.yaml: stored baselines of a suite that does not exist")


def test_a_module_of_that_name_somewhere_is_no_test_module(lab):
    """An environment of Python in the project has modules of many names."""
    lab.baseline("lab", "disk").write_text(
        lab.baseline("lab").read_text().replace("suite: demo", "suite: disk")
    )
    (lab.path / ".venv/lib").mkdir(parents=True)
    (lab.path / ".venv/lib/disk.py").touch()
    strictly_refused(lab, "disk.yaml: stored baselines of a suite that does not exist")


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["", "xdist"])
def test_suites_that_were_moved_away_are_missed_where_other_tests_run(lab, parallel):
    run = lab.run
    if parallel:
        pytest.importorskip("xdist")
        run = lab.run_apart
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    (lab.path / "suites").rename(lab.path / "perf")
    result = run(".", "--device=lab", "--io-strict", *parallel)
    refused(result, "demo.yaml: stored baselines of a suite that does not exist", status=4)
    if not parallel:
        assert "perf/demo.yaml looks like a suite and is none of" in str(result.stderr)
    lab.baseline("lab").unlink()
    result = run(".", "--device=lab", "--io-strict", *parallel)
    refused(result, "perf/demo.yaml looks like a suite and is none of", status=1 if parallel else 4)


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


def test_processes_of_xdist_tell_a_project_without_suites_nothing_whatever_its_files_are_called(pytester):
    """What cannot be sent, as a name in Latin 1, let them crash."""
    pytest.importorskip("xdist")
    pytester.makepyfile(test_plain="def test_plain(): pass")
    with open(os.fsencode(pytester.path) + b"/gr\xfcn.yaml", "w") as stream:
        stream.write("workloads:\n  - web\n")
    result = pytester.runpytest_subprocess("-p", "iogate.plugin", "-n", "1", ".")
    result.assert_outcomes(passed=1)
    assert "looks like a suite" not in result.stdout.str() and "node down" not in result.stdout.str()


def test_suites_that_are_all_left_out_are_missed(lab):
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    lab.device("lab", LAB + "suites: [acceptance]\n")
    words = "the profile of lab lists suites that do not exist: acceptance"
    assert f"warning: {words}" in lab.run(".", "--device=lab").stdout.str()
    refused(lab.run(".", "--device=lab", "--io-strict"), words, status=4)


def test_other_tests_of_a_strict_project_need_no_device(lab):
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    lab.run("test_plain.py", "--io-strict").assert_outcomes(passed=1)
    lab.run(".", "-k", "plain", "--io-strict").assert_outcomes(passed=1, deselected=2)
    lab.baseline("lab").write_text("workloads: [")
    lab.run(".", "-k", "plain", "--device=lab").assert_outcomes(passed=1, deselected=2)


def test_a_folder_of_suites_that_pytest_passes_over(lab):
    """Its norecursedirs has `build` and `dist` as long as nobody sets it."""
    (lab.path / "suites/build").mkdir()
    (lab.path / "suites/build/server.yaml").write_text("workloads: {compile: {engine: fake}}\n")
    words = "suites/build has suites, and pytest enters no folder of that name"
    strictly_refused(lab, words)
    told = lab.run("suites", "--device=lab")
    assert told.ret == 0 and f"warning: {words}" in " ".join(told.stdout.str().split())
    assert lab.run("suites", "--device=lab", "--io-strict", "--ignore=suites/build").ret == 0
    assert lab.run("suites", "--device=lab", "--io-strict", "-o", "norecursedirs=build").ret == 0
    lab.run("suites/build", "--device=lab", "--io-missing=skip", "--io-strict").assert_outcomes(skipped=1)


@pytest.mark.parametrize(
    ("mark", "place"), [("pyvenv.cfg", "suites"), ("conda-meta/history", "suites/nightly")]
)
def test_a_folder_of_suites_that_pytest_takes_for_a_virtual_environment(lab, mark, place):
    """An empty file of a pull request would have been enough to pass."""
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    lab.pytester.makepyfile(test_plain="def test_plain(): pass")
    (lab.path / place / mark).parent.mkdir(exist_ok=True)
    (lab.path / place / mark).touch()
    words = f"{place} has suites, and pytest takes it for a virtual environment, as {mark} lies there"
    strictly_refused(lab, words, arguments=(".", "--device=lab"))
    told = lab.run(".", "--device=lab", "--io-missing=skip")
    assert told.ret == 0 and f"warning: {words}" in " ".join(told.stdout.str().split())
    measured = lab.run(".", "--device=lab", "--io-strict", "--io-missing=skip", "--collect-in-virtualenv")
    measured.assert_outcomes(passed=3, skipped=1)


def test_links_hide_no_suites_that_pytest_takes_for_a_virtual_environment(lab):
    """Nor does a link that is called as a folder which pytest never enters, and leads to the project."""
    (lab.path / "shared").mkdir()
    (lab.path / "shared/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/common").symlink_to("../../shared")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=3)
    (lab.path / "suites/nightly/pyvenv.cfg").touch()
    strictly_refused(lab, "suites/nightly has suites, and pytest takes it for a virtual environment")
    (lab.path / "suites/nightly/pyvenv.cfg").unlink()
    (lab.path / "suites/nightly").rename(lab.path / "suites/.nightly")
    (lab.path / "baselines/lab/nightly").rename(lab.path / "baselines/lab/.nightly")
    (lab.path / "suites/__pycache__").symlink_to("..")
    strictly_refused(lab, "baselines/lab/.nightly/common/deep.yaml: stored baselines of a suite that pytest")


def test_iogate_in_a_virtual_environment_among_suites_brings_none(lab):
    place = lab.path / "suites/env/lib/python3.11/site-packages/iogate/suites"
    place.mkdir(parents=True)
    (place / "quick.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    (lab.path / "suites/env/pyvenv.cfg").touch()
    assert lab.run("suites", "--device=lab", "--io-strict").ret == 0


def test_suites_that_have_baselines_in_a_hidden_folder(lab):
    (lab.path / "suites/nightly").mkdir()
    (lab.path / "suites/nightly/deep.yaml").write_text("workloads: {deep: {engine: fake}}\n")
    lab.run("suites/nightly", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    (lab.path / "suites/nightly").rename(lab.path / "suites/.nightly")
    (lab.path / "baselines/lab/nightly").rename(lab.path / "baselines/lab/.nightly")
    words = "baselines/lab/.nightly/deep.yaml: stored baselines of a suite that pytest passes over"
    strictly_refused(lab, words)
    for wanted in (["--ignore=suites/.nightly"], ["-o", "norecursedirs=.*"], ["--deselect=suites/.nightly"]):
        status = lab.run("suites", "--device=lab", "--io-strict", *wanted).ret
        assert status == (4 if "--deselect" in wanted[0] else 0)
    assert lab.run("suites/demo.yaml", "--device=lab", "--io-strict").ret == 0


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


def last_failed(tested, test):
    """Let pytest's cache say that this test failed last."""
    cache = tested.path / ".pytest_cache/v/cache"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "lastfailed").write_text(json.dumps({test: True}))


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


def test_nothing_is_recorded_strictly(lab):
    lab.device("lab", LAB + "missing: record\n")
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n  beta: {}\n  new: {}\n")
    result = lab.run("suites", "--device=lab", "--io-strict", "-k", "new")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*no_baseline: lab has no baseline of this workload*"])
    assert "new:" not in lab.baseline("lab").read_text()
    for option in ("--update-baselines", "--update-baselines=append", "--io-missing=record"):
        refused(
            lab.run("suites", "--device=lab", "--io-strict", option), "--io-strict records nothing", status=4
        )


def test_what_was_recorded_unasked_is_told(lab):
    lab.device("lab", LAB + "missing: record\n")
    lab.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {}\n  beta: {value: 2000}\n  new: {}\n")
    result = lab.run("suites", "--device=lab")
    assert "warning: 1 workload had no baseline and was recorded" in result.stdout.str()


def test_strict_runs_judge_tests_in_python_too(project):
    project.pytester.makepyfile("def test_mine(measure, gate): gate.check(measure(engine='fake'))")
    module = next(project.path.glob("test_*.py")).name
    result = project.run(module, "--io-strict")
    result.assert_outcomes(failed=1)
    assert "no --device is named" in result.stdout.str()
    assert not project.baseline().parent.exists()


# ------------------------------------------------------------ what is left out


def test_suites_that_do_not_apply_are_named_with_the_reason(project):
    project.suite("workloads:\n  gamma: {engine: fake}\n  delta: {engine: fake}\n", name="other")
    project.device("local", "target: .\nsuites: [demo]\nmissing: record\n")
    for arguments in (["suites"], ["suites", "-q"]):
        text = " ".join(project.run(*arguments).stdout.str().split())
        why = "2 deselected by baselines/local/device.yaml, which does not list other (2); a suite whose file"
        assert text.count(why) == 1
    assert "deselected" not in project.run("suites/other.yaml").stdout.str()


def test_both_endings_of_yaml_are_suites(project):
    (project.path / "suites/more.yml").write_text("workloads:\n  gamma: {engine: fake}\n")
    project.run("suites").assert_outcomes(passed=3)
    project.run("suites/more.yml").assert_outcomes(passed=1)


def test_an_ending_in_capitals_is_told(lab):
    (lab.path / "suites/MORE.YAML").write_text("workloads:\n  gamma: {engine: fake}\n")
    words = "suites/MORE.YAML looks like a suite and is none of"
    assert words in str(lab.run("suites", "--device=lab").stdout)
    refused(lab.run("suites", "--device=lab", "--io-strict"), words, status=4)


def test_a_suite_elsewhere_is_told(project):
    project.run("suites")
    project.device("local", LAB)
    (project.path / "other").mkdir()
    (project.path / "other/mine.yaml").write_text("defaults: {}\nworkloads:\n  gamma: {engine: fake}\n")
    (project.path / "other/data.yaml").write_text("a: 1\n")
    words = "other/mine.yaml looks like a suite and is none of suites/**/*.yaml, suites/**/*.yml"
    refused(project.run("other/mine.yaml"), "warning: other/mine.yaml looks like a suite", status=4)
    strictly_refused(project, words, arguments=["suites", "other", "baselines", "--device=local"])


def test_projects_without_suites_hear_nothing(project):
    (project.path / "suites/demo.yaml").unlink()
    (project.path / "cluster.yaml").write_text("workloads:\n  - web\n")
    project.pytester.makepyfile("def test_plain(): pass")
    result = project.run(".")
    result.assert_outcomes(passed=1)
    assert "warning" not in result.stdout.str()


TAKES_OUT = """
def pytest_collection_modifyitems(config, items):
    out = [item for item in items if item.name in {names}]
    items[:] = [item for item in items if item not in out]
    {tells}
"""


@pytest.mark.parametrize("names, count", [({"alpha", "beta"}, "2 tests"), ({"beta"}, "1 test")])
def test_what_a_conftest_takes_out_of_a_run_without_a_word(lab, names, count):
    """As most snippets do that run what is slow at night only: pytest counts nothing of it."""
    (lab.path / "tests").mkdir()
    (lab.path / "tests/test_plain.py").write_text("def test_plain(): pass\n")
    arguments = ("suites", "tests", "--device=lab")
    (lab.path / "conftest.py").write_text(TAKES_OUT.format(names=names, tells=""))
    strictly_refused(lab, f"{count} that would measure", "suites/demo.yaml::beta", arguments=arguments)
    tells = "config.hook.pytest_deselected(items=out)"
    (lab.path / "conftest.py").write_text(TAKES_OUT.format(names=names, tells=tells))
    left = 3 - len(names)
    lab.run(*arguments, "--io-strict").assert_outcomes(passed=left, deselected=len(names))


def test_a_test_in_python_that_is_taken_out_without_a_word(lab):
    (lab.path / "test_it.py").write_text(
        "def test_it(measure): measure(engine='fake')\ndef test_plain(): pass\n"
    )
    (lab.path / "conftest.py").write_text(TAKES_OUT.format(names={"test_it"}, tells=""))
    strictly_refused(lab, "1 test that would measure was taken out", arguments=("test_it.py", "--device=lab"))
    (lab.path / "conftest.py").write_text(TAKES_OUT.format(names={"test_plain"}, tells=""))
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    lab.run("test_it.py", "--device=lab", "--io-strict").assert_outcomes(passed=1)


def test_a_workload_whose_test_a_hook_takes_away(lab):
    """As a quarantine does: it was measured, lost half of its speed, and the run was green."""
    (lab.path / "conftest.py").write_text(
        "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_protocol(item):\n"
        "    return True if item.name == 'alpha' else None\n"
    )
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(passed=1)
    told = lab.run("suites", "--device=lab", factor=0.5)
    text = " ".join(told.stdout.str().split())
    assert "warning: suites/demo.yaml::alpha: regressed, and a hook (pytest_runtest_protocol)" in text
    (lab.path / "suites/demo.yaml").write_text("workloads: {alpha: {engine: fake}}\n")
    (lab.path / "baselines/lab/demo.yaml").unlink()
    lab.run("suites", "--device=lab", "--update-baselines")
    failed = lab.run("suites", "--device=lab", "--io-strict", factor=0.5)
    assert failed.ret == 1
    failed.stdout.fnmatch_lines(
        ["ERROR: suites/demo.yaml::alpha: regressed, and a hook*did not run its test*"]
    )


LOSES = {
    "finish": """
def pytest_collection_finish(session):
    session.items[:] = [item for item in session.items if item.name not in {names}]
""",
    "report": """
@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    report.result = [each for each in report.result if each.name not in {names}]
    return report
""",
    "collection": """
@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    result = yield
    session.items[:] = [item for item in session.items if item.name not in {names}]
    return result
""",
    "loop": """
@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    session.items[:] = [item for item in session.items if item.name not in {names}]
""",
    "wrapped loop": """
@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session):
    session.items[:] = [item for item in session.items if item.name not in {names}]
    return (yield)
""",
    "items": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name not in {names}]
    return (yield)
""",
    "collected": """
taken = []
def pytest_itemcollected(item):
    if item.name in {names}:
        taken.append(item)
def pytest_collection_finish(session):
    for item in taken:
        session.items.remove(item)
""",
}


def losing(lab, loses, *names):
    """Let a conftest.py lose tests of these names, or whole suites. One that is come across amid collecting
    is called around those that were there before.
    """
    (lab.path / "tests/nested").mkdir(parents=True)
    (lab.path / "tests/test_plain.py").write_text("def test_plain(): pass\n")
    place = "tests/nested" if loses == "items" else "suites"
    (lab.path / place / "conftest.py").write_text("import pytest\n" + LOSES[loses].format(names=names))
    return "suites", "tests", "--device=lab"


@pytest.mark.parametrize("loses", LOSES)
def test_what_a_conftest_takes_out_before_or_behind_all_others(lab, loses):
    words = "1 test that would measure was taken out of this run", "suites/demo.yaml::beta"
    strictly_refused(lab, *words, arguments=losing(lab, loses, "beta"))


def test_a_suite_that_a_conftest_keeps_from_being_collected(lab):
    """Nothing else tells that it is there, as it has no baseline."""
    (lab.path / "baselines/lab/demo.yaml").unlink()
    lab.suite("workloads: {gamma: {engine: fake}}\n", name="other")
    lab.run("suites/other.yaml", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    words = "2 tests that would measure were taken out of this run", "suites/demo.yaml::beta"
    arguments = losing(lab, "report", "demo.yaml")
    strictly_refused(lab, *words, arguments=arguments)
    for passes in (["tests"], ["suites/other.yaml"], ["suites", "--ignore=suites/demo.yaml"]):
        assert lab.run(*passes, "--device=lab", "--io-strict").ret == 0


def test_a_suite_that_a_conftest_drops_is_not_said_to_be_passed_over_for_a_name(lab):
    (lab.path / "suites/conftest.py").write_text(
        "import pytest\n@pytest.hookimpl(wrapper=True)\ndef pytest_collect_file(file_path):\n"
        "    found = yield\n    return [] if file_path.name == 'demo.yaml' else found\n"
    )
    lab.suite("workloads: {gamma: {engine: fake}}\n", name="other")
    lab.run("suites/other.yaml", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    words = "stored baselines of a suite that a conftest.py or a plugin leaves out", "suites/demo.yaml::beta"
    strictly_refused(lab, *words)


@pytest.mark.parametrize("option", ["-k=not beta", "--deselect=suites/demo.yaml::beta"])
def test_what_a_conftest_takes_out_that_was_told_to_be_left_out_is_no_loss(lab, option):
    arguments = losing(lab, "finish", "beta")
    lab.run(*arguments, option, "--io-strict").assert_outcomes(passed=2, deselected=1)


@pytest.mark.parametrize("loses", ["finish", "collection", "loop", "items"])
def test_a_test_in_python_that_is_taken_out_before_or_behind_all_others(lab, loses):
    arguments = losing(lab, loses, "test_it")
    (lab.path / "tests/test_it.py").write_text(
        "def test_it(measure): measure(engine='fake')\ndef test_plain(): pass\n"
    )
    words = "1 test that would measure was taken out", "tests/test_it.py::test_it"
    strictly_refused(lab, *words, arguments=arguments)


NAMES_OTHERS = """
import pytest
{hook}
    config.args[:] = ["suites/demo.yaml::alpha", "tests"]
"""


@pytest.mark.parametrize(
    "hook",
    [
        "def pytest_configure(config):",
        "@pytest.hookimpl(tryfirst=True)\ndef pytest_collection(session):\n    config = session.config",
    ],
    ids=["configure", "collection"],
)
def test_what_a_conftest_takes_from_what_the_command_line_names(lab, hook):
    """It still says what is to be run where the command line names nothing, and may name more."""
    arguments = losing(lab, "finish", "nothing")
    (lab.path / "conftest.py").write_text(NAMES_OTHERS.format(hook=hook))
    words = "1 test that would measure was taken out of this run", "suites/demo.yaml::beta"
    strictly_refused(lab, *words, arguments=arguments)
    lab.run("--device=lab", "--io-strict").assert_outcomes(passed=2)
    (lab.path / "conftest.py").write_text("def pytest_configure(config):\n    config.args.append('suites')\n")
    lab.run("tests", "--device=lab", "--io-strict").assert_outcomes(passed=3)


@pytest.mark.parametrize("option", ["ignore", "ignore_glob"])
def test_what_a_conftest_has_ignored_as_if_the_command_line_said_so(lab, option):
    (lab.path / "conftest.py").write_text(
        f"def pytest_configure(config): config.option.{option} = ['suites/demo.yaml']\n"
    )
    lab.suite("workloads: {gamma: {engine: fake}}\n", name="other")
    lab.run("suites/other.yaml", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    strictly_refused(lab, "stored baselines of a suite that a conftest.py or a plugin leaves out")
    (lab.path / "conftest.py").unlink()
    said = f"--{option.replace('_', '-')}=suites/demo.yaml"
    lab.run("suites", said, "--device=lab", "--io-strict").assert_outcomes(passed=1)


SHARES = """
def pytest_addoption(parser):
    parser.addoption("--test-group-count", dest="test-group-count", type=int, default=2)
def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name != "beta"]
"""


def test_a_share_is_asked_for_of_a_plugin(lab):
    """pytest-test-groups tells nobody what is in the other groups; a conftest.py is to tell."""
    (lab.path / "pytest_test_groups.py").write_text(SHARES)
    (lab.path / "other_groups.py").write_text(SHARES)
    lab.pytester.syspathinsert()
    shared = lab.run("suites", "--device=lab", "--io-strict", "-p", "pytest_test_groups")
    shared.assert_outcomes(passed=1)
    words = "1 test that would measure was taken out of this run", "suites/demo.yaml::beta"
    strictly_refused(lab, *words, arguments=("suites", "--device=lab", "-p", "other_groups"))


ENDS_EARLY = {
    "loop": """
@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    for item in session.items:
        if item.name not in {names}:
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    return True
""",
    "exit": """
def pytest_runtest_teardown(item):
    pytest.exit("enough", returncode=0)
""",
    "set-up": """
from _pytest.reports import TestReport
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if item.name in {names}:
        report = TestReport(item.nodeid, item.location, {{}}, "passed", None, "setup")
        item.ihook.pytest_runtest_logreport(report=report)
        return True
def pytest_itemcollected(item):
    if item.name == "beta":
        item.add_marker(pytest.mark.skip)
""",
    "protocol": """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return True if item.name in {names} else None
def pytest_itemcollected(item):
    if item.name in {names} and item.name != "test_it":
        item.add_marker(pytest.mark.skip)
""",
}


@pytest.mark.parametrize("ends", ENDS_EARLY.values(), ids=ENDS_EARLY.keys())
@pytest.mark.parametrize("where", ["suites", "tests"])
def test_what_somebody_keeps_from_being_run_is_told_at_the_end(lab, ends, where):
    (lab.path / "tests").mkdir()
    (lab.path / "tests/test_it.py").write_text(
        "def test_first(measure): measure(engine='fake')\ndef test_it(measure): measure(engine='fake')\n"
    )
    lab.run("tests", "--device=lab", "--update-baselines").assert_outcomes(passed=2)
    (lab.path / "conftest.py").write_text("import pytest\n" + ends.format(names={"beta", "test_it"}))
    lost = {"suites": "suites/demo.yaml::beta", "tests": "tests/test_it.py::test_it"}[where]
    for option, status, head in (("-v", 0, "warning"), ("--io-strict", 1, "ERROR")):
        result = lab.run(where, "--device=lab", option)
        text = " ".join(result.stdout.str().split())
        assert result.ret == status
        assert f"{head}: 1 test that would measure was not run, though nothing ended the run" in text
        assert f"pytest.exit(returncode=0)): {lost}" in text


REPLACES = {
    "copy": """
def pytest_collection_modifyitems(items):
    items[:] = [
        type(item).from_parent(item.parent, name=item.name, callobj=item.obj)
        if item.name == "test_it" else item for item in items
    ]
""",
    "one each": """
def pytest_collection_modifyitems(items):
    items[:] = {item.nodeid: item for item in items}.values()
""",
}


@pytest.mark.parametrize("replaces", REPLACES.values(), ids=REPLACES.keys())
def test_a_test_that_a_copy_of_its_own_stands_for_is_not_lost(lab, replaces):
    (lab.path / "test_it.py").write_text("def test_it(measure): measure(engine='fake')\n")
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    (lab.path / "conftest.py").write_text(replaces)
    named = "suites", "suites/demo.yaml", "test_it.py", "test_it.py::test_it"
    for twice in ((), ("--keep-duplicates",)):
        result = lab.run(*named, *twice, "--device=lab", "--io-strict")
        assert result.ret == 0
        assert "would measure" not in result.stdout.str()


@pytest.mark.parametrize("named, count", [("demo", 2), ("zlink", 2), ("demo.yaml::beta", 1)])
@pytest.mark.parametrize("recorded", [True, False])
def test_a_suite_that_is_named_beside_a_link_to_it_stands_for_itself(lab, named, count, recorded):
    """pytest looks at both, and collects the one that is named."""
    (lab.path / "suites/zlink.yaml").symlink_to("demo.yaml")
    if recorded or named == "zlink":
        lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    path = f"suites/{named}" if "." in named else f"suites/{named}.yaml"
    lab.run(path, "--device=lab", "--io-strict").assert_outcomes(passed=count)


def test_a_link_to_a_suite_that_a_conftest_takes_out_is_told(lab):
    (lab.path / "suites/zlink.yaml").symlink_to("demo.yaml")
    words = "2 tests that would measure were taken out of this run", "suites/zlink.yaml::beta"
    strictly_refused(lab, *words, arguments=losing(lab, "report", "zlink.yaml"))


RENAMES = {
    "as it is made": """
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    report.nodeid = f"{item.name} in words"
    return report
""",
    "first of all": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item):
    report = yield
    report.nodeid = f"{item.name} in words"
    return report
""",
    "as it is told": """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    report.nodeid = "board 7: " + report.nodeid
""",
}


@pytest.mark.parametrize("renames", RENAMES.values(), ids=RENAMES.keys())
def test_a_test_whose_report_is_called_otherwise_was_run(lab, renames):
    """As a conftest.py does for the page of pytest-html."""
    (lab.path / "test_it.py").write_text("def test_it(measure): measure(engine='fake')\n")
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    (lab.path / "conftest.py").write_text("import pytest\n" + renames)
    arguments = ("suites", "test_it.py", "--device=lab")
    lab.run(*arguments, "--io-strict").assert_outcomes(passed=3)
    for option in ("-v", "--io-strict"):
        regressed = lab.run(*arguments, option, factor=0.5)
        assert regressed.ret == 1
        assert "not run" not in regressed.stdout.str()
    assert lab.run(*arguments, "--io-strict", "--io-budget=1ms").ret == 10


TURNS = """
import pytest
@pytest.hookimpl(wrapper=True{first})
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.outcome, report.longrepr = {outcome}
    return report
"""


SWALLOWS = {
    "in itself": """
    try:
        gate.check(found)
    except BaseException:
        pass
""",
    "in a thread": """
    import threading
    thread = threading.Thread(target=gate.check, args=(found,))
    thread.start()
    thread.join()
""",
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("swallows", SWALLOWS.values(), ids=SWALLOWS.keys())
def test_what_a_test_in_python_makes_of_a_verdict_is_known(lab, swallows):
    """It passed although its summary told of a regression, with `--io-strict`, too."""
    head = "def test_it(measure, gate):\n    found = measure(engine='fake', value=1000)"
    (lab.path / "test_it.py").write_text(head + swallows)
    quiet = "-Wignore::pytest.PytestUnhandledThreadExceptionWarning"
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    for option, status in (("-v", 0), ("--io-strict", 1)):
        assert lab.run("test_it.py", "--device=lab", option).ret == 0
        result = lab.run("test_it.py", "--device=lab", quiet, option, factor=0.5)
        assert result.ret == status
        result.stdout.fnmatch_lines(["*: 1 test failed by its verdict, and went on, or *"])


HIDES = {
    "its call": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except BaseException:
        pytest.skip("flaky")
""",
    "what was raised": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    if call.excinfo:
        call.excinfo = pytest.ExceptionInfo.from_exc_info(skipped())
    return (yield)
def skipped():
    import sys
    try:
        pytest.skip("flaky")
    except BaseException:
        return sys.exc_info()
""",
    "its report": """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    old = yield
    return pytest.TestReport(old.nodeid, old.location, old.keywords, "passed", None, old.when)
""",
}


@pytest.mark.parametrize("hides", HIDES.values(), ids=HIDES.keys())
def test_what_a_test_in_python_failed_by_is_known_whatever_is_made_of_it(lab, hides):
    """It was skipped, and the run green, with `--io-strict`, too."""
    (lab.path / "test_it.py").write_text("def test_it(measure): measure(engine='fake', value=1000)\n")
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    (lab.path / "conftest.py").write_text(f"import pytest\n{hides}")
    for option, status, head in (("-v", 0, "warning"), ("--io-strict", 1, "ERROR")):
        assert lab.run("test_it.py", "--device=lab", option).ret == 0
        result = lab.run("test_it.py", "--device=lab", option, factor=0.5)
        assert result.ret == status
        assert f"{head}: 1 test failed by its verdict, and" in " ".join(result.stdout.str().split())


PASSED, SKIPPED = '"passed", None', '"skipped", ("conftest.py", 1, "flaky")'


@pytest.mark.parametrize(
    ("first", "outcome"), [("", PASSED), (", tryfirst=True", PASSED), (", tryfirst=True", SKIPPED)]
)
def test_what_failed_and_somebody_reports_otherwise_is_told(lab, first, outcome):
    """Workloads were regressed in the table, and the run was green."""
    turns = TURNS.format(first=first, outcome=outcome)
    (lab.path / "conftest.py").write_text(turns)
    (lab.path / "test_it.py").write_text(
        "def test_it(measure, gate): gate.check(measure(engine='fake', value=1000))\n"
    )
    lab.run("test_it.py", "--device=lab", "--update-baselines").assert_outcomes(passed=1)
    for option, status, head in (("-v", 0, "warning"), ("--io-strict", 1, "ERROR")):
        result = lab.run("suites", "test_it.py", "--device=lab", option, factor=0.5)
        text = " ".join(result.stdout.str().split())
        assert result.ret == status
        told = "3 tests failed by their verdicts, and went on, or a conftest.py or a plugin"
        assert f"{head}: {told}" in text
    (lab.path / "conftest.py").write_text(turns + RENAMES["as it is told"])
    told = lab.run("suites", "--device=lab", factor=0.5).stdout.str()
    assert "pytest_runtest_makereport): suites/demo.yaml::alpha, suites" in " ".join(told.split())


@pytest.mark.parametrize(
    "arguments, status",
    [(("-x",), 1), (("--maxfail=1",), 1), (("--stepwise",), 2), (("--io-plan",), 0), (("--co",), 0)],
    ids=["x", "maxfail", "stepwise", "plan", "collected"],
)
def test_what_a_run_that_is_to_end_before_does_not_reach_is_not_lost(lab, arguments, status):
    ended = lab.run("suites", "--device=lab", "--io-strict", *arguments, factor=0.5)
    assert ended.ret == status
    assert "would measure" not in ended.stdout.str()


@pytest.mark.parametrize(
    "arguments, count",
    [
        (("suites/demo.yaml::alpha",), 1),
        (("suites/demo.yaml::m",), 2),
        (("suites/demo.yaml::m[value=1000]",), 1),
        (("suites/demo.yaml::m[value=1000]", "suites/demo.yaml::alpha"), 2),
        (("suites/demo.yaml::alpha", "suites"), 4),
        (("suites/demo.yaml",), 3),
        (("suites", "suites/demo.yaml", "--keep-duplicates"), 7),
        (("suites", "-k", "alpha"), 1),
        (("suites", "-m", "slow"), 2),
        (("suites", "--deselect=suites/demo.yaml::alpha"), 3),
        (("suites", "--ignore=suites/other.yaml"), 3),
        (("suites", "--lf"), 1),
        (("suites", "--ff"), 4),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_part_of_the_workloads_passes_strictly(lab, arguments, count):
    (lab.path / "baselines/lab/demo.yaml").unlink()
    lab.suite(
        "defaults: {engine: fake}\n"
        "workloads:\n  alpha: {}\n  m: {matrix: {value: [1000, 2000]}, markers: [slow]}\n"
    )
    lab.suite("defaults: {engine: fake}\nworkloads: {gamma: {}}\n", name="other")
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=4)
    last_failed(lab, "suites/demo.yaml::alpha")
    result = lab.run(*arguments, "--device=lab", "--io-strict")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] == count
