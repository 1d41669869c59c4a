"""Old sessions go, the newest stay, and so does all that is no session, or in use."""

import os
import shutil

import pytest

from iogate.errors import IogateError
from iogate.report import session_folders
from iogate.report.session_folders import SessionFolder, _is_own, newest, prune, read_own


def session(results, day, content="results.json"):
    folder = results / f"2026-01-{day:02}T00:00:00Z-00ff"
    for repetition in ("random_read-1234abcd/pilot", "random_read-1234abcd/1/A", "fill_it-0000ffff/B-fill-1"):
        (folder / repetition / "tmp").mkdir(parents=True)
        for name in ("stdout", "stderr", "output.json", "tmp/log.0"):
            (folder / repetition / name).touch()
    (folder / content).write_text('{"run": {"ended": true}}')
    return folder


@pytest.mark.parametrize("keep", [1, 2, 5, 9])
def test_the_newest_stay(tmp_path, keep):
    names = [session(tmp_path, day).name for day in (3, 1, 5, 2, 4)]
    assert prune(tmp_path, keep) == sorted(names)[:-keep]
    assert sorted(os.listdir(tmp_path)) == sorted(names)[-keep:]


def test_sessions_of_a_time_to_come_are_neither_the_newest_nor_removed(tmp_path):
    """Where a clock was ahead, each run removed the one before it; where it is behind, they are the last."""
    names = [session(tmp_path, day).name for day in (1, 2, 3, 4)]
    for year in (2098, 2099):
        folder = session(tmp_path, 5)
        folder.rename(tmp_path / folder.name.replace("2026", str(year)))
    assert newest(tmp_path) == tmp_path / names[-1]
    assert prune(tmp_path, 2) == names[:2]
    assert [name[:4] for name in sorted(os.listdir(tmp_path))] == ["2026", "2026", "2098", "2099"]


def test_what_is_no_session_stays(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    (tmp_path / "2026-01-01T00:00:00Z-aaaa").symlink_to(elsewhere)
    (tmp_path / "2026-01-01T00:00:00Z-bbbb").touch()
    (tmp_path / "2026-01-01T00:00:00Z-cccc-keep").mkdir()
    before = sorted(os.listdir(tmp_path))
    newest, old = session(tmp_path, 9), session(tmp_path, 8)
    (session(tmp_path, 7) / "random_read-1234abcd" / "link").symlink_to(elsewhere)
    assert prune(tmp_path, 1) == [old.name]
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "2026-01-07T00:00:00Z-00ff", newest.name])
    assert (elsewhere / "precious").exists()


@pytest.mark.parametrize(
    "put",
    [
        "thesis.txt",
        "notes/thesis.txt",
        "link",
        "results.csv",
        "results.ods",
        ".results.json.swp",
        "analysis-20261122/plot.png",
        "analysis-20261122/more/plot.png",
        "random_read-1234abcd/notes.txt",
        "random_read-1234abcd/analysis/notes.txt",
    ],
)
def test_a_session_stays_in_which_somebody_put_something(tmp_path, put):
    old, _ = session(tmp_path, 1), session(tmp_path, 2)
    (old / put).parent.mkdir(parents=True, exist_ok=True)
    (old / put).symlink_to("results.json") if put == "link" else (old / put).touch()
    assert prune(tmp_path, 1) == []
    assert (old / put).exists()


@pytest.mark.parametrize("put", ["1/A/notes.txt", "1/A/tmp/notes.txt", "1/A/tmp/mine", "1/A/stdout"])
def test_what_came_after_the_end_of_a_session_is_somebodys(tmp_path, put):
    """Also beside what engines write, whose names nobody knows, and by renaming, which keeps its time."""
    old, _ = session(tmp_path, 1), session(tmp_path, 2)
    os.utime(old / "results.json", (1.7e9, 1.7e9))
    for path in old.rglob("*-*/**/*"):
        os.utime(path, (1.6e9, 1.6e9))
    for path in old.glob("*-*"):
        os.utime(path, (1.6e9, 1.6e9))
    mine = tmp_path / "mine"
    mine.mkdir() if put.endswith("mine") else mine.touch()
    os.utime(mine, (1.5e9, 1.5e9))
    with session_folders._locked(old) as held:
        assert _is_own(held)
    mine.rename(old / "random_read-1234abcd" / put)
    assert prune(tmp_path, 1) == [] and old.exists()


def test_a_session_with_folders_deeper_than_any_run_makes_stays(tmp_path):
    """Nothing goes as deep as they do, which would be further than Python does."""
    old = session(tmp_path, 1)
    deep = old / "random_read-1234abcd/1" / ("a/" * 100)
    deep.mkdir(parents=True)
    os.utime(old / "results.json", (2**32, 2**32))
    session(tmp_path, 2)
    assert prune(tmp_path, 1) == [] and deep.is_dir()


def test_a_session_that_was_killed_has_raw_files_younger_than_its_results(tmp_path):
    old, _ = session(tmp_path, 1), session(tmp_path, 2)
    (old / "results.json").write_text('{"run": {"ended": false}}')
    os.utime(old / "results.json", (1.7e9, 1.7e9))
    (session(tmp_path, 0) / "results.json").unlink()
    assert len(prune(tmp_path, 1)) == 2


def test_what_a_killed_run_was_writing_goes_with_its_session(tmp_path):
    (session(tmp_path, 1) / ".results.json.a1b2c3d4").touch()
    session(tmp_path, 2)
    assert len(prune(tmp_path, 1)) == 1


def test_a_session_that_another_run_is_in_stays(tmp_path):
    used, old, newest = session(tmp_path, 1), session(tmp_path, 2), session(tmp_path, 3)
    run = SessionFolder(used)
    assert prune(tmp_path, 1) == [old.name]
    run.close()
    assert used.exists(), "something is kept in it"
    assert prune(tmp_path, 1) == [used.name] and newest.exists()


def test_a_run_removes_old_sessions_beside_its_own_and_nowhere_else(tmp_path):
    results, others = tmp_path / "results", tmp_path / "others"
    for folder in (results, others):
        session(folder, 1)
        session(folder, 2)
    run = SessionFolder(session(results, 3))
    results.rename(tmp_path / "aside")
    results.symlink_to(others)
    run.prune(1)
    assert len(os.listdir(others)) == 2 and len(os.listdir(tmp_path / "aside")) == 3
    results.unlink()
    (tmp_path / "aside").rename(results)
    run.prune(2)
    assert len(os.listdir(results)) == 2
    run.close()


def test_another_users_session_stays(tmp_path):
    if os.geteuid():
        pytest.skip("needs root")
    other = session(tmp_path, 1)
    os.chown(other, 12345, 12345)
    session(tmp_path, 2)
    assert prune(tmp_path, 1) == [] and other.exists()


@pytest.mark.parametrize("taken", ["read", "removed"])
def test_what_takes_the_name_of_a_session_while_it_is_looked_at_is_neither_read_nor_removed(
    tmp_path, monkeypatch, taken
):
    """Who owns the folder of the results can rename in it, whoever measured."""
    old, _ = session(tmp_path, 1), session(tmp_path, 2)
    other, aside = tmp_path / "other", tmp_path / "aside"
    (other / "deep").mkdir(parents=True)
    (other / "results.json").symlink_to("/dev/zero")  # to be read without end
    before = "lock" if taken == "read" else "_is_own"
    original = getattr(session_folders, before)

    def swap(what):
        found = original(what)
        old.rename(aside)
        other.rename(old)
        return found

    monkeypatch.setattr(session_folders, before, swap)
    prune(tmp_path, 1)
    assert sorted(os.listdir(old)) == ["deep", "results.json"]
    assert os.listdir(aside) == []


def test_a_session_in_which_nothing_was_kept_leaves_no_folder(tmp_path):
    SessionFolder(tmp_path / "results" / "s").close()
    assert os.listdir(tmp_path / "results") == []


def test_without_a_folder_there_is_nothing_to_prune(tmp_path):
    assert prune(tmp_path / "none", 1) == []
    (tmp_path / "file").touch()
    SessionFolder(tmp_path / "file" / "s").close()


@pytest.mark.parametrize("put", ["a folder", "a link", "nothing"])
def test_what_took_the_place_of_a_sessions_folder_is_not_written_to(tmp_path, put):
    path, other = tmp_path / "results" / "s", tmp_path / "other"
    other.mkdir()
    (other / "results.json").write_text("of others")
    run = SessionFolder(path)
    run.write("results.json", "first")
    path.rename(tmp_path / "aside")
    if put == "a folder":
        other.rename(path)
    elif put == "a link":
        path.symlink_to(other)
    with pytest.raises(IogateError, match="somebody renamed or replaced its folder") as refused:
        run.write("results.json", "second")
    run.close()
    assert str(path / "results.json") in refused.value.message
    left = {file.read_text() for file in tmp_path.rglob("results.json")}
    assert left == {"first", "of others"}


def test_a_sessions_folder_that_was_removed_is_made_anew(tmp_path):
    run = SessionFolder(tmp_path / "results" / "s")
    shutil.rmtree(tmp_path / "results")
    run.write("results.json", "text")
    run.close()
    assert (tmp_path / "results" / "s" / "results.json").read_text() == "text"


def test_a_link_in_a_sessions_folder_is_replaced_and_not_followed(tmp_path):
    run = SessionFolder(tmp_path / "s")
    (tmp_path / "file").write_text("of others")
    (tmp_path / "s" / "results.json").symlink_to(tmp_path / "file")
    run.write("results.json", "text")
    run.close()
    assert (tmp_path / "file").read_text() == "of others"
    assert (tmp_path / "s" / "results.json").read_text() == "text"


def test_of_two_sessions_in_one_second_the_one_that_was_written_to_first_is_the_older(tmp_path):
    first, second = (tmp_path / f"2026-11-22T12:49:12Z-{end}" for end in ("ffff", "0000"))
    for order, folder in enumerate((first, second)):
        folder.mkdir()
        os.utime(folder, (order, order))
    assert prune(tmp_path, 1) == [first.name]
    assert second.exists()


@pytest.mark.parametrize(
    "wrong", ["folder", "file", "link to a folder", "link to a file", "pipe", "too large"]
)
def test_what_is_read_of_a_session_is_this_users_alone(tmp_path, wrong):
    folder = tmp_path / "session"
    folder.mkdir(mode=0o755)
    file = folder / "results.json"
    file.write_text("{}")
    file.chmod(0o644)
    assert read_own(folder, file.name, 2) == b"{}"
    if wrong in ("folder", "file"):
        (folder if wrong == "folder" else file).chmod(0o777)
    elif wrong == "link to a folder":
        folder.rename(tmp_path / "other")
        folder.symlink_to(tmp_path / "other")
    elif wrong == "too large":
        file.write_text("{ }")
    else:
        file.unlink()
        (folder / "other").write_text("{}")
        os.mkfifo(file) if wrong == "pipe" else file.symlink_to("other")
    with pytest.raises(OSError):
        read_own(folder, file.name, 2)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("wrong", ["folder", "file"])
def test_what_another_user_has_in_a_session_is_not_read(tmp_path, wrong):
    file = tmp_path / "results.json"
    file.write_text("{}")
    os.chown(tmp_path if wrong == "folder" else file, 12345, 12345)
    with pytest.raises(PermissionError):
        read_own(tmp_path, file.name, 2)


def test_nobody_else_may_write_to_results_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        folder = SessionFolder(tmp_path / "session")
        for text in ("{}", "[]"):  # also where there are some
            folder.write("results.json", text)
            assert (tmp_path / "session/results.json").stat().st_mode & 0o777 == 0o644
    finally:
        os.umask(before)
        folder.close()
