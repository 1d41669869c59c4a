"""Folders for what a run keeps."""

import os
import stat
import struct
from pathlib import Path

import pytest

from another_user import as_its_owner, directory  # noqa: F401 (fixture)
from iogate.host.own_folder import engine_folder, own_file, own_folder, own_umask
from iogate.host.process import run


def test_it_is_made_and_reached_whatever_becomes_of_its_name(tmp_path):
    folder = tmp_path / "results" / "session" / "workload"
    for text in ("one", "two"):  # it may be there
        with own_folder(folder, tmp_path / "results") as held:
            (held / "file").write_text(text)
            assert (folder / "file").read_text() == text
    with own_folder(folder, tmp_path / "results") as held:
        folder.parent.rename(tmp_path / "aside")
        (held / "file").write_text("three")
    assert (tmp_path / "aside/workload/file").read_text() == "three"
    assert not folder.exists() and not held.exists()


def test_links_lead_to_the_place_that_was_named_and_no_further(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "results").symlink_to(tmp_path / "elsewhere")
    with own_folder(tmp_path / "results/session", tmp_path / "results"):
        assert (tmp_path / "elsewhere/session").is_dir()
    (tmp_path / "elsewhere/link").symlink_to(tmp_path)
    for within in ("link", "link/session"):
        with (
            pytest.raises(OSError, match=r"a link or a file is in the way \(link\)"),
            own_folder(tmp_path / "results" / within, tmp_path / "results"),
        ):
            pass
    assert not (tmp_path / "session").exists()


def test_a_link_of_another_user_on_the_way_is_not_followed(directory, tmp_path):  # noqa: F811
    with as_its_owner():
        (directory / "link").symlink_to(tmp_path)
    for within in (directory / "link", directory / "link" / "new"):
        with pytest.raises(OSError, match="not followed"), own_folder(within / "session", within):
            pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mapped", [False, True])
def test_a_folder_of_another_user_is_refused_unless_all_that_is_made_there_is_that_ones(
    mapped, tmp_path, monkeypatch
):
    real = os.fstat

    def of_another(descriptor):
        status = list(real(descriptor))
        if mapped or os.path.isdir(f"/proc/self/fd/{descriptor}"):
            status[4] = os.geteuid() + 1
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", of_another)
    if mapped:
        with own_folder(tmp_path / "folder", tmp_path):
            pass
    else:
        with pytest.raises(OSError, match="it belongs to user"), own_folder(tmp_path / "folder", tmp_path):
            pass
    assert os.listdir(tmp_path / "folder") == []


@pytest.fixture(params=[0, 0o002])
def open_umask(request):
    """The umask of a shared place, or of a service that has none."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def for_others(*paths):
    """Return those that others than their owner may write to."""
    return [str(path) for path in map(Path, paths) if stat.S_IMODE(path.lstat().st_mode) & 0o022]


def make_as_a_run_does(tmp_path):
    """Make the folders of a repetition, and what is in them; return all of it."""
    with own_folder(tmp_path / "session/workload/1", tmp_path) as held:
        with open(held / "job.fio", "wb", opener=own_file) as stream:
            stream.write(b"[w]")
        run(["sh", "-c", "echo > output.json"], folder=held, timeout=30)
    made = list((tmp_path / "session").rglob("*"))
    assert {path.name for path in made} == {"workload", "1", "job.fio", "output.json", "stdout", "stderr"}
    return tmp_path / "session", *made


def test_nobody_else_may_write_to_what_is_made_there_whatever_the_umask(open_umask, tmp_path):
    assert for_others(*make_as_a_run_does(tmp_path)) == []


def test_nor_who_is_in_the_access_list_that_the_folder_above_hands_down(tmp_path):
    all_rights, nobody = 7, 0xFFFFFFFF
    entries = [(1, 7, nobody), (2, 7, 65534), (4, 7, nobody), (16, all_rights, nobody), (32, 5, nobody)]
    listed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", listed)
    except OSError:
        pytest.skip("needs a file system with access lists")
    made = make_as_a_run_does(tmp_path)
    assert for_others(*made) == []  # the bits of the group stand for all in the list
    reading = struct.pack("<HHI", 2, 5, 65534)  # as they may read, they go on so
    assert all(reading in os.getxattr(path, "system.posix_acl_default") for path in made if path.is_dir())


def test_who_lets_nobody_read_goes_on_so():
    before = os.umask(0o077)
    try:
        assert own_umask() == 0o077
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(before)


def test_an_engine_works_where_its_files_are_kept(tmp_path):
    with engine_folder(tmp_path / "session/1", tmp_path) as held:
        assert os.path.samefile(held, tmp_path / "session/1")
        assert os.listdir(held) == []


def test_a_link_that_others_put_there_is_not_written_through(tmp_path):
    (tmp_path / "victim").write_text("what root has")
    with own_folder(tmp_path / "session", tmp_path) as held:
        (held / "stderr").symlink_to(tmp_path / "victim")
        for mode in ("wb", "ab"):
            refused = pytest.raises(OSError, match="symbolic links")
            with refused, open(held / "stderr", mode, opener=own_file):
                pass
    assert (tmp_path / "victim").read_text() == "what root has"


@pytest.mark.parametrize("given_to", ["everybody", "another user"])
def test_an_engine_works_elsewhere_where_files_are_given_to_others(given_to, tmp_path, monkeypatch):
    """As where ntfs-3g or a share mounts all as 0777, or gives what root makes to another user."""
    real = os.fstat

    def of_others(descriptor):
        status = list(real(descriptor))
        if not stat.S_ISDIR(status[0]):
            if given_to == "everybody":
                status[0] |= 0o777
            else:
                status[4] = os.geteuid() + 1
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", of_others)
    (tmp_path / "victim").write_text("what root has")
    kept = tmp_path / "session/1"
    with pytest.raises(KeyboardInterrupt), engine_folder(kept, tmp_path) as folder:  # whatever ends it
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (kept / "output.json").symlink_to(tmp_path / "victim")
        (kept / "job.fio").write_text("exec_prerun=id")
        for name in ("job.fio", "output.json"):
            (folder / name).write_text(name)
        raise KeyboardInterrupt
    assert not folder.exists()
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        "job.fio": "job.fio",
        "output.json": "output.json",
    }
    assert (tmp_path / "victim").read_text() == "what root has"
