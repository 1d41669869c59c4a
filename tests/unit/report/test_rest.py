"""How much of the work of the session before a device has not rested from."""

import os
import time

import pytest

from iogate.model import Environment
from iogate.report.rest import unrested_work
from iogate.report.results import SCHEMA, RepetitionRecord, Results, WorkloadRecord

MACHINE = {"host": "orin"}


@pytest.fixture
def kept(tmp_path):
    """Keeps a session that measured for so many seconds, behind others, and ended a time ago."""
    tmp_path.chmod(0o700)

    def keep(work, ago, device="orin", machine=MACHINE, behind=0.0, lasted=None, boot=""):
        ended = time.time() - ago
        begun = time.gmtime(ended - (work + 10 if lasted is None else lasted))
        name = time.strftime("%Y-%m-%dT%H:%M:%SZ", begun) + f"-{len(os.listdir(tmp_path)):04x}"
        (tmp_path / name).mkdir(mode=0o700)
        one, last = (
            RepetitionRecord({}, seconds=work / 2, worked=behind + before) for before in (0.0, work / 2)
        )
        records = (
            WorkloadRecord("a", "s", "a", "fio", {}, "pass", "", 0, {}, warmup=(one,)),
            WorkloadRecord("b", "s", "b", "fio", {}, "pass", "", 1, {}, measured=(last,)),
        )
        around = Environment(machine, boot=boot)
        Results(SCHEMA, device, name, records, around).write(tmp_path / name / "results.json")
        (tmp_path / name / "results.json").chmod(0o600)
        os.utime(tmp_path / name / "results.json", (ended, ended))
        return tmp_path / name

    return keep


def work(folder, device="orin"):
    return unrested_work(folder, device, Environment(MACHINE))


@pytest.mark.parametrize(("ago", "left"), [(0, 60), (20, 60), (28, 60), (32, 0), (3600, 0)])
@pytest.mark.parametrize("behind", [0.0, 40.0])
def test_a_device_has_rested_after_half_of_the_time_that_it_was_measured_for(
    kept, tmp_path, ago, left, behind
):
    kept(60, ago, behind=behind)
    assert work(tmp_path) == left


def test_of_the_newest_of_this_device_on_this_machine(kept, tmp_path):
    kept(500, 100)
    kept(100, 40)
    kept(30, 5, device="other")
    kept(20, 2, machine={"host": "another"})
    assert (work(tmp_path), work(tmp_path, "other"), work(tmp_path, "none")) == (100, 30, 0)


def test_of_another_profile_of_the_same_disk_too(kept, tmp_path):
    """A loss of 15% was `improved`, as the profile before had heated the disk whenever it was recorded."""
    kept(100, 40, device="database", boot="1")
    kept(30, 5, device="database", machine={**MACHINE, "disk_serial": "2"}, boot="1")
    own = {**MACHINE, "disk_serial": "1"}
    found = [unrested_work(tmp_path, "orin", Environment(own, boot=boot)) for boot in ("1", "2", "")]
    assert found == [100, 0, 0]


def test_a_short_one_hides_no_long_one_before_it(kept, tmp_path):
    kept(3, 1, behind=60.0)
    assert work(tmp_path) == 60


def test_it_is_found_among_those_of_many_devices(kept, tmp_path):
    kept(100, 40)
    for number in range(12):
        kept(30, 5, device=f"other{number}")
    assert work(tmp_path) == 100


@pytest.mark.parametrize(("ago", "lasted"), [(-3600, 70), (5, 36000)])
def test_files_of_a_time_to_come_and_copies_of_just_now_tell_nothing(kept, tmp_path, ago, lasted):
    """A board without a clock, and the cache of a pipeline: each run was behind the last one, whenever."""
    folder = kept(60, max(ago, 0), lasted=lasted)
    ended = time.time() - ago
    os.utime(folder / "results.json", (ended, ended))
    assert work(tmp_path) == 0


def test_what_laid_data_out_for_long_is_no_copy(kept, tmp_path):
    """Run again at once it was taken for rested: its files are as old as its measuring is long."""
    folder = kept(60, 5, lasted=900)
    (folder / "output.json").touch()
    assert work(tmp_path) == 0
    os.utime(folder / "output.json", (time.time() - 50,) * 2)
    assert work(tmp_path) == 60


def test_no_document_is_read_of_a_session_that_cannot_have_measured_so_long(kept, tmp_path):
    """It is asked before each run, and documents may be large."""
    (kept(60, 20, lasted=30) / "results.json").write_text("{")
    kept(60, 40, lasted=30)
    assert work(tmp_path) == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}'])
def test_damaged_ones_tell_nothing(kept, tmp_path, text):
    (kept(60, 0) / "results.json").write_text(text)
    assert work(tmp_path) == 0


def test_none_is_known_where_there_is_none(tmp_path, kept):
    assert work(tmp_path) == work(tmp_path / "none") == 0
    (kept(60, 0) / "results.json").unlink()
    assert work(tmp_path) == 0
