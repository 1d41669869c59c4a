"""Files that are whole at every moment."""

import os

import pytest

from iogate.formats.atomic import write_atomically


@pytest.mark.parametrize(("before", "after"), [(0o666, 0o666), (0o600, 0o600), (None, 0o644)])
def test_a_file_keeps_its_mode_and_a_new_one_has_what_the_umask_leaves(tmp_path, before, after):
    file = tmp_path / "r.json"
    if before is not None:
        file.touch()
        file.chmod(before)
    mask = os.umask(0o022)
    write_atomically(file, "text")
    os.umask(mask)
    assert file.read_text() == "text" and file.stat().st_mode & 0o777 == after
    assert os.listdir(tmp_path) == ["r.json"]


@pytest.mark.skipif(os.geteuid() != 0, reason="a file of another user takes root")
@pytest.mark.parametrize(("before", "after"), [(0o666, 0o644), (0o620, 0o600), (0o600, 0o600)])
def test_who_put_a_file_there_first_does_not_say_who_else_may_write_to_the_new_one(tmp_path, before, after):
    file = tmp_path / "r.json"
    file.touch()
    file.chmod(before)
    os.chown(file, 12345, 12345)
    write_atomically(file, "text")
    assert (file.stat().st_uid, file.stat().st_mode & 0o777) == (0, after)


def test_the_mode_is_that_of_the_written_file_whatever_bears_its_name(tmp_path, monkeypatch):
    """Who owns the folder may put a link to a file of root's in the place of what is written there."""
    folder, victim = tmp_path / "folder", tmp_path / "victim"
    folder.mkdir()
    victim.touch(0o600)
    (folder / "r.json").touch()
    (folder / "r.json").chmod(0o666)
    real = os.fsync

    def replaced(descriptor):
        for part in folder.glob(".r.json.*"):
            part.unlink()
            part.symlink_to(victim)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", replaced)
    write_atomically(folder / "r.json", "text")
    assert victim.stat().st_mode & 0o777 == 0o600 and victim.read_bytes() == b""
