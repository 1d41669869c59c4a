"""How much of the work of the session before a device has not rested from."""

import json
import os
import time

import pytest

from another_user import USER, as_its_owner, directory  # noqa: F401 (fixture)
from iogate.model import Environment
from iogate.target.rest import _Moment, noting, unrested_work

MACHINE = {"host": "orin"}
ORIN = Environment(MACHINE, boot="1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where notes are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/iogate"


class Machine:
    """The one that pytest is on: its clock, and how long it is up."""

    def __init__(self):
        self.clock, self.up, self.boot = time.time(), 1e6, "boot"

    def wait(self, seconds):
        self.clock += seconds
        self.up += seconds

    def boots(self, clock, up=0.0):
        self.clock, self.up, self.boot = clock, up, f"{self.boot} again"


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    own = Machine()
    monkeypatch.setattr("iogate.target.rest._Moment.now", lambda: _Moment(own.clock, own.up, own.boot))
    return own


@pytest.fixture
def noted(folder, machine):
    """Notes a session that measured for so many seconds, and ended a time ago."""

    def note(work, ago, device="orin", environment=ORIN):
        machine.wait(-ago - work)
        note = noting(device, environment)
        machine.wait(work)
        note(work)
        machine.wait(ago)

    return note


@pytest.mark.parametrize(("ago", "left"), [(0, 60), (60, 40), (90, 30), (177, 1), (182, 0), (3600, 0)])
def test_a_device_has_rested_after_three_times_what_it_was_measured_for(noted, ago, left):
    """It was half of that, which is not enough for what gets cold more slowly than it got hot; and what has
    rested a while is not what has not rested at all.
    """
    noted(60, ago)
    assert unrested_work("orin", ORIN) == near(left)


@pytest.mark.parametrize("set_by", [-3600, -50 * 365 * 86400, 3600, 50 * 365 * 86400])
def test_whoever_sets_the_clock_changes_no_rest(noted, machine, set_by):
    """A hot device was at rest once its clock had been set."""
    noted(60, 30)
    machine.clock += set_by
    assert unrested_work("orin", ORIN) == near(50)
    machine.wait(90)
    assert unrested_work("orin", ORIN) == near(20)


@pytest.mark.parametrize(
    ("clock", "up", "left"),
    [
        (30, 20, 50),
        (30, 0, 50),
        (-7200, 20, 53.3),  # a board without a battery begins with the time that was written last
        (-50 * 365 * 86400, 150, 10),
        (600, 20, 0),  # it was off
    ],
)
def test_a_device_rests_while_its_machine_is_booted_anew(noted, machine, clock, up, left):
    noted(60, 0)
    machine.boots(machine.clock + clock, up)
    assert unrested_work("orin", ORIN) == near(left)


def test_of_a_machine_that_says_nothing_of_its_boots_the_clock_is_believed(noted, machine):
    machine.boot = ""
    noted(60, 30)
    assert unrested_work("orin", ORIN) == near(50)
    machine.clock -= 3600
    assert unrested_work("orin", ORIN) == near(60)


def near(seconds):
    return pytest.approx(seconds, abs=0.5)


@pytest.mark.parametrize(("ago", "left"), [(0, 7200), (1800, 3600), (3599, 2), (3700, 0)])
def test_an_hour_is_rest_enough(noted, ago, left):
    noted(7200, ago)
    assert unrested_work("orin", ORIN) == pytest.approx(left, abs=2)


def test_what_is_left_of_several_sessions_counts_together(noted):
    """One short test, run again and again, made a device hot behind what the first of them had done."""
    noted(500, 150)
    assert unrested_work("orin", ORIN) == near(450)
    noted(100, 30)
    assert unrested_work("orin", ORIN) == near(450 + 90)
    noted(20, 0)
    assert unrested_work("orin", ORIN) == near(450 + 90 + 20)


def test_short_sessions_hand_on_no_longer_one_from_which_the_device_has_rested(noted):
    """Behind a soak of an hour at night a gate every 20 minutes was `inconclusive` all day."""
    noted(7200, 3700)
    for ago in (2400, 1200, 30):
        noted(60, ago)
    assert unrested_work("orin", ORIN) == near(50)


def test_files_in_memory_heat_no_device(noted):
    noted(500, 1, device="quick", environment=Environment(MACHINE, {"file_system": "tmpfs"}, boot="1"))
    assert unrested_work("orin", ORIN) == 0


def test_what_a_session_noted_before_is_replaced(folder, machine):
    note = noting("orin", ORIN)
    for work in (5.0, 10.0, 15.0):
        machine.clock -= 3600
        note(work)
    (file,) = folder.iterdir()
    assert [work for work, *_ in json.loads(file.read_text())["sessions"]] == [15]
    machine.wait(0.1)
    noting("orin", ORIN)(3.0)
    assert [work for work, *_ in json.loads(file.read_text())["sessions"]] == [15, 3]
    assert unrested_work("orin", ORIN) == near(18)


def test_of_this_device_on_this_machine(noted):
    noted(100, 30)
    assert unrested_work("orin", ORIN) == near(90)
    assert unrested_work("orin", Environment({"host": "another"}, boot="1")) == 0
    assert unrested_work("other", Environment(MACHINE)) == 0


def test_of_another_profile_of_the_same_disk_too(noted):
    """A loss of 15% was `improved`, as the profile before had heated the disk whenever it was recorded."""
    noted(100, 0, "database")
    noted(30, 5, "logs", Environment({**MACHINE, "disk_serial": "2"}, boot="1"))
    own = {**MACHINE, "disk_serial": "1"}
    assert [unrested_work("orin", Environment(own, boot=boot)) for boot in ("1", "2", "")] == near(
        [100, 0, 0]
    )
    noted(130, 0, "logs", Environment(own, boot="1"))
    assert unrested_work("orin", Environment(own, boot="1")) == near(230)
    assert unrested_work("orin", Environment(own, boot="2")) == near(130)  # an image is booted between them


@pytest.mark.parametrize(
    "wrong",
    [
        *({"sessions": [[work, time.time(), 1e6, "boot"]]} for work in ("60", -1, 1e308, True, None)),
        *({"sessions": wrong} for wrong in (60, [60], [[60]], [[60, None, 1e6, "boot"]], {}, None)),
        *({"sessions": [[60, *wrong]]} for wrong in ([1e9], [1e9, "1", "boot"], [1e9, 1e6, 7])),
        *({"boot": 1}, {"identity": []}, {"identity": {"host": 1}}, "", "{", "[]", "{}", "9" * 70_000),
    ],
    ids=range(22),
)
def test_what_is_no_note_tells_nothing(folder, noted, wrong):
    noted(60, 0)
    (file,) = folder.iterdir()
    known = json.loads(file.read_text())
    file.write_text(wrong if isinstance(wrong, str) else json.dumps(known | wrong))
    assert unrested_work("orin", ORIN) == 0


def test_another_machine_of_the_same_name_is_another_one(noted):
    """Boards at one bench, and disks that several call `local`: the one measured last hid the others."""
    noted(60, 0)
    noted(1, 0, environment=Environment({"host": "another"}, boot="1"))
    assert unrested_work("orin", ORIN) == near(60)


def test_old_notes_are_removed(noted, folder):
    noted(60, 0, "old")
    (old,) = folder.iterdir()
    os.utime(old, (time.time() - 10 * 86400,) * 2)
    noted(60, 0)
    (folder / "wear-orin.json").touch()
    os.utime(folder / "wear-orin.json", (0, 0))
    noted(60, 0)
    assert not old.exists() and len([*folder.glob("work-*")]) == 1 and (folder / "wear-orin.json").exists()


@pytest.fixture(params=["no folder", "no home"])
def no_state(request, folder, monkeypatch, tmp_path):
    """A user whose folder for what programs remember cannot be written to, as on a read-only root; returns
    the one for temporary files.
    """
    if request.param == "no home":
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.setattr("pathlib.Path.home", homeless)
    else:
        folder.parent.mkdir()
        folder.write_text("no folder")
    usual = tmp_path / "temporary"
    usual.mkdir(mode=0o700)
    monkeypatch.setattr("iogate.target.rest.safe_temporary_folder", lambda: str(usual))
    return usual


def test_what_cannot_be_noted_among_what_programs_remember_is_temporary(noted, no_state):
    """An unchanged device was `regressed`, as nothing told that it was hot."""
    noted(60, 0)
    assert unrested_work("orin", ORIN) == near(60)
    assert [path.name for path in no_state.iterdir()] == [f"iogate-{os.geteuid()}"]


def test_what_can_be_noted_nowhere_is_not(noted, no_state):
    no_state.rmdir()
    no_state.write_text("no folder")
    noted(60, 0)
    assert unrested_work("orin", ORIN) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a folder to another user")
def test_a_folder_that_another_user_put_there_once_it_was_looked_at_tells_nothing(
    noted, no_state, monkeypatch
):
    """In one of a hundred races a note of his told root's device to be hot, which hid a loss."""
    noted(60, 0)
    (own,) = no_state.iterdir()
    os.chown(own, 12345, 12345)
    monkeypatch.setattr("iogate.target.rest.danger", lambda folder: "")
    assert unrested_work("orin", ORIN) == 0


def test_notes_that_others_may_have_put_there_tell_nothing(noted, no_state):
    noted(60, 0)
    (own,) = no_state.iterdir()
    own.chmod(0o777)
    assert unrested_work("orin", ORIN) == 0
    noted(70, 0)
    own.chmod(0o755)
    assert unrested_work("orin", ORIN) == near(60)  # without those of 70


def homeless():
    raise RuntimeError("no home")


def test_links_are_no_notes(folder, noted, tmp_path):
    noted(60, 0)
    (file,) = folder.iterdir()
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert unrested_work("orin", ORIN) == 0
