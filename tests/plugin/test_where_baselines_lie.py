"""Whose baselines a run uses, and that no two suites share one."""

import errno
import os
import shlex

import pytest

from iogate.cli import main
from projects import refused

ONE = "workloads:\n  alpha: {engine: fake, value: %d}\n"


@pytest.fixture
def no_ini(project):
    """Nothing tells pytest where the project begins: its rootdir is wherever it is run."""
    (project.path / "pytest.ini").unlink()
    return project


def put(project, name, value=1000):
    file = project.path / "suites" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(ONE % value)


def stored(project):
    folder = project.path / "baselines"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.yaml"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make things of others")
def test_baselines_that_another_user_put_above_are_not_taken(no_ini):
    """They come with a profile, which says what is run."""
    profile = no_ini.path / "baselines/lab/device.yaml"
    profile.parent.mkdir(parents=True)
    profile.write_text("target: /tmp\n")
    os.chown(no_ini.path / "baselines", 12345, 12345)
    no_ini.path.chmod(0o1777)
    (no_ini.path / "work").mkdir()
    (no_ini.path / "suites").rename(no_ini.path / "work/suites")
    (no_ini.path / ".git").mkdir()
    refused(no_ini.run("work/suites"), "baselines belongs to user 12345", status=pytest.ExitCode.USAGE_ERROR)


def test_a_run_within_the_suites_uses_the_projects_baselines(no_ini, monkeypatch):
    no_ini.run("suites").assert_outcomes(passed=2)
    before = no_ini.baseline().read_bytes()
    monkeypatch.chdir(no_ini.path / "suites")
    result = no_ini.run("demo.yaml", factor=0.5)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([f"iogate: baselines in {no_ini.path / 'baselines'}"])
    assert no_ini.baseline().read_bytes() == before
    assert not (no_ini.path / "suites/baselines").exists()
    assert not (no_ini.path / "suites/.iogate").exists()


def test_the_first_run_within_the_suites_records_where_the_others_look(no_ini, monkeypatch):
    monkeypatch.chdir(no_ini.path / "suites")
    result = no_ini.run("demo.yaml")
    result.stdout.fnmatch_lines([f"iogate: baselines in {no_ini.path / 'baselines'} (new)"])
    assert stored(no_ini) == ["local/demo.yaml"]
    assert not (no_ini.path / "suites/baselines").exists()
    assert not (no_ini.path / "suites/.iogate").exists()


def test_another_rootdir_changes_nothing(project, tmp_path_factory):
    project.run("suites")
    project.run("suites", f"--rootdir={tmp_path_factory.mktemp('root')}", factor=0.5).assert_outcomes(
        failed=2
    )


def test_workloads_that_pytest_calls_alike_are_refused(project):
    """Below another root, as that of `-c ci/pytest.ini`, ids begin at what was named: one workload of two
    would be measured, and pass for both.
    """
    for name in ("a/disk", "b/disk"):
        put(project, name)
    (project.path / "ci").mkdir()
    (project.path / "ci/pytest.ini").write_text("[pytest]\n")
    for names in (("suites/a", "suites/b"), ("suites/a/disk.yaml", "suites/b/disk.yaml")):
        refused(
            project.run("-c", "ci/pytest.ini", *names), "b/disk: alpha and a/disk: alpha", "--rootdir=DIR"
        )
    assert stored(project) == []
    project.run("-c", "ci/pytest.ini", "--rootdir=.", "suites/a", "suites/b").assert_outcomes(passed=2)
    assert stored(project) == ["local/a/disk.yaml", "local/b/disk.yaml"]


def test_what_the_command_line_says_counts(project):
    result = project.run("suites", "--io-baselines=mine")
    result.stdout.fnmatch_lines([f"iogate: baselines in {project.path / 'mine'} (new)"])
    assert (project.path / "mine/local/demo.yaml").is_file()
    assert not (project.path / "baselines").exists()


def test_suites_of_two_projects_are_not_run_together(project, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "suites").mkdir()
    (other / "suites/s.yaml").write_text(ONE % 1000)
    (other / "baselines").mkdir()
    result = project.run("suites", str(other / "suites"))
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*s.yaml belongs to the project {other}, and this run to {project.path}"])
    assert stored(project) == []


def test_tests_without_io_may_lie_in_any_number_of_projects(project, tmp_path_factory):
    project.run("suites")
    other = tmp_path_factory.mktemp("other")
    (other / "baselines/local").mkdir(parents=True)
    (other / "test_plain.py").write_text("def test_plain(): pass\n")
    project.run(str(other / "test_plain.py"), "-p", "no:cacheprovider").assert_outcomes(passed=1)
    project.pytester.makepyfile(test_here="def test_here(): pass")
    project.run("test_here.py", str(other / "test_plain.py")).assert_outcomes(passed=2)


def test_a_project_within_another_is_run_alone(project):
    for folder in ("suites", "baselines"):
        (project.path / "inner" / folder).mkdir(parents=True)
    (project.path / "inner/suites/s.yaml").write_text(ONE % 1000)
    project.run("inner/suites").assert_outcomes(passed=1)
    assert (project.path / "inner/baselines/local/s.yaml").is_file()
    project.run(".").stdout.fnmatch_lines(["*s.yaml belongs to the project *inner, and this run to *"])


def test_suites_of_one_name_in_two_folders_have_a_baseline_each(project):
    put(project, "a/s", 1000)
    put(project, "b/s", 5000)
    project.run("suites").assert_outcomes(passed=4)
    assert stored(project) == ["local/a/s.yaml", "local/b/s.yaml", "local/demo.yaml"]
    assert "suite: a/s" in project.baseline(suite="a/s").read_text()
    put(project, "b/s", 1000)
    project.run("suites/a", factor=1.0).assert_outcomes(passed=1)
    result = project.run("suites/b", "--io-missing=fail")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*value was 5000*is 1000*"])


@pytest.fixture
def services(project):
    """Two services of a repository with suites of their own, and the baselines of all at the top."""
    project.device("lab", "target: .\n")
    for service in "ab":
        folder = project.path / "svc" / service / "suites"
        folder.mkdir(parents=True)
        (folder / "s.yaml").write_text(
            "workloads: {one: {engine: fake, noise: 0.001}, two: {engine: fake, noise: 0}}\n"
        )
    for _ in range(3):
        project.run("svc", "--device=lab", "--update-baselines=append").assert_outcomes(passed=4)
    project.path.joinpath("suites/demo.yaml").unlink()
    return project


def test_services_of_one_repository_are_gated_alone_by_the_baselines_at_its_top(services, monkeypatch):
    baselines = services.path / "baselines/lab/svc"
    assert sorted(map(str, baselines.rglob("*.yaml"))) == [f"{baselines}/{one}/suites/s.yaml" for one in "ab"]
    services.run("svc", "--device=lab", "--io-strict").assert_outcomes(passed=4)
    services.run("svc/a", "-k", "two", "--device=lab", "--io-strict").assert_outcomes(passed=1, deselected=1)
    monkeypatch.chdir(services.path / "svc/b")
    services.run("suites", "-k", "two", "--device=lab", "--io-strict").assert_outcomes(passed=1, deselected=1)


def test_baselines_in_folders_called_as_those_of_suites_are_no_suites(services):
    """`pytest` at the top comes through the baselines, too; it passes over what is called `build`."""
    services.run("--device=lab", "--io-strict").assert_outcomes(passed=4)
    built = services.path / "baselines/lab/svc/build/suites/s.yaml"
    built.parent.mkdir(parents=True)
    built.write_text("{}")
    result = services.run("--device=lab", "--io-strict", "--collect-only")
    refused(result, "svc/build/suites/s.yaml: stored baselines of a suite that does not exist", status=4)
    assert "passed over" not in str(result.stdout)


@pytest.mark.parametrize("where", [".", "suites", "svc"])
def test_suites_are_found_wherever_baselines_are_said_to_lie(services, where):
    services.suite("workloads: {three: {engine: fake}}\n")
    profile = services.path / where / "lab/device.yaml"
    profile.parent.mkdir(exist_ok=True)
    profile.write_text("target: .\n")
    options = ("--device=lab", f"--io-baselines={where}")
    services.run(*options, "--update-baselines").assert_outcomes(passed=5)
    services.run(*options, "--io-strict").assert_outcomes(passed=5)


def test_a_service_alone_is_not_held_against_places_of_sessions_of_all(services):
    for suite in services.path.glob("svc/*/suites/s.yaml"):
        suite.write_text("workloads: {one: {engine: fake, settles: 2, takes: 0.06}, two: {engine: fake}}\n")
    for mode in ("--update-baselines", *2 * ["--update-baselines=append"]):
        services.run("svc", "--device=lab", mode).assert_outcomes(passed=4)
    services.run("svc/a", "--device=lab", "--io-strict").assert_outcomes(passed=2)  # which comes first
    result = services.run("svc/b", "--device=lab", "--io-strict")
    assert result.ret == 10
    result.stdout.fnmatch_lines(["*came behind * of measuring, and behind * in the baseline*"])


def test_two_files_of_one_name_in_a_service_are_refused(services):
    (services.path / "svc/a/suites/s.yml").write_text("workloads: {one: {engine: fake}}\n")
    refused(services.run("svc/a", "--device=lab"), "and would share a baseline", status=2)


def test_a_suite_in_a_folder_is_appended_replaced_and_gated(project):
    put(project, "a/s")
    for option in ("--update-baselines", "--update-baselines=append"):
        project.run("suites/a", option).assert_outcomes(passed=1)
    assert project.baseline(suite="a/s").read_text().count("environment:") == 2
    project.run("suites/a", factor=0.5).assert_outcomes(failed=1)


def test_profiles_name_suites_as_they_are_called(project):
    put(project, "a/s")
    project.device("local", "target: .\nsuites: [a/s]\nmissing: record\noverrides: {a/s: {value: 7000}}\n")
    project.run("suites").assert_outcomes(passed=1, deselected=2)
    assert "value: 7000" in project.baseline(suite="a/s").read_text()


def test_modules_of_one_name_have_a_baseline_each(project):
    (project.path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    for folder, value in (("one", 100), ("two", 900)):
        (project.path / folder).mkdir()
        (project.path / folder / "test_same.py").write_text(
            f"def test_it(measure, gate):\n    gate.check(measure(engine='fake', value={value}))\n"
        )
    for _ in range(2):
        project.run("one", "two").assert_outcomes(passed=2)
    assert stored(project) == ["local/one/test_same.yaml", "local/two/test_same.yaml"]


def test_a_module_whose_baseline_another_one_would_have_is_refused_where_it_measures(project):
    """Each was judged by what the other one had recorded, and replaced it."""
    measures = "def test_it(measure): measure(engine='fake')\n"
    for folder, text in (("services", measures), ("tools", measures), ("libraries", "def test_it(): pass\n")):
        (project.path / folder / "a").mkdir(parents=True)
        (project.path / folder / "a/test_io.py").write_text(text)
    patterns = "services/*/*.yaml tools/*/*.yaml libraries/*/*.yaml"
    (project.path / "pytest.ini").write_text(f"[pytest]\nio_suites = {patterns}\n")
    for folder in ("services", "tools"):
        result = project.run(folder, "--update-baselines")
        result.assert_outcomes(failed=1)
        assert "are both called 'a/test_io', and would share" in " ".join(result.stdout.str().split())
    project.run("libraries").assert_outcomes(passed=1)
    assert not stored(project)
    (project.path / "tools/a/test_io.py").unlink()  # the others measure nothing
    project.run("services", "--update-baselines").assert_outcomes(passed=1)
    assert stored(project) == ["local/a/test_io.yaml"]


def test_a_clash_of_names_is_refused_at_collection(project):
    (project.path / "pytest.ini").write_text("[pytest]\nio_suites = bench/*.yaml more/*.yaml\n")
    for folder in ("bench", "more"):
        (project.path / folder).mkdir()
        (project.path / folder / "s.yaml").write_text(ONE % 1000)
    for arguments in (["bench", "more"], ["bench"]):
        result = project.run(*arguments)
        assert result.ret == pytest.ExitCode.INTERRUPTED
        result.stdout.fnmatch_lines(["*bench/s.yaml and *more/s.yaml are both called 's', and would share*"])


def test_a_suite_called_device_is_refused(project):
    put(project, "device")
    project.run("suites").stdout.fnmatch_lines(["*a suite cannot be called 'device'*"])


def mended(result):
    """Do what a message says that mends it."""
    text = f"{result.stdout}\n{result.stderr}"
    command = next(line for line in text.splitlines() if "iogate baseline rename" in line)
    assert main(shlex.split(command[command.index("baseline rename") :])) == 0


def test_a_renamed_workload_is_told_how_to_keep_its_baseline(project):
    project.run("suites")
    project.suite("defaults: {engine: fake}\nworkloads:\n  other: {value: 1000}\n  beta: {value: 2000}\n")
    result = project.run("suites", "--io-missing=fail")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*no_baseline: local has no*", "*'alpha', of this very definition: if *"])
    mended(result)
    project.run("suites", "--io-missing=fail").assert_outcomes(passed=2)


def test_a_renamed_workload_that_is_recorded_anew_is_told_as_well(project):
    project.run("suites")
    project.suite("defaults: {engine: fake}\nworkloads:\n  other: {value: 1000}\n")
    result = project.run("suites")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*other: recorded anew, although *demo.yaml has 'alpha', of this very*"])


def test_a_workload_of_the_same_definition_is_not_told_to_take_the_other_ones_baseline(project):
    project.run("suites")
    project.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n  twin: {value: 1000}\n")
    assert "rename" not in project.run("suites", "--io-missing=fail").stdout.str()
    assert "anew, although" not in project.run("suites").stdout.str()


def test_a_moved_suite_is_told_how_to_keep_its_baseline(project):
    project.run("suites")
    (project.path / "suites/nightly").mkdir()
    (project.path / "suites/demo.yaml").rename(project.path / "suites/nightly/demo.yaml")
    result = project.run("suites", "--io-missing=fail")
    result.assert_outcomes(failed=2)
    mended(result)
    assert stored(project) == ["local/nightly/demo.yaml"]
    project.run("suites", "--io-missing=fail").assert_outcomes(passed=2)


def test_a_copy_of_a_suite_is_not_told_to_take_the_other_ones_baseline(project):
    put(project, "a/s")
    project.run("suites/a")
    put(project, "b/s")
    assert "rename" not in project.run("suites/b", "--io-missing=fail").stdout.str()


def test_a_moved_device_is_told_how_to_keep_its_baselines(project):
    project.device("lab", "target: .\nmissing: record\n")
    project.run("suites", "--device=lab").assert_outcomes(passed=2)
    (project.path / "baselines/lab").rename(project.path / "baselines/rack")
    result = project.run("suites", "--device=rack")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "remove it" not in f"{result.stdout}{result.stderr}"
    mended(result)
    project.run("suites", "--device=rack", "--io-missing=fail").assert_outcomes(passed=2)


def test_a_workload_that_is_new_is_told_of_no_other(project):
    project.run("suites")
    project.suite("defaults: {engine: fake}\nworkloads:\n  gamma: {value: 77}\n")
    result = project.run("suites", "--io-missing=fail")
    assert "rename" not in result.stdout.str()


def test_a_baseline_that_cannot_be_written_at_the_end_keeps_no_other_from_it(project):
    project.run("suites", "--io-results=kept").assert_outcomes(passed=2)
    for name in ("first", "second", "third"):
        put(project, name)
    project.conftest(  # while it runs somebody puts links in the places of two baselines
        "import pathlib\n"
        "def pytest_runtest_teardown(item):\n"
        "    for name in ('first', 'second'):\n"
        "        link = pathlib.Path(f'baselines/local/{name}.yaml')\n"
        "        link.is_symlink() or link.symlink_to('elsewhere.yaml')\n"
    )
    result = project.run("suites", "--io-results=kept", "--io-keep=1")
    refused(result, "first.yaml is a symbolic link", "second.yaml is a symbolic link", status=3)
    assert project.baseline(suite="third").exists()
    assert "recorded in baselines/local/third.yaml" in result.stdout.str()
    assert len([path for path in (project.path / "kept").iterdir() if path.is_dir()]) == 1


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOTCONN])
@pytest.mark.parametrize("option", ["", "--io-baselines=closed/baselines"])
def test_baselines_where_nobody_can_look_are_told(project, monkeypatch, option, number):
    """As root leaves them under a umask of 077, or where a link leads there, or to a mount that is dead: they
    are not taken for none.
    """
    if not option:
        (project.path / "baselines").symlink_to("closed/baselines")
    real = os.stat

    def stat(path, *rest, **more):
        if "/baselines" in str(path) and more.get("follow_symlinks", True):
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr("os.stat", stat)
    said = f"baselines/local/device.yaml: {os.strerror(number)}"
    refused(project.run("suites", option), "cannot look at", said)
