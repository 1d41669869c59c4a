"""The exit status tells why a run failed, and keeps what pytest's own mean."""

import os
import shutil
import subprocess
import sys

import pytest

from places import PLUGINS, ROOT

INCONCLUSIVE = "noise: 0.5, gate: {read.iops: 1%}"


def suite(**workloads):
    lines = [f"  {name}: {{{options}}}" for name, options in workloads.items()]
    return "\n".join(["defaults: {engine: fake}", "workloads:", *lines, ""])


@pytest.fixture
def known(project):
    """A project in which each failure can be had: regressed by a factor, and three others by name."""
    project.device("lab", "target: .\n")
    known = {"good": "value: 1000", "unsure": INCONCLUSIVE}
    project.suite(suite(**known))
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=2)
    project.suite(suite(**known, bad="says: garbage", new=""))
    project.run("suites", "--device=lab", "-k", "bad", "--update-baselines")
    return project


def status(project, *arguments, select="", factor=1.0):
    more = ["-k", select] if select else []
    return project.run(
        "suites", "--device=lab", "--io-max-repetitions=3", *more, *arguments, factor=factor
    ).ret


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("good", 0),
        ("unsure", 10),
        ("new", 11),
        ("unsure or good", 10),
        ("unsure or new", 11),
        ("nothing", pytest.ExitCode.NO_TESTS_COLLECTED),
    ],
)
def test_each_failure_has_its_status_and_the_worst_counts(known, select, expected):
    assert status(known, select=select) == expected


def test_what_cannot_be_trusted_is_worse_than_what_is_not_known(known):
    assert status(known, "--update-baselines", select="bad") == 12


def test_a_regression_is_worse_than_all(known):
    assert status(known, factor=0.5, select="good") == 1
    assert status(known, factor=0.5, select="good or new") == 1


def test_what_fails_otherwise_is_a_failure_as_ever(known):
    known.pytester.makepyfile(test_own="def test_own(): assert False")
    assert status(known, "test_own.py", select="new or own") == 1


def test_an_assertion_about_an_undecided_measurement_is_a_failure_as_ever(known):
    known.pytester.makepyfile(test_own="def test_own(measure): assert measure(engine='fake').verdict.passed")
    assert known.run("test_own.py", "--device=lab").ret == 1
    known.pytester.makepyfile(test_own="def test_own(measure, gate): gate.check(measure(engine='fake'))")
    assert known.run("test_own.py", "--device=lab").ret == 11


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests came with pytest 9")
@pytest.mark.parametrize(("factor", "expected"), [(1.0, 11), (0.5, 1)])
def test_a_verdict_within_a_subtest_has_its_status(known, factor, expected):
    """It was status 1 whatever the verdict, as the test around it went on."""
    test = "def test_own(measure, gate, subtests):\n"
    asks = "    with subtests.test(): gate.check(measure(engine='fake', name='{}', value=1000))\n"
    known.pytester.makepyfile(test_own=test + asks.format("known"))
    assert known.run("test_own.py", "--device=lab", "--update-baselines").ret == 0
    known.pytester.makepyfile(test_own=test + asks.format("known") + asks.format("fresh"))
    result = known.run("test_own.py", "--device=lab", factor=factor)
    assert result.ret == expected
    assert "went on" not in result.stdout.str()


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests came with pytest 9")
def test_a_test_of_which_a_subtest_regressed_failed_too(known):
    """It passed, as its own measurement had a word for that, and `--lf` left it out then."""
    asks = "    with subtests.test(): gate.check(measure(engine='fake'))\n"
    known.pytester.makepyfile(test_own=f"def test_own(measure, gate, subtests):\n{asks}")
    assert known.run("test_own.py", "--device=lab", "--update-baselines").ret == 0
    result = known.run("test_own.py", "--device=lab", factor=0.5)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED test_own.py::test_own - contains 1 failed subtest"])


@pytest.mark.skipif(not hasattr(pytest, "Subtests"), reason="subtests came with pytest 9")
@pytest.mark.parametrize(("others", "expected"), [("", 11), ("def test_own(): assert False\n", 1)])
def test_what_failed_before_it_ran_again_makes_up_for_no_other_failure(known, others, expected):
    """pytest-rerunfailures takes failed subtests that run again out of the count, as if one were another."""
    pytest.importorskip("pytest_rerunfailures")
    asks = "    with subtests.test(): gate.check(measure(engine='fake'))\n"
    known.pytester.makepyfile(test_own=f"def test_new(measure, gate, subtests):\n{asks}{others}")
    assert known.run("test_own.py", "--device=lab", "-p", "rerunfailures", "--reruns=1").ret == expected
    assert status(known, "test_own.py", factor=0.5, select="good or test_own") == 1


def test_what_is_skipped_or_expected_to_fail_is_no_failure(known):
    assert status(known, "--io-inconclusive=skip", select="unsure") == 0
    assert status(known, "--io-inconclusive=skip", select="unsure or new") == 11
    (known.path / "conftest.py").write_text(
        "import pytest\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        if item.name == 'new': item.add_marker(pytest.mark.xfail(strict=True))\n"
        "        if item.name == 'good': item.add_marker('xfail')\n"
    )
    assert status(known, select="new") == 0
    assert status(known, select="new or unsure") == 10


def test_the_first_failure_with_x_decides(known):
    assert status(known, "-x", select="new or unsure") in (10, 11)


def test_errors_of_the_run_keep_pytests_status(known):
    assert known.run("suites", "--device=unknown").ret == pytest.ExitCode.USAGE_ERROR
    (known.path / "suites/broken.yaml").write_text("workloads: [")
    assert known.run("suites", "--device=lab").ret == pytest.ExitCode.INTERRUPTED
    assert status(known, "--continue-on-collection-errors", select="new") == 1


def test_what_a_session_that_broke_off_did_not_decide_is_no_mere_doubt(known):
    """As --session-timeout ends it: a CI that allows 10 would let through what was never measured."""
    known.conftest("def pytest_runtest_teardown(item): item.session.shouldfail = 'time is over'\n")
    assert status(known, select="good or unsure") == 1
    assert status(known, select="unsure or bad") == 1
    assert status(known, select="good") == 1


FACTORS = ["1", "0.5", "0.5", "-1", "0.5", "0.5", "0.5"]
"""How fast the image of each commit is; what one of them does cannot be believed."""


def program(file, text):
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def test_bisect_finds_the_commit_that_made_it_slower(project, tmp_path, monkeypatch):
    project.device("lab-7", "target: .\n")
    project.suite(suite(good="value: 1000"))
    project.run("suites", "--device=lab-7", "--update-baselines").assert_outcomes(passed=1)
    image, programs = tmp_path / "image", tmp_path / "programs"
    image.mkdir(), programs.mkdir()
    (tmp_path / "gate").symlink_to(project.path)
    shutil.copy(ROOT / "docs/ci/bisect.sh", project.path)
    program(image / "build-and-flash", "cp factor ../gate")
    command = f"{sys.executable} -m pytest -p iogate.plugin"
    program(programs / "pytest", f'IOGATE_FAKE_FACTOR=$(cat factor) exec {command} "$@"')
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    engines = ROOT / "tests/plugin/engines"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(engines), str(PLUGINS)]))

    def git(*arguments):
        user = ("-c", "user.name=a", "-c", "user.email=a@b")
        done = subprocess.run(
            ["git", *user, *arguments], cwd=image, capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    git("init", "-q")
    for number, factor in enumerate(FACTORS):
        (image / "factor").write_text(factor + "\n" * (number + 1))
        git("add", ".")
        git("commit", "-qm", f"image {number}")
    git("bisect", "start", "HEAD", f"HEAD~{len(FACTORS) - 1}")
    told = git("bisect", "run", "../gate/bisect.sh")
    assert "image 3" in git("bisect", "log"), told
    assert "is the first bad commit" in told, told
    assert "    image 1" in told, told
