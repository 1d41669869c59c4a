"""What hooks of a conftest.py, or of a plugin, take out of a run, or report otherwise, in silence."""

import pytest

from silence import strictly_refused

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
