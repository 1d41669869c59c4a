"""Folders that are in another user's power; the one for temporary files, or why there is none."""

import os
import tempfile

import pytest

from iogate.host.exposure import danger, safe_temporary_folder

OTHER = 65534


@pytest.fixture
def named(tmp_path, monkeypatch):
    """A folder that TMPDIR names."""
    folder = tmp_path / "around" / "named"
    folder.mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_the_users_own_is_taken(named):
    assert safe_temporary_folder() == str(named)


def test_one_that_all_may_write_to_is_taken_if_it_is_sticky(named):
    named.chmod(0o1777)
    assert safe_temporary_folder() == str(named)


@pytest.mark.parametrize("above", [False, True])
def test_one_that_others_may_rename_things_in_is_not(named, above):
    wrong = named.parent if above else named
    wrong.chmod(0o777)
    assert safe_temporary_folder() in ("/tmp", "/var/tmp")
    assert "can be written by others (chmod +t" in danger(str(named))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("mode", [0o700, 0o1777])
@pytest.mark.parametrize("above", [False, True])
def test_one_of_another_user_is_not(named, mode, above):
    wrong = named.parent if above else named
    wrong.chmod(mode)
    os.chown(wrong, OTHER, OTHER)
    assert safe_temporary_folder() in ("/tmp", "/var/tmp")
    assert danger(str(named)) == f"{wrong} belongs to user {OTHER}"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_link_counts_as_what_it_leads_to_now(named, tmp_path, monkeypatch):
    held = tmp_path / "of-another"
    held.mkdir()
    os.chown(held, OTHER, OTHER)
    (held / "link").symlink_to(named)
    monkeypatch.setattr(tempfile, "tempdir", str(held / "link"))
    assert safe_temporary_folder() == str(named)  # and not the link, which may lead elsewhere in a moment


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_group_counts_as_others_unless_it_is_the_users_alone(named):
    named.chmod(0o775)
    assert danger(str(named)) == ""  # as the umask 002 of Fedora makes it
    os.chown(named, 0, OTHER)
    assert "can be written by others" in danger(str(named))


def test_where_there_is_none_the_reason_and_the_way_out_are_said(named, tmp_path):
    named.chmod(0o777)
    with pytest.raises(OSError, match=rf"{named} can be written by others .*; name .* in TMPDIR"):
        safe_temporary_folder(usual=[str(tmp_path / "missing")])
    named.chmod(0o755)
    file = tmp_path / "file"
    file.touch()
    assert danger(str(file)) == f"{file} is no folder"
    assert "No such file" in danger(str(tmp_path / "missing"))
