"""The script by which a pipeline takes what strangers propose: data, and nothing that anything would run."""

import subprocess

import pytest

from places import ROOT

SCRIPT = ROOT / "docs/ci/take.sh"
OURS = {
    "suites/a.yaml": "ours",
    "suites/gone.yaml": "ours",
    "suites/own.fio": "ours",
    "suites/conftest.py": "ours",
    "baselines/lab/device.yaml": "ours",
    "baselines/lab/a.yaml": "ours",
    "conftest.py": "ours",
    "pytest.ini": "ours",
}
DATA = {
    "suites/a.yaml": "theirs",
    "suites/nightly/b.yml": "theirs",
    "suites/own.fio": "theirs",
    "baselines/lab/a.yaml": "theirs",
    "baselines/lab.2/nightly/b.yaml": "theirs",
}
PROGRAMS = {
    "conftest.py": "theirs",
    "numpy.py": "theirs",
    "pytest.ini": "theirs",
    "pyproject.toml": "theirs",
    "baselines/lab/device.yaml": "theirs",
    "baselines/new/device.yaml": "theirs",
    "baselines/new/Device.yaml": "theirs",
    "suites/__init__.py": "theirs",
    "suites/conftest.py": "theirs",
    "suites/a.yaml.d/conftest.py": "theirs",
    "suites/folder.yaml/conftest.py": "theirs",
    "suites/folder.yaml/test_x.py": "theirs",
    "suites/test_notes.txt": "theirs",
    "suites/x_test.py": "theirs",
    "other/suites/a.yaml": "theirs",
    "suites/suites/a.yaml": "theirs",
    "suites/baselines/local/a.yaml": "theirs",
}


@pytest.fixture
def git(tmp_path):
    """Run git in a repository that knows no settings of the user's, and has our files."""
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"}
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]

    def run(*words):
        subprocess.run(["git", *person, *words], cwd=tmp_path, env=own, check=True, capture_output=True)

    run("init", "-q", "-b", "main")
    write(tmp_path, OURS)
    run("add", ".")
    run("commit", "-qm", "ours")
    run("checkout", "-qb", "theirs")
    return run


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def propose(git, branch="theirs"):
    """Commit what is there as theirs, and go back to ours."""
    commit(git)
    git("checkout", "-q", "main")
    git("fetch", "-q", ".", branch)


def commit(git):
    git("add", "-A")
    git("commit", "-qm", "changes")


def take(folder):
    """Take what is proposed; return how that ended, and what is in the folder then."""
    done = subprocess.run(
        ["sh", SCRIPT, "FETCH_HEAD"], cwd=folder, capture_output=True, text=True, check=False
    )
    files = [path for path in folder.rglob("*") if not path.is_dir() and ".git" not in path.parts]
    assert not [path for path in files if path.is_symlink()]
    return done, {path.relative_to(folder).as_posix(): path.read_text() for path in files}


def left(done):
    """Return the files of which it is told that they stay as they are."""
    return {line.partition(": ")[2] for line in done.stdout.splitlines() if " leaves " in line}


def test_it_takes_suites_job_files_and_baselines_and_nothing_else(git, tmp_path):
    write(tmp_path, DATA | PROGRAMS)
    (tmp_path / "suites/gone.yaml").unlink()
    propose(git)
    done, found = take(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert found == {name: text for name, text in OURS.items() if name != "suites/gone.yaml"} | DATA
    assert left(done) == {"other" if name.startswith("other/") else name for name in PROGRAMS}
    assert "take.sh takes suites/nightly/b.yml\n" in done.stdout
    assert "take.sh removes suites/gone.yaml\n" in done.stdout


def test_a_link_is_no_data_and_takes_nobodys_place(git, tmp_path):
    """pytest enters one that leads to a folder, whatever it is called."""
    (tmp_path / "suites/x.yaml").symlink_to("/tmp")
    (tmp_path / "suites/a.yaml").unlink()
    (tmp_path / "suites/a.yaml").symlink_to("../pytest.ini")
    (tmp_path / "baselines/new").symlink_to("/")
    propose(git)
    done, found = take(tmp_path)
    assert (done.returncode, found) == (0, OURS)
    assert left(done) == {"suites/x.yaml", "suites/a.yaml", "baselines/new"}


@pytest.mark.parametrize("name", ["baselines/lab/device.yaml", "suites/conftest.py"])
def test_no_folder_takes_the_place_of_a_file_of_ours(git, tmp_path, name):
    (tmp_path / name).unlink()
    write(tmp_path, {f"{name}/x.yaml": "theirs"})
    propose(git)
    done, found = take(tmp_path)
    assert done.returncode == 1
    assert f"nothing is taken: a folder of theirs is called as a file here: {name}\n" in done.stderr
    assert found == OURS


def test_what_we_changed_since_theirs_began_stays(git, tmp_path):
    write(tmp_path, {"suites/theirs.yaml": "theirs"})
    propose(git)
    newer = {"suites/newer.yaml": "newer", "baselines/lab/a.yaml": "newer"}
    write(tmp_path, newer)
    (tmp_path / "suites/gone.yaml").unlink()
    commit(git)
    done, found = take(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    ours = {name: text for name, text in OURS.items() if name != "suites/gone.yaml"}
    assert found == ours | newer | {"suites/theirs.yaml": "theirs"}


@pytest.mark.parametrize("removed", [True, False])
def test_what_both_changed_is_not_decided_here(git, tmp_path, removed):
    write(tmp_path, {"suites/a.yaml": "theirs", "suites/b.yaml": "theirs"})
    propose(git)
    write(tmp_path, {"suites/a.yaml": "newer"})
    if removed:
        (tmp_path / "suites/a.yaml").unlink()
    commit(git)
    done, found = take(tmp_path)
    assert done.returncode == 1
    assert "nothing is taken: both have changed, since theirs began: suites/a.yaml" in done.stderr
    assert "suites/b.yaml" not in found


def test_a_second_proposal_is_not_mixed_with_the_first(git, tmp_path):
    write(tmp_path, {"suites/first.yaml": "theirs"})
    propose(git)
    take(tmp_path)
    done, found = take(tmp_path)
    assert done.returncode == 1 and "git reset --hard" in done.stderr
    git("reset", "--hard")
    git("checkout", "-qb", "second")
    write(tmp_path, {"suites/second.yaml": "theirs"})
    propose(git, "second")
    done, found = take(tmp_path)
    assert done.returncode == 0
    assert found == OURS | {"suites/second.yaml": "theirs"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_git_ignores_here_is_of_this_checkout_alone(git, tmp_path, kind):
    """`iogate init` has the machine's own baselines ignored: git holds such files for nothing."""
    (tmp_path / ".gitignore").write_text("/baselines/local/*\n/suites/own\n")
    git("checkout", "-q", "main")
    commit(git)
    git("checkout", "-qB", "theirs")
    write(
        tmp_path,
        {"baselines/local/a.yaml": "theirs", "suites/own/b.yaml": "theirs", "suites/c.yaml": "theirs"},
    )
    git("add", "-fA")
    propose(git)
    write(tmp_path, {"baselines/local/a.yaml": "measured here"})
    if kind == "link":
        (tmp_path / "suites/own").symlink_to("..")
    else:
        (tmp_path / "suites/own").write_text("mine")
    done = subprocess.run(
        ["sh", SCRIPT, "FETCH_HEAD"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (tmp_path / "baselines/local/a.yaml").read_text() == "measured here"
    assert (tmp_path / "suites/own").is_symlink() is (kind == "link")
    if kind == "file":
        assert (done.returncode, (tmp_path / "suites/own").read_text()) == (0, "mine")
        assert left(done) == {"baselines/local/a.yaml", "suites/own/b.yaml"}
    else:
        assert done.returncode == 1 and "beyond a symbolic link" in done.stderr


def test_a_folder_that_git_ignores_is_no_place_for_a_file(git, tmp_path):
    (tmp_path / ".gitignore").write_text("mine\n")
    git("checkout", "-q", "main")
    commit(git)
    git("checkout", "-qB", "theirs")
    write(tmp_path, {"suites/x.yaml": "theirs"})
    propose(git)
    write(tmp_path, {"suites/x.yaml/mine": "mine"})
    done, found = take(tmp_path)
    assert done.returncode == 1 and "what is of this checkout alone: suites/x.yaml" in done.stderr
    assert found["suites/x.yaml/mine"] == "mine"


def test_what_a_run_before_left_is_seen(git, tmp_path):
    write(tmp_path, {"suites/b.yaml": "theirs"})
    propose(git)
    write(tmp_path, {"baselines/lab/b.yaml": "recorded", ".venv/x": "not of the repository"})
    done, _ = take(tmp_path)
    assert done.returncode == 1 and "git clean -fd" in done.stderr
    (tmp_path / "baselines/lab/b.yaml").unlink()
    done, _ = take(tmp_path)
    assert done.returncode == 0


def test_what_began_in_several_places_is_refused(git, tmp_path):
    """Of two that have merged each other's beginning, git takes one or the other for the last in common."""
    write(tmp_path, {"suites/b.yaml": "theirs"})
    commit(git)
    git("branch", "theirs-1")
    git("checkout", "-q", "main")
    write(tmp_path, {"suites/a.yaml": "newer"})
    commit(git)
    git("branch", "main-1")
    git("merge", "-q", "--no-edit", "theirs-1")
    git("checkout", "-q", "theirs")
    git("merge", "-q", "--no-edit", "main-1")
    write(tmp_path, {"suites/c.yaml": "theirs"})
    propose(git)
    done, found = take(tmp_path)
    assert done.returncode == 1 and "began in several places" in done.stderr
    assert "suites/c.yaml" not in found


@pytest.mark.parametrize("kind", ["files", "folders", "bytes"])
def test_what_is_small_to_send_and_large_to_take_is_refused_in_time(git, tmp_path, kind):
    """Ten folders that are one, nine deep, or many names of one file: a thousand bytes that are ten million
    files, or as many folders; some kilobytes that are gigabytes.
    """

    def made(*words, text):
        done = subprocess.run(
            ["git", *words], cwd=tmp_path, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    content = "0" * 5_000_000 if kind == "bytes" else "theirs"
    leaf, names = made("hash-object", "-w", "--stdin", text=content), "abcdefghijklmnopqrstuvwxyz"
    node = made("mktree", text="".join(f"100644 blob {leaf}\t{name}.yaml\n" for name in names))
    if kind == "folders":
        node = made("mktree", text="")
    for _ in range(0 if kind == "bytes" else 8):
        node = made("mktree", text="".join(f"040000 tree {node}\t{name}\n" for name in names[:10]))
    root = made("mktree", text=f"040000 tree {node}\tsuites\n")
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    bomb = made(*person, "commit-tree", root, "-p", "HEAD", "-m", "bomb", text="")
    git("checkout", "-q", "main")
    git("update-ref", "refs/heads/theirs", bomb)
    git("fetch", "-q", ".", "theirs")
    done, found = take(tmp_path)
    assert done.returncode == 1 and "there are 10000 files and folders in their suites" in done.stderr
    assert found == OURS


def test_what_has_no_beginning_in_common_is_refused(git, tmp_path):
    git("checkout", "-q", "--orphan", "other")
    write(tmp_path, {"suites/b.yaml": "theirs"})
    propose(git, "other")
    done, found = take(tmp_path)
    assert done.returncode == 1 and "no commit in common" in done.stderr
    assert found == OURS


def test_a_part_of_the_history_is_not_enough(git, tmp_path):
    """Where main has taken something back, and merged what began before, another beginning would be found."""
    write(tmp_path, {"suites/b.yaml": "theirs"})
    propose(git)
    (tmp_path / ".git/shallow").write_text((tmp_path / ".git/refs/heads/main").read_text())
    done, found = take(tmp_path)
    assert done.returncode == 1 and "git fetch --unshallow" in done.stderr
    assert found == OURS


def test_a_project_may_be_a_folder_of_its_repository(git, tmp_path):
    place = "of a lab/störage (new)"
    write(tmp_path, {f"{place}/suites/own.yaml": "ours"})
    git("checkout", "-q", "main")
    commit(git)
    git("checkout", "-qB", "theirs")
    beside = ["of a lab/jobs/x.fio", "suites/b.yaml", "a lab/x"]
    theirs = [f"{place}/suites/a.yaml", f"{place}/conftest.py", *beside]
    write(tmp_path, dict.fromkeys(theirs, "theirs"))
    propose(git)
    done, found = take(tmp_path / place)
    assert done.returncode == 0
    assert found == {"suites/a.yaml": "theirs", "suites/own.yaml": "ours"}
    assert left(done) == {"suites", "a?lab", "of?a?lab/jobs", "of?a?lab/st??rage??new?/conftest.py"}


def test_names_are_told_and_steer_nobody(git, tmp_path):
    """A job's log takes some lines for commands (GitHub's `##[group]`, Azure's `##vso[...]`)."""
    names = ["suites/a b.yaml", "suites/##[group]x.yaml", "suites/\x1b[31mred.yaml", "suites/größe.yaml"]
    write(tmp_path, dict.fromkeys(names, "theirs"))
    propose(git)
    done, found = take(tmp_path)
    assert (done.returncode, done.stderr, found) == (0, "", OURS)
    assert len(left(done)) == len(names)
    assert "suites/a?b.yaml" in left(done)
    assert not {"#", "[", "\x1b"} & set(done.stdout)


def test_what_git_warns_of_steers_nobody_either(git, tmp_path):
    """It says names as they are where no file system could hold them."""

    def made(*words, text):
        done = subprocess.run(
            ["git", *words], cwd=tmp_path, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    blob = made("hash-object", "-w", "--stdin", text="theirs")
    tree = made("mktree", "-z", text=f"100644 blob {blob}\tx\0")
    long = "0" * 256 + "\n##vso[task.setvariable variable=x]y\n::stop-commands::x\n"
    suites = made("mktree", "-z", text=f"040000 tree {tree}\t{long}\x00100644 blob {blob}\ta.yaml\x00")
    root = made("mktree", text=f"040000 tree {suites}\tsuites\n")
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    theirs = made(*person, "commit-tree", root, "-p", "HEAD", "-m", "steers", text="")
    git("checkout", "-q", "main")
    git("update-ref", "refs/heads/theirs", theirs)
    git("fetch", "-q", ".", "theirs")
    done, found = take(tmp_path)
    assert (done.returncode, done.stderr, found["suites/a.yaml"]) == (0, "", "theirs")
    assert "##" not in done.stdout and "\n::" not in done.stdout


def test_what_goes_or_changes_is_told_before_any_number_of_others(git, tmp_path):
    """Behind 200 files that they added nobody read that a suite was gone, or had lost a workload."""
    git("checkout", "-q", "main")
    write(tmp_path, dict.fromkeys(("suites/zlast.yaml", "suites/zmore.yaml"), "ours"))
    commit(git)
    git("checkout", "-q", "-B", "theirs")
    (tmp_path / "suites/zlast.yaml").unlink()
    write(tmp_path, {f"baselines/aaa/{number}.yaml": "theirs" for number in range(300)})
    write(tmp_path, {"suites/zmore.yaml": "theirs"})
    propose(git)
    done, _ = take(tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("take.sh removes suites/zlast.yaml\ntake.sh changes suites/zmore.yaml\n")


def test_a_long_list_is_cut(git, tmp_path):
    write(tmp_path, {f"suites/{number}.yaml": "theirs" for number in range(300)})
    propose(git)
    done, found = take(tmp_path)
    assert done.returncode == 0 and "suites/299.yaml" in found
    assert len(done.stdout.splitlines()) == 201 and "... and more" in done.stdout
