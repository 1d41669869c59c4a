"""Going on with a session that was cut off."""

import fcntl
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from iogate.errors import TargetError
from iogate.host import tools
from iogate.host.flock import lock
from iogate.judge.baseline import load_baselines
from iogate.plugin import resume as resuming_plugin
from iogate.plugin.keeping import Keeping
from iogate.report import origin, resuming
from iogate.report.results import Results
from iogate.report.session_folders import SessionFolder
from places import PLUGINS
from projects import refused

CUT = "import pytest\ndef pytest_runtest_teardown(): pytest.exit('enough', returncode=2)\n"
KILLED = "import os, signal\ndef pytest_runtest_teardown(): os.kill(os.getpid(), signal.SIGKILL)\n"


def sessions(project):
    found = (project.path / ".iogate/results").glob("*/results.json")
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)


def verdicts(path):
    return {item["workload"]: item["verdict"] for item in json.loads(path.read_text())["workloads"]}


def cut_off(project):
    """Run a first session that is ended when alpha is decided, and beta begun."""
    project.device("lab", "target: .\n")
    project.conftest(CUT)
    assert project.run("suites", "--device=lab", "--update-baselines").ret == 2
    (project.path / "conftest.py").unlink()
    return project


@pytest.fixture
def cut(project):
    """A project whose first session was cut off."""
    return cut_off(project)


def resume(project, *arguments):
    return project.run("suites", "--device=lab", "--update-baselines", "--io-resume", *arguments)


def test_what_was_decided_stays_decided_and_the_rest_is_measured(cut):
    (file,) = sessions(cut)
    (before,) = [item for item in json.loads(file.read_text())["workloads"] if item["workload"] == "alpha"]
    result = resume(cut)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"going on with session {file.parent.name}: 1 of 2 workloads are decided"])
    assert not any(line.startswith("demo: alpha") for line in result.outlines)
    assert [line for line in result.outlines if line.startswith("demo: beta")]
    assert sessions(cut) == [file]
    assert verdicts(file) == {"alpha": "recorded", "beta": "recorded"}
    assert json.loads(file.read_text())["workloads"][0] == before
    baseline = cut.baseline("lab").read_text()
    assert baseline.count("environment:") == 1
    assert "alpha:" in baseline and "beta:" in baseline


def test_the_next_job_may_have_another_place(cut, tmp_path_factory, monkeypatch):
    """The baselines of a checkout elsewhere were called others, which nobody had named."""
    elsewhere = tmp_path_factory.mktemp("job") / "checkout"
    shutil.copytree(cut.path, elsewhere)
    monkeypatch.chdir(elsewhere)
    result = cut.run(str(elsewhere / "suites"), "--device=lab", "--update-baselines", "--io-resume")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["going on with session *: 1 of 2 workloads are decided"])


def test_what_was_never_reported_is_left_to_do(project):
    """It has no baseline, and so is decided before anything is measured; -x ends the run before its turn."""
    project.device("lab", "target: .\n")
    first = "defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n"
    project.suite(first, "a")
    (project.path / "suites/demo.yaml").unlink()
    project.run("suites", "--device=lab", "--update-baselines")
    project.suite(first.replace("alpha", "beta"), "b")
    assert project.run("suites", "--device=lab", "-x", factor=0.5).ret == 1
    *_, file = sessions(project)
    assert verdicts(file) == {"alpha": "regressed"}
    assert json.loads(file.read_text())["run"]["open"] == ["suites/b.yaml::beta"]
    result = project.run("suites", "--device=lab", "--io-resume")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([f"going on with session {file.parent.name}: 1 of 2 workloads are decided"])
    assert verdicts(file) == {"alpha": "regressed", "beta": "no_baseline"}


def test_what_is_complete_is_measured_anew(cut):
    resume(cut).assert_outcomes(passed=2)
    result = resume(cut)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*--io-resume: session * was not cut off: all are measured anew*"])
    assert len(sessions(cut)) == 2


def test_there_need_be_nothing_to_go_on_with(project):
    result = project.run("suites", "--io-resume")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*--io-resume: no session of these workloads is kept: all are measured*"])


def test_a_session_that_calls_itself_otherwise_than_its_folder_leads_nowhere(cut):
    (file,) = sessions(cut)
    mine = cut.path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("kept")
    for name in ("../../mine", str(mine)):
        file.write_text(json.dumps({**json.loads(file.read_text()), "session": name}))
        result = resume(cut)
        result.assert_outcomes(passed=2)
        result.stdout.fnmatch_lines(["*no session of these workloads is kept*"])
        for other in set(sessions(cut)) - {file}:
            other.unlink()
    assert [path.name for path in mine.iterdir()] == ["precious"]


def test_a_link_is_no_session(cut):
    (file,) = sessions(cut)
    elsewhere = cut.path / "elsewhere" / file.parent.name
    elsewhere.parent.mkdir()
    file.parent.rename(elsewhere)
    file.parent.symlink_to(elsewhere)
    before = (elsewhere / "results.json").read_bytes()
    resume(cut).stdout.fnmatch_lines(["*no session of these workloads is kept*"])
    assert (elsewhere / "results.json").read_bytes() == before


def test_a_session_that_still_goes_on_is_left_alone(cut):
    """Another run of these workloads has decided some of them, and measures the others."""
    (file,) = sessions(cut)
    before = file.read_bytes()
    descriptor = os.open(file.parent, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # as that run has it
    try:
        result = resume(cut)
    finally:
        os.close(descriptor)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [f"--io-resume: session {file.parent.name} is still going on, in another run: all are measured anew"]
    )
    assert file.read_bytes() == before and len(sessions(cut)) == 2
    assert list(file.parent.glob("beta-*"))


def test_what_a_session_says_counts_from_when_its_folder_is_had(cut, monkeypatch):
    """The run that began it ends between our first look and our lock."""
    (file,) = sessions(cut)
    document = json.loads(file.read_text())
    document["run"] = {**document["run"], "open": [], "ended": True}

    class Ended(SessionFolder):
        def __init__(self, path):
            if path == file.parent:
                file.write_text(json.dumps(document))
            super().__init__(path)

    monkeypatch.setattr(resuming_plugin, "SessionFolder", Ended)
    resume(cut).stdout.fnmatch_lines(["*was not cut off: all are measured anew*"])
    assert json.loads(file.read_text()) == document and len(sessions(cut)) == 2


def test_a_run_has_its_session_until_all_is_written(project, monkeypatch):
    """It notes at its very end that it has ended: whoever had it before would go on with it."""
    held = []

    def report(self, original=Keeping.report):
        (file,) = (project.path / ".iogate/results").iterdir()
        descriptor = os.open(file, os.O_RDONLY)
        held.append(not lock(descriptor))
        os.close(descriptor)
        original(self)

    monkeypatch.setattr(Keeping, "report", report)
    project.run("suites", "--update-baselines")
    assert held and all(held)


def rewrite(file, **changes):
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def aged(file, monkeypatch):
    os.utime(file, (time.time() - 25 * 3600,) * 2)


def started_anew(file, monkeypatch):
    boot = file.parent.parent / "boot"
    boot.write_text("another\n")
    monkeypatch.setattr(origin, "_BOOT", boot)


def of_another_version(file, monkeypatch):
    rewrite(file, versions={"iogate": "0.0.1"})


def planted(file, monkeypatch):
    """As a pull request might bring it: all has passed."""
    document = json.loads(file.read_text())
    passed = [{**item, "verdict": "pass"} for item in document["workloads"]]
    rewrite(file, workloads=passed, run={**document["run"], "open": [], "ended": False})


def retouched(file, monkeypatch):
    """The verdict is as it was, and a figure that would be stored is not."""
    document = json.loads(file.read_text())
    [*_, figures] = document["workloads"][0]["measured"]
    name, value = next(iter(figures["metrics"].items()))
    figures["metrics"][name] = value * 2
    document["workloads"][0]["metrics"][name]["values"][-1] = value * 2
    file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (aged, "was cut off 25 h ago"),
        (started_anew, "was not written on this machine since it was started"),
        (of_another_version, "is of iogate 0.0.1, and this is *"),
        (planted, "was not written on this machine since it was started"),
        (retouched, "was not written on this machine since it was started"),
    ],
)
def test_a_session_of_other_days_or_machines_is_not_gone_on_with(cut, monkeypatch, change, why):
    (file,) = sessions(cut)
    change(file, monkeypatch)
    before = file.read_bytes()
    result = resume(cut)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"--io-resume: session {file.parent.name} {why}: all are measured anew"])
    assert [line for line in result.outlines if line.startswith("demo: alpha")]
    assert file.read_bytes() == before and len(sessions(cut)) == 2


def test_a_session_of_a_time_to_come_is_none(cut):
    (file,) = sessions(cut)
    file.parent.rename(file.parent.with_name("2999-01-01T00:00:00Z-abcd"))
    (file,) = sessions(cut)
    rewrite(file, session=file.parent.name)
    resume(cut).stdout.fnmatch_lines(["*no session of these workloads is kept*"])


def test_another_users_session_is_none(cut):
    if os.geteuid():
        pytest.skip("needs root")
    (file,) = sessions(cut)
    os.chown(file.parent, 12345, 12345)
    none = "--io-resume: no session of these workloads is kept"
    why = f"{none} (the newest, {file.parent.name}, is of another user): all are measured"
    resume(cut).stdout.fnmatch_lines([why])


def test_a_session_whose_results_were_cut_in_two_is_none(cut):
    (file,) = sessions(cut)
    file.write_text(file.read_text()[:-100])
    result = resume(cut)
    result.stdout.fnmatch_lines(
        [f"*is kept (the newest, {file.parent.name}, cannot be read: *results.json:*): all are measured"]
    )


def test_a_session_that_was_killed_before_its_first_verdict_is_none(cut):
    (file,) = sessions(cut)
    file.unlink()
    resume(cut).stdout.fnmatch_lines(
        [f"*is kept (the newest, {file.parent.name}, has no verdicts): all are measured"]
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_what_another_user_could_put_into_the_place_of_a_session_is_measured_anew(cut):
    (file,) = sessions(cut)
    os.chown(file.parent.parent, 12345, 12345)
    said = f"--io-resume: session {file.parent.name} lies where others could replace it: "
    result = resume(cut)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"{said}{file.parent.parent} belongs to user 12345: all are measured anew"])
    assert [line for line in result.outlines if line.startswith("demo: alpha")]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_what_is_opened_counts_and_not_what_was_there_a_moment_ago(cut, monkeypatch):
    """Another user puts a session of his own into the place of one of ours, once that was looked at."""
    (file,) = sessions(cut)

    def begun(results, original=resuming.begun_sessions):
        names = original(results)
        os.chown(file.parent, 12345, 12345)
        return names

    monkeypatch.setattr(resuming, "begun_sessions", begun)
    resume(cut).stdout.fnmatch_lines(["*no session of these workloads is kept*"])


def git(project, *arguments):
    """Run git in a project."""
    who = ("-c", "user.name=lab", "-c", "user.email=lab@example.org")
    subprocess.run(["git", "-C", project.path, *who, *arguments], check=True, capture_output=True)


def test_another_commit_is_another_session(project):
    git(project, "init")
    git(project, "commit", "--allow-empty", "-m", "first")
    cut_off(project)
    result = resume(project, "--io-plan")
    result.stdout.fnmatch_lines(["going on with session *"])
    git(project, "commit", "--allow-empty", "-m", "second")
    result = resume(project)
    result.stdout.fnmatch_lines(
        ["--io-resume: session * is of commit *, and this is *: all are measured anew"]
    )
    assert len(sessions(project)) == 2


@pytest.mark.parametrize("why", ["not installed", "of another user"])
def test_a_commit_that_git_does_not_tell_may_be_another_one(project, monkeypatch, why):
    """So it is in a small container, and in a checkout that the runner made and root tests."""

    def not_installed(name, package):
        raise TargetError(f"{name} is not installed", rule="tool")

    git(project, "init")
    git(project, "commit", "--allow-empty", "-m", "first")
    if why == "not installed":
        monkeypatch.setattr(tools, "find_tool", not_installed)
    else:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        for configuration in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):  # which may trust all of them
            monkeypatch.setenv(configuration, os.devnull)
    cut_off(project)
    result = resume(project)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["--io-resume: session * may be of another commit: git does not tell *: all are measured anew"]
    )


def test_a_checkout_without_a_commit_is_gone_on_with(project):
    git(project, "init")
    cut_off(project)
    resume(project).stdout.fnmatch_lines(["going on with session *"])


def test_what_was_held_against_a_former_baseline_is_measured_anew(cut):
    """A pass is one against the baseline of now: meanwhile somebody recorded a faster device."""
    resume(cut)
    cut.conftest(CUT)
    cut.run("suites", "--device=lab")
    (cut.path / "conftest.py").unlink()
    old = sessions(cut)[-1]
    cut.run("suites", "--device=lab", "--update-baselines", factor=1.5)
    for other in set(sessions(cut)) - {old}:
        other.unlink()
    result = cut.run("suites", "--device=lab", "--io-resume")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "going on with session *: 0 of 2 workloads are decided",
            "measured anew, as the baseline is another one by now: alpha",
            "regressed: read.iops is *",
        ]
    )


def test_another_selection_is_another_session(cut):
    result = resume(cut, "-k", "alpha")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["*is kept (the newest, *, was to decide about others): all are measured"])


def test_another_suite_that_pytest_calls_alike_is_another_session(project):
    """Below another root, ids begin at what was named on the command line."""
    declared = (project.path / "suites/demo.yaml").read_text()
    (project.path / "ci").mkdir()
    (project.path / "ci/pytest.ini").write_text("[pytest]\n")
    for folder in ("a", "b"):
        (project.path / "suites" / folder).mkdir()
        (project.path / "suites" / folder / "disk.yaml").write_text(declared)
    project.device("lab", "target: .\n")
    project.conftest(CUT)
    below = ("-c", "ci/pytest.ini", "--confcutdir=.", "--device=lab", "--update-baselines")
    assert project.run("suites/a", *below).ret == 2
    (project.path / "conftest.py").unlink()
    refused(project.run("suites/b", *below, "--io-resume"), "disk.yaml::alpha was declared otherwise")
    project.run("suites/a", *below, "--io-resume").assert_outcomes(passed=2)


def test_another_device_is_another_session(cut):
    cut.device("other", "target: .\n")
    result = cut.run("suites", "--device=other", "--update-baselines", "--io-resume")
    result.stdout.fnmatch_lines(["*is kept (the newest, *, is of device lab): all are measured"])


def test_another_board_of_a_pool_is_another_session(cut):
    """They share a profile: the job of the next board was refused, and had to be told by hand."""
    (file,) = sessions(cut)
    document = json.loads(file.read_text())
    document["run"]["options"]["--io-host"] = "ssh=board-1"
    seal(file, document)
    text = file.read_text()
    result = resume(cut)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*is kept (the newest, *, is of --io-host=ssh=board-1): all are measured"])
    assert len(sessions(cut)) == 2
    assert file.read_text() == text


def test_a_regression_that_was_decided_fails_again(cut):
    resume(cut)
    cut.conftest(CUT)
    cut.run("suites", "--device=lab", factor=0.5)
    (cut.path / "conftest.py").unlink()
    result = cut.run("suites", "--device=lab", "--io-resume")
    result.assert_outcomes(failed=1, passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*regressed: read.iops is *"])


def test_a_regression_that_was_decided_stays_so_where_the_target_is_refused_by_now(cut, monkeypatch):
    """As without the consent of then, or with another card: it was measured anew, invalid, and forgotten."""
    resume(cut)
    cut.conftest(CUT)
    cut.run("suites", "--device=lab", factor=0.5)
    (cut.path / "conftest.py").unlink()
    with monkeypatch.context() as patch:
        why = TargetError("the card is another one", rule="exchanged")
        patch.setattr("iogate.measure.sites.refusals", lambda *_, **__: [why])
        result = cut.run("suites", "--device=lab", "--io-resume")
    assert result.ret == 1
    assert verdicts(sessions(cut)[-1]) == {"alpha": "regressed", "beta": "invalid"}


def seal(file, document):
    """Keep a document as if a run on this machine had written it."""
    file.write_text(origin.sealed(Results.parse(json.dumps(document).encode(), "")).text())


def test_other_declarations_options_or_machines_are_refused(cut):
    (file,) = sessions(cut)
    text, words = file.read_text(), f"cannot go on with session {file.parent.name}"
    refused(resume(cut, "--io-tolerance=7%"), words, "the gate's options", status=4)
    other = cut.run("suites", "--device=lab", "--update-baselines=append", "--io-resume")
    refused(other, words, "--update-baselines was replace, is append", status=4)
    document = json.loads(text)
    document["environment"]["subject"]["kernel"] = "another"
    seal(file, document)
    refused(resume(cut), words, "kernel was another, is ", status=4)
    document = json.loads(text)
    document["environment"]["boot"] = "another"
    seal(file, document)
    refused(resume(cut), words, "the device was started anew since", status=4)
    file.write_text(text)
    cut.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n  beta: {value: 2001}\n")
    refused(
        resume(cut), words, "suites/demo.yaml::beta was declared otherwise", "leave out --io-resume", status=4
    )
    assert file.read_text() == text


def test_raw_files_of_what_was_begun_are_gone_before_it_is_measured_again(cut):
    (file,) = sessions(cut)
    (begun,) = file.parent.glob("beta-*")
    (begun / "left").write_text("")
    resume(cut).assert_outcomes(passed=2)
    assert begun.is_dir()
    assert not (begun / "left").exists()


def test_a_plan_of_it_measures_and_removes_nothing(cut):
    (file,) = sessions(cut)
    before = sorted(file.parent.rglob("*"))
    result = resume(cut, "--io-plan")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["*going on with session*", "alpha *0 *recorded*", "beta *5 *to be recorded*"]
    )
    assert sorted(file.parent.rglob("*")) == before


def test_what_was_decided_of_a_test_that_is_not_set_up_becomes_no_baseline_by_going_on(project):
    project.device("lab", "target: .\n")
    skips = "import pytest\n@pytest.fixture(autouse=True)\ndef card(): pytest.skip('no card')\n"
    project.conftest(KILLED + skips)
    assert project.run_apart("suites", "--device=lab", "--update-baselines").ret < 0
    assert len(sessions(project)) == 1
    project.conftest(skips)
    result = resume(project)
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["not kept as a baseline, as the set-up of their tests*: alpha, beta"])
    assert not (project.path / "baselines/lab/demo.yaml").exists()


def test_a_session_that_was_killed_is_gone_on_with(project, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parent / "engines"), str(PLUGINS))))
    project.conftest(KILLED)
    result = project.pytester.runpytest_subprocess("-p", "iogate.plugin", "suites")
    assert result.ret == -9
    (project.path / "conftest.py").unlink()
    (file,) = sessions(project)
    assert verdicts(file) == {"alpha": "recorded"}
    assert not project.baseline().exists()
    project.run("suites", "--io-resume").assert_outcomes(passed=2)
    assert verdicts(file) == {"alpha": "recorded", "beta": "recorded"}
    text = project.baseline().read_text()
    assert "alpha:" in text and "beta:" in text


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_was_decided_and_not_stored_is_stored(project, monkeypatch, moment):
    """Killed right before, or right after its baseline is written, when no workload is open any more."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parent / "engines"), str(PLUGINS))))
    project.conftest(
        "import importlib, os, signal\n"
        "module = importlib.import_module('iogate.judge.baseline.update')\n"
        "def die(*arguments): os.kill(os.getpid(), signal.SIGKILL)\n"
        "def write_and_die(*given, write=module.write): write(*given); die()\n"
        f"module.write = {'die' if moment == 'before' else 'write_and_die'}\n"
    )
    assert project.pytester.runpytest_subprocess("-p", "iogate.plugin", "suites").ret == -9
    (project.path / "conftest.py").unlink()
    (file,) = sessions(project)
    assert verdicts(file) == {"alpha": "recorded", "beta": "recorded"}
    assert project.baseline().exists() == (moment == "after")
    result = project.run("suites", "--io-resume")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "going on with session *: 2 of 2 workloads are decided",
            "nothing is left to measure: the verdicts are those of then",
        ]
    )
    assert sessions(project) == [file]
    assert len(load_baselines(project.baseline())["alpha"].sessions) == 1
    project.run("suites", "--io-resume").stdout.fnmatch_lines(["*was not cut off*"])


def test_a_regression_is_not_forgotten_by_a_run_that_was_killed_at_its_end(cut, monkeypatch):
    resume(cut)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parent / "engines"), str(PLUGINS))))
    monkeypatch.setenv("IOGATE_FAKE_FACTOR", "0.5")
    cut.conftest(
        "import os, signal\nfrom iogate.measure.session import Session\n"
        "Session.close = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = cut.pytester.runpytest_subprocess("-p", "iogate.plugin", "suites", "--device=lab")
    assert ended.ret == -9
    (cut.path / "conftest.py").unlink()
    cut.run("suites", "--device=lab", "--io-resume").assert_outcomes(failed=2)


PAIR = """\
defaults: {{engine: fake}}
workloads:
  alpha: {{value: 1000}}
  beta: {{value: 2000, against: {{value: {base}}}}}
"""


def cut_pair(project, target):
    """A session with a pair that was cut off; returns what goes on with it."""
    project.device("lab", f"target: {target}\n")
    project.suite(PAIR.format(base=1900))
    project.conftest(CUT)
    project.run("suites", "--device=lab", "--io-missing=record")
    (project.path / "conftest.py").unlink()
    return ("suites", "--device=lab", "--io-missing=record", "--io-resume")


def test_another_target_of_the_profile_is_another_session(project):
    """What was decided on the first one stood beside what was measured on the second."""
    for name in ("one", "two"):
        (project.path / name).mkdir()
    again = cut_pair(project, "one")
    project.device("lab", "target: two\n")
    refused(project.run(*again), "the profile's target was one, is two", status=4)
    project.device("lab", "target: ./one/\ndescription: The first.\n")
    assert "going on with session" in project.run(*again).stdout.str()


def test_another_base_is_another_session(project):
    again = cut_pair(project, ".")
    refused(project.run(*again, "--io-max-blocks=30"), "--io-max-blocks was 60, is 30", status=4)
    refused(project.run(*again, "--io-against=same"), "--io-against was not given, is same", status=4)
    project.suite(PAIR.format(base=1800))
    refused(project.run(*again), "suites/demo.yaml::beta was declared otherwise", status=4)


def test_a_judged_session_that_had_learnt_the_noise_is_gone_on_with(cut):
    quiet = "defaults: {engine: fake, noise: 0.001}\nworkloads:\n"  # else speed depends on places
    cut.suite(quiet + "  alpha: {value: 1000}\n  beta: {value: 2000}\n")
    for update in ("", "=append", "=append"):
        cut.run("suites", "--device=lab", f"--update-baselines{update}")
    cut.conftest(CUT)
    cut.run("suites", "--device=lab").assert_outcomes(passed=1)
    (cut.path / "conftest.py").unlink()
    assert json.loads(sessions(cut)[-1].read_text())["gate"]["noise"]
    result = cut.run("suites", "--device=lab", "--io-resume")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*going on with session *: 1 of 2 workloads are decided*"])
