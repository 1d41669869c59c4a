"""Folders that are held: links of other users lead nowhere."""

import os
import resource
import stat

import pytest

from another_user import USER, as_its_owner, directory  # noqa: F401 (fixture)
from iogate.formats.held import held_folder, make_within, read_within


def test_own_links_are_followed_as_the_kernel_follows_them(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "up").symlink_to("../a/b/..")
    (tmp_path / "absolute").symlink_to(tmp_path / "a" / "up")
    with held_folder(tmp_path / "absolute" / "b") as folder:
        assert os.path.samestat(os.fstat(folder), os.stat(tmp_path / "a" / "b"))


def test_what_is_not_there_is_made_if_it_is_to_be(tmp_path):
    with pytest.raises(FileNotFoundError), held_folder(tmp_path / "new" / "er"):
        pass
    with held_folder(tmp_path / "new" / "er", make=True) as folder:
        os.mkdir("in", dir_fd=folder)
    assert (tmp_path / "new" / "er" / "in").is_dir()


@pytest.mark.parametrize("target", ["file", "nowhere", "itself"])
def test_what_leads_to_no_folder(tmp_path, target):
    (tmp_path / "file").touch()
    (tmp_path / "itself").symlink_to(target)
    with pytest.raises(OSError, match=r"."), held_folder(tmp_path / "itself" / "folder"):
        pass


def test_a_link_of_another_user_is_not_followed(directory, tmp_path, monkeypatch):  # noqa: F811
    with as_its_owner():
        (directory / "link").symlink_to(tmp_path)
    monkeypatch.delenv("SUDO_UID", raising=False)
    told = f"link is a symbolic link of user {USER}, and not followed"
    with pytest.raises(PermissionError, match=told), held_folder(directory / "link" / "new", make=True):
        pass
    assert os.listdir(tmp_path) == []
    monkeypatch.setenv("SUDO_UID", str(USER))
    with held_folder(directory / "link") as folder:
        assert os.path.samestat(os.fstat(folder), tmp_path.stat())


def test_only_regular_files_up_to_a_size_are_read(tmp_path):
    (tmp_path / "file").write_text("12345")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    with held_folder(tmp_path) as folder:
        assert stat.S_ISDIR(os.fstat(folder).st_mode)
        assert read_within(folder, "file", 5) == b"12345"
        for name, told in (("link", "symbolic link"), ("pipe", "no regular file"), ("file", "5 bytes")):
            with pytest.raises(OSError, match=told):
                read_within(folder, name, 4)


def test_a_new_file_that_cannot_be_written_whole_is_none(tmp_path):
    """An empty one was left on a full disk, and was there already for the next try."""
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    with held_folder(tmp_path) as folder:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4, most[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                make_within(folder, "a.yaml", "workloads: {}\n")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
        assert not any(tmp_path.iterdir())
        make_within(folder, "a.yaml", "workloads: {}\n")
    assert (tmp_path / "a.yaml").read_text() == "workloads: {}\n"
