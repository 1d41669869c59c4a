"""Baselines in a folder of another user, who puts a link to another project's in the place of a device's."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import contextlib
import errno
import os
import sys

import pytest

from another_user import as_its_owner, directory  # noqa: F401 (fixture)
from iogate.errors import BaselineError
from iogate.judge.baseline import require_writable, update
from iogate.model import Environment
from iogate.offline import baselines

MEASURED = {"a": ({"engine": "fio", "rw": "read"}, {"read.iops": [1000.0, 1001.0]})}


def store(file, session="s1"):
    update(file, "lab", "quick", session, Environment(), "a reason", MEASURED, "append")


@pytest.fixture
def victim(tmp_path, monkeypatch):
    """The baseline of root's own project."""
    monkeypatch.delenv("SUDO_UID", raising=False)
    file = tmp_path / "baselines" / "lab" / "quick.yaml"
    store(file, "of root")
    return file


@pytest.fixture
def file(directory, victim):
    """The baseline in the other user's folder."""
    with as_its_owner():
        (directory / "lab").mkdir()
    store(directory / "lab" / "quick.yaml")
    return directory / "lab" / "quick.yaml"


def swapping(module, name, file, victim, monkeypatch):
    """Have the other user replace the device's folder when a function was called for the first time."""
    real = getattr(module, name)

    def swap(*given, **more):
        found = real(*given, **more)
        with contextlib.suppress(FileExistsError), as_its_owner():
            if not file.parent.is_symlink():
                file.parent.rename(file.parent.with_name("aside"))
                file.parent.symlink_to(victim.parent)
        return found

    monkeypatch.setattr(module, name, swap)


MOMENTS = [
    ("iogate.judge.baseline.update", "refuse_links"),
    ("iogate.judge.baseline.update", "refuse_fleet"),
    ("iogate.judge.baseline.update", "read"),
    ("iogate.judge.baseline.storage", "baseline_text"),
]


@pytest.mark.parametrize(("module", "name"), MOMENTS)
def test_a_session_is_not_stored_elsewhere(file, victim, monkeypatch, module, name):
    before = victim.read_bytes()
    swapping(sys.modules[module], name, file, victim, monkeypatch)
    with pytest.raises(BaselineError):
        store(file, "s2")
    assert victim.read_bytes() == before and list(victim.parent.iterdir()) == [victim]


def test_nothing_is_dropped_elsewhere(file, victim, monkeypatch):
    before = victim.read_bytes()
    swapping(baselines, "_require", file, victim, monkeypatch)
    baselines.drop(file, ["a"], [])
    assert victim.read_bytes() == before and list(victim.parent.iterdir()) == [victim]


def test_a_link_of_another_user_is_told_before_anything_is_measured(directory, victim):
    with as_its_owner():
        (directory / "baselines").symlink_to(victim.parents[1])
    with pytest.raises(BaselineError, match=r"baselines is a symbolic link of user .*, and not followed"):
        require_writable(directory / "baselines" / "lab" / "quick.yaml", "quick")


def test_a_folder_that_goes_while_baselines_are_looked_for_is_told(tmp_path, monkeypatch):
    def gone(folder, pattern):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))

    monkeypatch.setattr("pathlib.Path.rglob", gone)
    with pytest.raises(BaselineError, match=r"cannot read .*: No such file"):
        baselines.rename(tmp_path, tmp_path / "other")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make things of others")
@pytest.mark.parametrize(("folder_of", "file_of", "fine"), [(0, 0, False), (0, 7, True), (7, 0, True)])
def test_what_the_sticky_bit_keeps_is_known_before_anything_is_measured(
    tmp_path, monkeypatch, folder_of, file_of, fine
):
    """In a folder that a team shares with it, a colleague's file can be read, and not replaced."""
    file = tmp_path / "lab" / "quick.yaml"
    file.parent.mkdir()
    file.write_text("schema: 1\ndevice: lab\nsuite: quick\nworkloads: {}\n")
    file.parent.chmod(0o1777)
    os.chown(file, file_of or 8, -1)
    os.chown(file.parent, folder_of or 8, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 7)
    with contextlib.nullcontext() if fine else pytest.raises(BaselineError, match="sticky bit"):
        require_writable(file, "quick")
