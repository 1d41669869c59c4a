"""`iogate baseline`: show, rename, drop, and merge as git does."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from iogate.cli import main
from iogate.judge.baseline import load_baselines, update
from iogate.model import Environment
from places import PLUGINS

DEFINITION = {"engine": "fio", "rw": "read"}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """The folder of a device with a baseline of two workloads; one stands in its project."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "baselines/lab"
    folder.mkdir(parents=True)
    (folder / "device.yaml").write_text("target: /tmp\n")
    store(folder / "demo.yaml", 1, "a", "b")
    return folder


def store(file, day, *names, suite="demo", disk="A", mode="append", value=1000.0, **more):
    update(
        file,
        file.parents[suite.count("/")].name,
        suite,
        f"2026-01-{day:02}T00:00:00Z-aaaa",
        Environment({"disk": disk}, {"kernel": "6.1"}),
        "a reason",
        {name: (DEFINITION, {"read.iops": [value, value + 1]}) for name in names or ("a",)},
        mode,
        **more,
    )


def said(capsys, *arguments, status=0):
    """What the command says, which ends with this status and without a traceback."""
    assert main(["baseline", *map(str, arguments)]) == status
    text = "".join(capsys.readouterr())
    assert "Traceback" not in text
    return text


def sessions(file, name="a", suite=""):
    return [one[8:10] for one in load_baselines(file, suite)[name].sessions]


def test_show_tells_sessions_and_figures(lab, capsys):
    store(lab / "demo.yaml", 2, "a", value=1100.0)
    text = said(capsys, "show", "baselines/lab/demo.yaml")
    assert "baselines/lab/demo.yaml: lab, suite demo" in text
    assert "2026-01-02T00:00:00Z-aaaa  a reason  6.1" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("a "))
    assert row == ["a", "read.iops", "1.050", "k", "IOPS", "1.000", "k", "IOPS", "1.101", "k", "IOPS", "2"]


def test_show_of_what_is_not_there_or_no_baseline(lab, capsys):
    assert "there is no" in said(capsys, "show", lab / "other.yaml", status=2)
    (lab / "bad.yaml").write_text("schema: 1\n")
    assert "bad.yaml:1:1: 'device' is missing" in said(capsys, "show", lab / "bad.yaml", status=2)


def test_show_of_a_folder_tells_all_its_baselines(lab, capsys, tmp_path):
    store(lab / "more/other.yaml", 1, suite="more/other")
    store(lab / "demo.yaml", 1)
    whole = said(capsys, "show", "baselines/lab")
    assert whole == said(capsys, "show", "baselines/lab/demo.yaml", "baselines/lab/more/other.yaml")
    (tmp_path / "empty").mkdir()
    assert "empty has no baselines" in said(capsys, "show", "empty", status=2)


def test_a_profile_is_no_damaged_baseline_that_should_be_removed(lab, capsys):
    """`baselines/lab/*.yaml` takes it in."""
    store(lab / "demo.yaml", 1)
    text = said(capsys, "show", lab / "demo.yaml", lab / "device.yaml")
    assert text == said(capsys, "show", lab / "demo.yaml")
    for action in (("show",), ("drop", "--workload=a")):
        text = said(capsys, action[0], lab / "device.yaml", *action[1:], status=2)
        assert "device.yaml is the profile of a device, not a baseline" in text
        assert "remove" not in text


@pytest.mark.parametrize("word", ["::error::x", "x\\n::error::x", "x\\e]0;x\\a", "##vso[x]"])
def test_no_text_of_a_stranger_commands_a_terminal_or_who_runs_a_job(lab, capsys, word):
    store(lab / "demo.yaml", 2)
    sound = (lab / "demo.yaml").read_text()
    other = lab.parent / "other"
    other.mkdir()
    (other / "demo.yaml").write_text(sound.replace("device: lab", "device: other"))
    for old, new in (
        ("a reason", word),
        ("kernel: '6.1'", f'kernel: "{word}"'),
        ("disk: A", f'disk: "{word}"'),
        ("  a:", f'  "{word}":'),
        ("read.iops", f'"{word}.read.iops"'),
        ("2026-01-02T00:00:00Z-aaaa", word),
        ("device: lab", f'device: "{word}"'),
    ):
        text = sound.replace(old, new if '"' in new else f'"{new}"')
        assert text != sound
        (lab / "demo.yaml").write_text(text)
        (lab / "device.yaml").write_text(f'target: /tmp\nsuites: ["{word}"]\n')
        for command in (
            "baseline show baselines/lab/demo.yaml",
            "baseline log lab",
            "baseline merge baselines/lab/demo.yaml baselines/other/demo.yaml",
            "baseline rename baselines/lab/demo.yaml",
            "device list",
            "device check lab",
            "history",
        ):
            main(command.split())
            said = "".join(capsys.readouterr())
            assert said and not re.search(r"^\s*::|##vso\[|[\x1b\x07]", said, re.MULTILINE), command


def test_a_workload_gets_another_name_and_keeps_its_place(lab, capsys):
    said(capsys, "rename", lab / "demo.yaml", "--workload", "a", "new")
    assert list(load_baselines(lab / "demo.yaml")) == ["new", "b"]
    assert "no workload 'a'" in said(capsys, "rename", lab / "demo.yaml", "--workload", "a", "x", status=2)
    text = said(capsys, "rename", lab / "demo.yaml", "--workload", "new", "b", status=2)
    assert "has a baseline of 'b' already" in text


def test_a_baseline_is_moved_to_another_suite(lab, capsys):
    said(capsys, "rename", lab / "demo.yaml", lab / "nightly/demo.yaml")
    assert not (lab / "demo.yaml").exists()
    assert sessions(lab / "nightly/demo.yaml", suite="nightly/demo") == ["01"]
    store(lab / "demo.yaml", 1)
    text = said(capsys, "rename", lab / "demo.yaml", lab / "nightly/demo.yaml", status=2)
    assert "is there already" in text


def test_a_suite_that_is_measured_behind_others_now_is_told(lab, capsys):
    """A device that gets hot is hotter there: unchanged, it regressed."""
    for name in ("b", "n/x"):
        store(lab / f"{name}.yaml", 1, suite=name)
    assert "order of their paths" not in said(capsys, "rename", lab / "demo.yaml", lab / "c.yaml")
    text = said(capsys, "rename", lab / "c.yaml", lab / "z.yaml")
    assert "z changes places with n/x: on a device that gets hot" in text
    assert "a changes places with b, n/x" in said(capsys, "rename", lab / "z.yaml", lab / "a.yaml")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("baselines/x/lab", "not beside"),
        ("elsewhere", "not beside"),
        ("baselines/-x", "cannot be the name of a device"),
        ("baselines/a b", "cannot be the name of a device"),
    ],
)
def test_a_device_is_renamed_to_nothing_that_no_run_would_find(lab, capsys, place, words):
    """It was, and each name of it was unknown from then on."""
    assert words in said(capsys, "rename", "baselines/lab", f"./{place}", status=2)
    assert (lab / "demo.yaml").exists()


def test_the_folder_of_a_device_is_moved_with_all_that_is_in_it(lab, capsys):
    store(lab / "x/other.yaml", 1, suite="x/other")
    said(capsys, "rename", "baselines/lab", "baselines/rack")
    rack = lab.with_name("rack")
    assert not lab.exists()
    assert sessions(rack / "demo.yaml") == sessions(rack / "x/other.yaml", suite="x/other") == ["01"]


def test_what_is_no_baseline_is_not_moved(lab, capsys):
    (lab / "bad.yaml").write_text("workloads: {}\n")
    for source, target in (("bad.yaml", "good.yaml"), (".", "../rack"), ("none.yaml", "x.yaml")):
        said(capsys, "rename", lab / source, lab / target, status=2)
    assert sorted(path.name for path in lab.iterdir()) == ["bad.yaml", "demo.yaml", "device.yaml"]
    empty = lab.with_name("empty")
    empty.mkdir()
    assert "has no baselines" in said(capsys, "rename", empty, status=2)


def test_a_folder_with_a_link_is_not_moved_half(lab, capsys, tmp_path):
    store(lab / "b.yaml", 1, suite="b")
    shutil.move(lab / "b.yaml", tmp_path / "elsewhere.yaml")
    (lab / "b.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert "is a symbolic link" in said(capsys, "rename", lab, "baselines/new", status=2)
    assert lab.is_dir()
    assert not (lab.parent / "new").exists()


def test_a_baseline_does_not_become_the_description_of_a_device(lab, capsys):
    (lab / "device.yaml").unlink()
    text = said(capsys, "rename", lab / "demo.yaml", lab / "device.yaml", status=2)
    assert "where a device is described" in text
    assert (lab / "demo.yaml").exists()


@pytest.mark.parametrize("target", ["baselines/linked/demo.yaml", "baselines/linked/nightly/demo.yaml"])
def test_rename_does_not_write_through_a_link(lab, capsys, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (lab.parent / "linked").symlink_to(tmp_path / "elsewhere")
    assert "linked is a symbolic link" in said(capsys, "rename", lab / "demo.yaml", target, status=2)
    assert (lab / "demo.yaml").exists() and not list((tmp_path / "elsewhere").iterdir())


def test_merge_does_not_write_through_a_link(lab, capsys, tmp_path):
    theirs, victim = lab / "theirs.yaml", tmp_path / "victim.yaml"
    shutil.copy(lab / "demo.yaml", theirs)
    store(lab / "demo.yaml", 2)
    shutil.move(lab / "demo.yaml", victim)
    (lab / "demo.yaml").symlink_to(victim)
    before = victim.stat()
    assert "is a symbolic link" in said(capsys, "merge", lab / "demo.yaml", theirs, status=1)
    assert (victim.stat().st_ino, victim.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("command", ["drop", "rename", "rename a folder", "rename a workload", "merge"])
def test_baselines_of_another_project_are_not_written_through_a_link_of_this_one(lab, capsys, command):
    """Of a stranger's clone `baselines` may be such a link."""
    clone = lab.parents[1] / "clone"
    clone.mkdir()
    shutil.copy(lab / "demo.yaml", clone / "theirs.yaml")
    (clone / "baselines").symlink_to(lab.parent)
    folder = clone / "baselines/lab"
    file, before = folder / "demo.yaml", (lab / "demo.yaml").read_bytes()
    words = {
        "drop": ("drop", file, "--workload", "a"),
        "rename": ("rename", file, folder / "other.yaml"),
        "rename a folder": ("rename", folder, folder.with_name("rack")),
        "rename a workload": ("rename", file, "--workload", "a", "c"),
        "merge": ("merge", file, clone / "theirs.yaml"),
    }[command]
    status = 1 if command == "merge" else 2
    assert "out of the project" in " ".join(said(capsys, *words, status=status).split())
    assert sorted(path.name for path in lab.glob("*.yaml")) == ["demo.yaml", "device.yaml"]
    assert (lab / "demo.yaml").read_bytes() == before


@pytest.mark.parametrize("side", ["ours", "theirs", "base"])
def test_merge_shows_nothing_of_what_a_link_leads_to(lab, capsys, tmp_path, side):
    (tmp_path / "secret").write_text("hunter2: 1")
    sides = {
        name: shutil.copy(lab / "demo.yaml", lab / f"{name}.yaml") for name in ("ours", "theirs", "base")
    }
    sides[side].unlink()
    sides[side].symlink_to(tmp_path / "secret")
    text = said(capsys, "merge", *sides.values(), status=1)
    assert "is a symbolic link" in text and "hunter2" not in text


def test_what_was_moved_by_hand_says_so_and_how_to_mend_it(lab, capsys):
    lab.rename(lab.with_name("rack"))
    text = said(capsys, "show", "baselines/rack/demo.yaml", status=2)
    assert "a baseline of the device 'lab' in the place of 'rack'" in text
    command = text.partition("on purpose: iogate ")[2].strip()
    assert main(shlex.split(command)) == 0
    assert sessions(lab.with_name("rack") / "demo.yaml") == ["01"]


def test_workloads_and_sessions_are_dropped(lab, capsys):
    file = lab / "demo.yaml"
    for day in (2, 3):
        store(file, day, "a", "b")
    said(capsys, "drop", file, "--session", "2026-01-02T00:00:00Z-aaaa")
    assert sessions(file) == sessions(file, "b") == ["01", "03"]
    said(capsys, "drop", file, "--session", "2026-01-01T00:00:00Z-aaaa", "--workload", "a")
    assert (sessions(file), sessions(file, "b")) == (["03"], ["01", "03"])
    said(capsys, "drop", file, "--workload", "b")
    assert list(load_baselines(file)) == ["a"]
    assert "holds no" not in said(capsys, "drop", file, "--workload", "x", status=2)
    assert "and is removed" in said(capsys, "drop", file, "--workload", "a")
    assert [path.name for path in lab.iterdir()] == ["device.yaml"]


def test_what_is_known_of_a_session_goes_with_it(lab, capsys):
    for day in (1, 2):
        store(lab / "demo.yaml", day, "a", worked={"a": [day, day + 1]})
    said(capsys, "drop", lab / "demo.yaml", "--session", "2026-01-02T00:00:00Z-aaaa")
    assert load_baselines(lab / "demo.yaml")["a"].worked == {"2026-01-01T00:00:00Z-aaaa": (1.0, 2.0)}


def test_drop_wants_to_know_what(lab, capsys):
    assert "what should be dropped?" in said(capsys, "drop", lab / "demo.yaml", status=2)


@pytest.mark.parametrize("theirs", ["", "a: [", "schema: 1\n", "schema: 2\n"])
def test_a_side_that_is_no_baseline_is_a_conflict_that_leaves_ours(lab, capsys, theirs):
    before = (lab / "demo.yaml").read_bytes()
    (lab / "theirs").write_text(theirs)
    text = said(capsys, "merge", lab / "demo.yaml", lab / "theirs", "--path", "x/demo.yaml", status=1)
    assert "x/demo.yaml cannot be merged" in text
    assert (lab / "demo.yaml").read_bytes() == before


def test_merge_wants_two_or_three_files(lab, capsys):
    assert "merge takes" in said(capsys, "merge", lab / "demo.yaml", status=2)


# ------------------------------------------------------------ with git


@pytest.fixture
def git(lab, monkeypatch):
    """A repository with the project's baselines and the merge driver of docs/devices.md."""
    if not shutil.which("git"):
        pytest.skip("needs git")
    for variable in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(variable)
    environment = {"HOME": str(lab), "PYTHONPATH": str(PLUGINS), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(*arguments, status=0):
        done = subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *arguments],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    run("init", "-q", "-b", "main")
    driver = f"{shlex.quote(sys.executable)} -m iogate.cli baseline merge %O %A %B --path %P"
    run("config", "merge.iogate.driver", driver)
    (lab.parent.parent / ".gitattributes").write_text("baselines/**/*.yaml merge=iogate\n")
    run("add", ".")
    run("commit", "-qm", "base")
    return run


def diverge(git, file, ours, theirs):
    git("checkout", "-qb", "theirs")
    theirs()
    git("add", ".")
    git("commit", "-qm", "theirs")
    git("checkout", "-q", "main")
    ours()
    git("add", ".")
    git("commit", "-qm", "ours")


def test_git_unites_two_appends_by_the_merge_driver(git, lab):
    file = lab / "demo.yaml"
    diverge(git, file, lambda: store(file, 3, "a", "b"), lambda: store(file, 2, "a", "b"))
    git("merge", "-q", "--no-edit", "theirs")
    assert sessions(file) == sessions(file, "b") == ["01", "02", "03"]
    assert git("status", "--porcelain") == ""


def test_git_unites_a_baseline_that_is_new_on_both_sides(git, lab):
    file = lab / "new.yaml"
    diverge(git, file, lambda: store(file, 3, suite="new"), lambda: store(file, 2, suite="new"))
    git("merge", "-q", "--no-edit", "theirs")
    assert sessions(file) == ["02", "03"]


def test_git_stops_at_two_machines_and_ours_is_left(git, lab):
    file = lab / "demo.yaml"
    replace = {"disk": "B", "mode": "replace"}
    diverge(git, file, lambda: store(file, 3, "a", "b"), lambda: store(file, 2, "a", "b", **replace))
    ours = file.read_bytes()
    text = git("merge", "-q", "--no-edit", "theirs", status=1)
    assert "baselines/lab/demo.yaml cannot be merged" in text
    assert "a: one side replaced the session 2026-01-01" in text
    assert "CONFLICT" in text
    assert file.read_bytes() == ours
