"""How much of the work of the session before a device has not rested from."""

import json
import os
import time

import pytest

from another_user import USER, as_its_owner, directory  # noqa: F401 (fixture)
from iogate.model import Environment
from iogate.target.rest import note_work, unrested_work

MACHINE = {"host": "orin"}
ORIN = Environment(MACHINE, boot="1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where notes are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/iogate"


@pytest.fixture
def noted(folder, monkeypatch):
    """Notes a session that measured for so many seconds, and ended a time ago."""

    def note(work, ago, device="orin", environment=ORIN):
        ended = time.time() - ago
        with monkeypatch.context() as then:
            then.setattr("iogate.target.rest.time.time", lambda: ended)
            note_work(device, environment, work)

    return note


@pytest.mark.parametrize(("ago", "left"), [(0, 60), (20, 60), (28, 60), (32, 0), (3600, 0), (-3600, 0)])
def test_a_device_has_rested_after_half_of_the_time_that_it_was_measured_for(noted, ago, left):
    noted(60, ago)
    assert unrested_work("orin", ORIN) == left


def test_of_the_newest_of_this_device_on_this_machine(noted):
    noted(500, 100)
    noted(100, 40)
    assert unrested_work("orin", ORIN) == 100
    assert unrested_work("orin", Environment({"host": "another"}, boot="1")) == 0
    assert unrested_work("other", Environment(MACHINE)) == 0


def test_of_another_profile_of_the_same_disk_too(noted):
    """A loss of 15% was `improved`, as the profile before had heated the disk whenever it was recorded."""
    noted(100, 40, "database")
    noted(30, 5, "logs", Environment({**MACHINE, "disk_serial": "2"}, boot="1"))
    own = {**MACHINE, "disk_serial": "1"}
    assert [unrested_work("orin", Environment(own, boot=boot)) for boot in ("1", "2", "")] == [100, 0, 0]
    noted(30, 1, "logs", Environment(own, boot="1"))
    assert unrested_work("orin", Environment(own, boot="1")) == 30


@pytest.mark.parametrize(
    "wrong",
    [
        *({"work": "60"}, {"work": -1}, {"work": 1e308}, {"work": True}, {"ended": None}, {"boot": 1}),
        *({"identity": []}, {"identity": {"host": 1}}, "", "{", "[]", "{}", "9" * 70_000),
    ],
    ids=range(13),
)
def test_what_is_no_note_tells_nothing(folder, noted, wrong):
    noted(60, 0)
    (file,) = folder.iterdir()
    known = json.loads(file.read_text())
    file.write_text(wrong if isinstance(wrong, str) else json.dumps(known | wrong))
    assert unrested_work("orin", ORIN) == 0


def test_another_machine_of_the_same_name_is_another_one(noted):
    """Boards at one bench, and disks that several call `local`: the one measured last hid the others."""
    noted(60, 5)
    noted(1, 0, environment=Environment({"host": "another"}, boot="1"))
    assert unrested_work("orin", ORIN) == 60


def test_old_notes_are_removed(noted, folder):
    noted(60, 0, "old")
    (old,) = folder.iterdir()
    os.utime(old, (time.time() - 10 * 86400,) * 2)
    noted(60, 0)
    (folder / "wear-orin.json").touch()
    os.utime(folder / "wear-orin.json", (0, 0))
    noted(60, 0)
    assert not old.exists() and len([*folder.glob("work-*")]) == 1 and (folder / "wear-orin.json").exists()


def test_what_cannot_be_noted_is_not(folder, noted, monkeypatch):
    folder.parent.mkdir()
    folder.write_text("no folder")
    noted(60, 0)
    assert unrested_work("orin", ORIN) == 0
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("pathlib.Path.home", homeless)
    noted(60, 0)
    assert unrested_work("orin", ORIN) == 0


def homeless():
    raise RuntimeError("no home")


def test_links_are_no_notes(folder, noted, tmp_path):
    noted(60, 0)
    (file,) = folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert unrested_work("orin", ORIN) == 0
