"""Fixtures of a conftest.py that hold for many tests: workloads are measured in what they make."""

import pytest

from projects import refused

FACTOR = """\
import os
import pytest

@pytest.fixture(scope="{scope}", autouse=True)
def power_mode():
    os.environ["IOGATE_FAKE_FACTOR"] = "0.5"
    print("power mode is low", flush=True)
    yield
    os.environ["IOGATE_FAKE_FACTOR"] = "1"
    print("power mode is high", flush=True)
"""


@pytest.fixture
def lab(project):
    """A project with a second suite, and baselines of both at full speed."""
    project.device("lab", "target: .\n")
    project.suite("workloads: {gamma: {engine: fake, value: 3000}}\n", "more")
    project.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=3)
    return project


@pytest.mark.parametrize(
    ("scope", "place", "failed"),
    [
        ("session", ".", 3),
        ("session", "suites", 3),
        ("package", "suites", 3),
        ("module", "suites", 3),
        ("function", "suites", 0),  # what is decided is measured by then
    ],
)
def test_workloads_are_measured_in_what_fixtures_of_many_tests_make(lab, scope, place, failed):
    (lab.path / place / "conftest.py").write_text(FACTOR.format(scope=scope))
    result = lab.run("suites", "--device=lab")
    result.assert_outcomes(failed=failed, passed=3 - failed)
    again = lab.run("suites", "--device=lab", "--update-baselines=force")
    again.assert_outcomes(passed=3)


def test_a_fixture_that_a_hook_gives_to_each_test_is_one_of_them(lab):
    text = FACTOR.format(scope="session").replace(", autouse=True", "")
    hook = "def pytest_itemcollected(item):\n    item.fixturenames.insert(0, 'power_mode')\n"
    (lab.path / "conftest.py").write_text(f"{text}\n{hook}")
    lab.run("suites", "--device=lab").assert_outcomes(failed=3)


@pytest.mark.parametrize(("scope", "failed"), [("session", 2), ("module", 1)])
@pytest.mark.parametrize("given", [".insert(0, 'power_mode')", " = ['power_mode', *item.fixturenames]"])
def test_or_to_one_which_others_then_do_not_have(lab, scope, failed, given):
    """All of its suite had it; and those that had it, and had it not, were measured by turns."""
    text = FACTOR.format(scope=scope).replace(", autouse=True", "")
    hook = f"def pytest_itemcollected(item):\n    if item.name == 'beta': item.fixturenames{given}\n"
    (lab.path / "conftest.py").write_text(f"{text}\n{hook}")
    result = lab.run("suites", "--device=lab", "-v")
    result.assert_outcomes(failed=failed, passed=3 - failed)  # what holds for the session holds from there on
    result.stdout.fnmatch_lines(["suites/*::alpha PASSED*", "suites/*::beta FAILED*"])


@pytest.mark.parametrize("scope", ["module", "function"])
def test_or_that_needs_one_of_many_tests(lab, scope):
    """What it needs was set up behind what is measured."""
    text = FACTOR.format(scope="session").replace(", autouse=True", "")
    needs = f"@pytest.fixture(scope={scope!r})\ndef on_card(power_mode): pass\n"
    hook = "def pytest_itemcollected(item):\n    item.fixturenames.insert(0, 'on_card')\n"
    (lab.path / "conftest.py").write_text(f"{text}\n{needs}\n{hook}")
    lab.run("suites", "--device=lab").assert_outcomes(failed=3)


@pytest.mark.parametrize("scope", ["module", "function"])
def test_one_that_a_folder_overrides_is_measured_in(lab, scope):
    (lab.path / "conftest.py").write_text(FACTOR.format(scope="session"))
    (lab.path / "suites/conftest.py").write_text(
        f"import pytest\n@pytest.fixture(scope={scope!r})\ndef power_mode(power_mode): yield power_mode\n"
    )
    lab.run("suites", "--device=lab").assert_outcomes(failed=3)
    (lab.path / "suites/conftest.py").write_text(
        f"import pytest\n@pytest.fixture(scope={scope!r})\ndef power_mode(): pass\n"
    )
    lab.run("suites", "--device=lab").assert_outcomes(passed=3)


def test_what_holds_for_a_suite_holds_for_no_other(lab):
    (lab.path / "suites/conftest.py").write_text(
        FACTOR.format(scope="module")
        .replace("def power_mode():", "def power_mode(request):\n    only = 'more' in request.node.name")
        .replace('] = "0.5"', '] = "0.5" if only else "1"')
    )
    result = lab.run("suites", "--device=lab", "-v")
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["suites/more.yaml::gamma FAILED*"])


@pytest.mark.parametrize(
    ("scope", "does", "outcomes"),
    [
        ("session", "pytest.skip('no card in the slot')", {"skipped": 3}),
        ("module", "pytest.skip('no card in the slot')", {"skipped": 3}),
        ("session", "raise OSError('no card in the slot')", {"errors": 3}),
        ("module", "pytest.fail('no card in the slot')", {"errors": 3}),
    ],
)
def test_where_a_fixture_fails_or_skips_nothing_is_measured(lab, scope, does, outcomes):
    (lab.path / "conftest.py").write_text(
        f"import pytest\n@pytest.fixture(scope={scope!r}, autouse=True)\ndef card(): {does}\n"
    )
    result = lab.run("suites", "--device=lab", "-rs")
    result.assert_outcomes(**outcomes)
    assert "no card in the slot" in result.stdout.str()
    assert "1/12" not in result.stdout.str()


def test_what_failed_ahead_is_told_where_a_plugin_skips_tests_as_it_has_failed(lab):
    """labgrid's does, where a board does not boot: the first test is its error, and was skipped, too."""
    (lab.path / "conftest.py").write_text(
        """\
import pytest
broken = False
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if broken: pytest.skip("the board is broken")
@pytest.fixture(scope="session", autouse=True)
def board():
    global broken
    broken = True
    raise OSError("no prompt was seen")
"""
    )
    result = lab.run("suites", "--device=lab")
    result.assert_outcomes(errors=1, skipped=2)
    assert "OSError: no prompt was seen" in result.stdout.str()
    (lab.path / "test_plain.py").write_text("import pytest\n@pytest.mark.skip\ndef test_plain(): pass\n")
    lab.run("test_plain.py", "suites", "--device=lab").assert_outcomes(errors=1, skipped=3)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("@pytest.fixture(autouse=True)\ndef card(): pytest.skip('no card')", "errors"),
        ("@pytest.fixture(autouse=True)\ndef card(): raise unittest.SkipTest('no card')", "errors"),
        ("def pytest_runtest_setup(item): pytest.skip('no card')", "errors"),
        ("def pytest_runtest_call(item): pytest.skip('no card')", "failed"),
    ],
)
def test_what_regressed_and_is_skipped_then_is_told_and_fails_a_strict_run(lab, text, failure):
    (lab.path / "conftest.py").write_text(f"import pytest, unittest\n{text}\n")
    result = lab.run("suites", "--device=lab", factor=0.5)
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(
        ["warning: suites/demo.yaml::alpha: regressed, and its test was skipped once*"]
    )
    lab.run("suites", "--device=lab", "--io-strict", factor=0.5).assert_outcomes(**{failure: 3})
    lab.run("suites", "--device=lab", "--io-strict").assert_outcomes(skipped=3)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("@pytest.fixture(autouse=True)\ndef card(): pytest.skip('no card')", "skipped"),
        ("@pytest.fixture(autouse=True)\ndef card(): assert 0", "errors"),
        ("def pytest_runtest_setup(item): pytest.skip('no card')", "skipped"),
    ],
)
def test_nothing_becomes_a_baseline_of_a_test_whose_set_up_fails_or_skips_it(lab, text, outcome):
    before = [path.read_text() for path in sorted((lab.path / "baselines/lab").iterdir())]
    (lab.path / "conftest.py").write_text(f"import pytest\n{text}\n")
    for update in ("--update-baselines", "--update-baselines=append"):
        result = lab.run("suites", "--device=lab", update)
        result.assert_outcomes(**{outcome: 3})
        result.stdout.fnmatch_lines(
            ["not kept as a baseline, as the set-up of their tests*: alpha, beta, gamma"]
        )
        assert "3 invalid" in result.stdout.str() and "recorded" not in result.stdout.str()
    assert [path.read_text() for path in sorted((lab.path / "baselines/lab").iterdir())] == before


def test_a_link_that_leads_elsewhere_for_the_test_makes_its_workload_invalid(project):
    for slot in "ab":
        (project.path / slot).mkdir()
    (project.path / "slot").symlink_to("a")
    project.device("lab", "target: slot\nmissing: record\n")
    project.suite("workloads: {read: {engine: fio, rw: read, bs: 4k, size: 64k}}\n")
    (project.path / "conftest.py").write_text(
        "import os, pytest\n@pytest.fixture(autouse=True)\ndef other():\n"
        "    os.unlink('slot'); os.symlink('b', 'slot')\n"
    )
    result = project.run("suites", "--device=lab")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*was mounted, unmounted or replaced since it was measured*"])
    assert not (project.path / "baselines/lab/demo.yaml").exists()
    (project.path / "conftest.py").unlink()
    project.run("suites", "--device=lab").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("does", "outcomes"), [("pytest.skip('no card')", {"skipped": 3}), ("assert 0, 'no card'", {"errors": 3})]
)
def test_one_that_a_hook_gives_behind_all_others_and_fails_is_waited_for(lab, does, outcomes):
    (lab.path / "conftest.py").write_text(
        f"import pytest\n@pytest.fixture(scope='session')\ndef card(): {does}\n"
        "def pytest_itemcollected(item): item.fixturenames.append('card')\n"
    )
    result = lab.run("suites", "--device=lab", "--update-baselines", "-rs")
    result.assert_outcomes(**outcomes)
    assert "no card" in result.stdout.str() and "1/5" not in result.stdout.str()


def test_a_fixture_that_asks_for_the_file_of_a_module_is_told_the_suite(lab):
    (lab.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(autouse=True)\ndef place(request):\n"
        "    assert request.module.__file__ == str(request.path)\n"
    )
    lab.run("suites", "--device=lab").assert_outcomes(passed=3)


def test_a_fixture_is_set_up_once_and_undone_behind_the_last_test(lab):
    (lab.path / "conftest.py").write_text(
        """\
import pytest
@pytest.fixture(scope="session", autouse=True)
def card():
    with open("log", "a", buffering=1) as log:
        log.write("mounted\\n")
        yield
        log.write("unmounted")
@pytest.fixture(scope="session", autouse=True)
def on_card(card): pass
"""
    )
    (lab.path / "test_plain.py").write_text(
        "import pathlib\ndef test_plain(): assert pathlib.Path('log').read_text() == 'mounted\\n'\n"
    )
    lab.run("suites", "test_plain.py", "--device=lab", "-s").assert_outcomes(passed=4)
    assert (lab.path / "log").read_text() == "mounted\nunmounted"


def test_a_plan_and_what_only_collects_set_up_nothing(lab):
    (lab.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(scope='session', autouse=True)\ndef card(): assert 0\n"
    )
    for option in ("--io-plan", "--collect-only"):
        assert lab.run("suites", "--device=lab", option).ret == 0


def test_who_ends_the_run_in_a_fixture_ends_it(lab):
    (lab.path / "conftest.py").write_text(
        "import pytest\n@pytest.fixture(scope='session', autouse=True)\n"
        "def card(): pytest.exit('no card', 7)\n"
    )
    result = lab.run("suites", "--device=lab")
    refused(result, "no card", status=7)


MODE = """\
import os, pytest
@pytest.fixture(scope="session", autouse=True)
def mode_{name}(): os.environ["IOGATE_FAKE_FACTOR"] = "{factor}"
"""


def test_what_some_suites_have_for_the_session_is_there_from_the_first_of_them_on(lab):
    """As pytest has it."""
    for name, factor in (("demo", 1), ("more", 0.5)):
        (lab.path / f"suites/{name}").mkdir()
        (lab.path / f"suites/{name}.yaml").rename(lab.path / f"suites/{name}/{name}.yaml")
        (lab.path / f"suites/{name}/conftest.py").write_text(MODE.format(name=name, factor=factor))
    lab.run("suites", "--device=lab", "--update-baselines").assert_outcomes(passed=3)
    lab.run("suites/demo", "--device=lab").assert_outcomes(passed=2)
    lab.run("suites/more", "--device=lab").assert_outcomes(passed=1)
    lab.run("suites/more", "suites/demo", "--device=lab").assert_outcomes(passed=3)


def test_they_are_set_up_in_the_order_of_pytest_and_with_what_they_need(lab):
    (lab.path / "suites/conftest.py").write_text(
        """\
import os, pytest
@pytest.fixture(scope="session")
def board(): os.environ["IOGATE_FAKE_FACTOR"] = "0.5"
@pytest.fixture(scope="module", autouse=True)
def a_module(): assert os.environ["DONE"] == "package"
@pytest.fixture(scope="package", autouse=True)
def z_package(): os.environ["DONE"] = "package"
@pytest.fixture(autouse=True)
def each(board): pass
"""
    )
    lab.run("suites", "--device=lab").assert_outcomes(failed=3)


@pytest.mark.parametrize("does", ["sys.exit(3)", "raise asyncio.CancelledError"])
def test_what_ends_a_fixture_otherwise_is_an_error_of_its_tests(lab, does):
    (lab.path / "conftest.py").write_text(
        "import asyncio, sys, pytest\n@pytest.fixture(scope='session', autouse=True)\n"
        f"def card():\n    {does}\n"
    )
    result = lab.run("suites", "--device=lab")
    result.assert_outcomes(errors=3)
    assert result.ret == 1


def test_a_fixture_that_hangs_is_ended_by_the_limit_of_pytest_timeout(lab):
    pytest.importorskip("pytest_timeout")
    (lab.path / "conftest.py").write_text(
        "import time, pytest\n@pytest.fixture(scope='session', autouse=True)\ndef card(): time.sleep(100)\n"
    )
    result = lab.run_apart("suites", "--device=lab", "--timeout=1")
    result.assert_outcomes(errors=3)
    assert "Timeout" in result.stdout.str()


@pytest.mark.parametrize("asks", ["measure, card): ", "measure, request): request.getfixturevalue('card'); "])
def test_the_target_is_let_go_of_before_a_fixture_of_tests_in_python_is_undone(lab, asks):
    (lab.path / "conftest.py").write_text(
        """\
import os, pytest
@pytest.fixture(scope="session")
def card():
    yield
    links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    held = [os.readlink(link) for link in links if os.path.exists(link)]
    assert os.getcwd() not in held, held
"""
    )
    (lab.path / "test_disk.py").write_text(
        "def test_first(measure): measure(rw='read', bs='4k', size='64k', engine='fio')\n"
        f"def test_disk({asks}measure(rw='read', bs='4k', size='64k', engine='fio')\n"
    )
    result = lab.run("suites", "test_disk.py", "--device=lab", "--io-missing=record")
    result.assert_outcomes(passed=5)
