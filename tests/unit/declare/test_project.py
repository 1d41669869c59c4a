"""Where baselines lie, and what a suite is called."""

import errno
import os

import pytest

from iogate.declare.project import (
    Project,
    find_project,
    folders_of,
    has_all_of,
    may_measure,
    require_within,
)
from iogate.errors import InputError


def made(root, *files):
    """Make files (with a slash at the end: folders) below a root, and return it."""
    for file in files:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if file.endswith("/"):
            path.mkdir(exist_ok=True)
        else:
            path.touch()
    return root


LAB = "baselines/lab/device.yaml"


@pytest.mark.parametrize(
    "files, start, root, found",
    [
        (["p/suites/s.yaml", "p/baselines/"], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml", "p/baselines/"], "p/suites", "p/suites", "p"),
        (["p/suites/a/s.yaml", "p/baselines/"], "p/suites/a", "p/suites/a", "p"),
        (["p/suites/s.yaml", "p/baselines/"], "p", "p", "p"),
        (["p/suites/s.yaml"], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml", "p/suites/baselines/"], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml"], "p/suites/s.yaml", ".", "."),
        (["p/suites/s.yaml", "p/baselines/", LAB], "p/suites/s.yaml", ".", "p"),
        (["p/suites/s.yaml", LAB, ".git/"], "p/suites/s.yaml", "p/suites", "."),
        (["p/suites/s.yaml", LAB], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml", LAB, "p/pytest.ini"], "p/suites/s.yaml", "p", "p"),
        (["p/suites/s.yaml", LAB, "p/pytest.ini", ".git/"], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml", LAB, "p/pytest.toml", ".git/"], "p/suites/s.yaml", "p/suites", "p"),
        (["q/p/suites/s.yaml", "q/baselines/local/"], "q/p/suites/s.yaml", ".", "q"),
        (["p/suites/s.yaml", "baselines/other/"], "p/suites/s.yaml", "p/suites", "p"),
        (["p/suites/s.yaml", "p/baselines/"], "p/suites/s.yaml", "elsewhere", "p"),
        (["p/suites/s.yaml"], "p/suites/s.yaml", "elsewhere", "p"),
        (["p/tests/test_x.py", "p/baselines/local/", "p/.git"], "p/tests/test_x.py", "p/tests", "p"),
        (["p/tests/test_x.py"], "p/tests/test_x.py", "p/tests", "p/tests"),
        (["alone.yaml"], "alone.yaml", "p", "p"),
    ],
)
def test_a_project_is_found_from_its_suites_wherever_one_stands(tmp_path, files, start, root, found):
    made(tmp_path, *files)
    assert find_project(tmp_path / start, tmp_path / root).root == tmp_path / found


def test_the_nearest_folder_of_suites_counts(tmp_path):
    made(tmp_path, "suites/p/suites/s.yaml")
    assert find_project(tmp_path / "suites/p/suites/s.yaml", tmp_path / "suites/p/suites").root == (
        tmp_path / "suites/p"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make things of others")
@pytest.mark.parametrize(
    ("mode", "owner", "taken"),
    [(0o1777, 12345, False), (0o1777, 0, True), (0o755, 12345, True), (0o777, 12345, False)],
)
@pytest.mark.parametrize("start", ["work/suites/s.yaml", "work/nothing", "work", ""])
def test_baselines_of_another_user_where_all_may_write_are_not_taken(tmp_path, mode, owner, taken, start):
    """As in /tmp: profiles there would say what root runs, and what it is held against."""
    made(tmp_path, "work/suites/s.yaml", LAB, ".git/")
    os.chown(tmp_path / "baselines", owner, owner)
    tmp_path.chmod(mode)
    if taken:
        assert find_project(tmp_path / start, tmp_path).root == tmp_path
    else:
        with pytest.raises(InputError, match="belongs to user 12345"):
            find_project(tmp_path / start, tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make things of others")
def test_a_checkout_of_another_user_is_whole(tmp_path):
    """Runners check out with umask 0, and containers run as root."""
    made(tmp_path, "p/suites/s.yaml", "p/baselines/")
    for path in (tmp_path / "p", *(tmp_path / "p").rglob("*")):
        os.chown(path, 12345, 12345)
    (tmp_path / "p").chmod(0o777)
    assert find_project(tmp_path / "p/suites/s.yaml", tmp_path).root == tmp_path / "p"


@pytest.mark.parametrize(
    "patterns, folders",
    [
        (["suites/**/*.yaml"], ("suites",)),
        (["perf/suites/*.yaml", "more/*.yaml"], ("perf/suites", "more")),
        (["bench/one.yaml"], ("bench",)),
        (["*.yaml"], ("suites",)),
        (["bench*/x/*.yaml"], ("suites",)),
        ([], ("suites",)),
    ],
)
def test_patterns_of_suites_begin_with_their_folders(patterns, folders):
    assert folders_of(patterns) == folders


@pytest.mark.parametrize(
    "file, name",
    [
        ("suites/s.yaml", "s"),
        ("suites/a/s.yaml", "a/s"),
        ("suites/b/s.yml", "b/s"),
        ("suites/a/b.c/s.1.yaml", "a/b.c/s.1"),
        ("tests/test_x.py", "tests/test_x"),
        ("test_x.py", "test_x"),
        ("storage/suites/s.yaml", "storage/suites/s"),
    ],
)
def test_a_suite_is_called_as_its_path_below_the_suites(tmp_path, file, name):
    assert Project(tmp_path).name(tmp_path / file) == name


@pytest.mark.parametrize(
    "folders, first, second",
    [
        (("suites",), "suites/s.yaml", "suites/s.yml"),
        (("bench", "more"), "bench/a/s.yaml", "more/a/s.yaml"),
        (("suites",), "test_x.py", "suites/test_x.yaml"),
        (("suites",), "svc/a/suites/s.yaml", "svc/a/suites/s.yml"),
        (("suites",), "suites/a/suites/s.yaml", "a/suites/s.yaml"),
        (("suites",), "suites/test_x.py", "test_x.py"),
        (("suites",), "test_x.py", "suites/test_x.py"),
        (("services", "tools"), "services/a/tests/test_x.py", "tools/a/tests/test_x.py"),
    ],
)
def test_two_files_of_one_name_are_refused(tmp_path, folders, first, second):
    made(tmp_path, first, second)
    (tmp_path / second).write_text("def test_it(measure): ...\n")
    with pytest.raises(InputError, match="and would share a baseline"):
        Project(tmp_path, folders).name(tmp_path / first)


def test_a_module_that_is_no_test_is_no_rival_of_a_suite(tmp_path):
    made(tmp_path, "suites/quick.yaml", "quick.py")
    assert Project(tmp_path).name(tmp_path / "suites/quick.yaml") == "quick"


@pytest.mark.skipif(os.geteuid() != 0, reason="who may not open it does not wait")
@pytest.mark.parametrize("look", [may_measure, lambda module: has_all_of(module, ["test_it"])])
def test_a_module_that_is_a_link_to_the_log_of_the_kernel_is_not_waited_for(tmp_path, look):
    (tmp_path / "test_disk.py").symlink_to("/proc/kmsg")
    assert look(tmp_path / "test_disk.py") in (True, False)


@pytest.mark.parametrize(
    "folders, one, other",
    [
        (("suites",), "suites/suites/s.yaml", "suites/s.yaml"),
        (("suites", "suites/nightly"), "suites/suites/nightly/s.yaml", "suites/nightly/s.yaml"),
    ],
)
def test_suites_of_different_names_are_no_rivals(tmp_path, folders, one, other):
    made(tmp_path, one, other)
    project = Project(tmp_path, folders)
    names = [project.name(tmp_path / file) for file in (one, other)]
    assert names[0] != names[1]
    assert [project.suite(name) for name in names] == [tmp_path / one, tmp_path / other]


@pytest.mark.parametrize("file", ["suites/device.yaml", "suites/a/device.yaml"])
def test_a_suite_cannot_take_the_place_of_a_profile(tmp_path, file):
    with pytest.raises(InputError, match="cannot be called 'device'"):
        Project(tmp_path).name(tmp_path / file)


def test_a_file_outside_has_no_name(tmp_path):
    with pytest.raises(InputError, match="lies outside the project"):
        Project(tmp_path / "p").name(tmp_path / "suites/s.yaml")


def test_what_exists_is_known_by_its_whole_name(tmp_path):
    for file in ("suites/a.yaml", "suites/daily/quick.yml", "suites/test_in.py", "tests/test_out.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    project = Project(tmp_path)
    assert project.suites(["suites/**/*.yaml", "suites/**/*.yml"]) == {"a", "daily/quick"}
    assert all(map(project.has, ("a", "daily/quick", "test_in", "tests/test_out")))
    assert not any(map(project.has, ("quick", "nightly/quick", "test_out", "suites/test_in", "suites/a")))


def test_services_of_one_repository_share_the_baselines_at_its_top(tmp_path):
    made(tmp_path, LAB, "svc/a/suites/s.yaml", "svc/b/suites/s.yml", "svc/a/other.yaml")
    project = find_project(tmp_path / "svc/a/suites/s.yaml", tmp_path)
    assert project.root == tmp_path
    assert project.name(tmp_path / "svc/b/suites/s.yml") == "svc/b/suites/s"
    assert project.has("svc/b/suites/s") and project.holds(tmp_path / "svc/b/suites/s.yml")
    assert not (project.has("svc/a/other") or project.holds(tmp_path / "svc/a/other.yaml"))


def test_a_way_that_changes_while_it_is_followed_is_told(tmp_path, monkeypatch):
    def fails(path):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr("os.path.realpath", fails)
    with pytest.raises(InputError, match="somebody changes the way to"):
        require_within(tmp_path / "suites", tmp_path)
