"""Blocks without data are told from those with some, wherever on the device they lie."""

import os

import pytest

from iogate.model import Reads, Region, Steps
from iogate.target import blank
from iogate.target.blank import Blocks, hole_shares, written_of

MIB = 2**20


@pytest.fixture
def device(tmp_path):
    """A file stands for the device: it is read alike."""

    def make(*parts):
        file = tmp_path / "device"
        file.write_bytes(b"".join(parts))
        return file

    return make


def blank_share(device, size, block):
    """The share of blank blocks in so many bytes."""
    found = Blocks(device, block).shares({"": (Region(0, size),)})
    return found[""] if found else None


@pytest.mark.parametrize("byte", [b"\x00", b"\xff"])
def test_what_was_never_written_is_blank(device, byte):
    assert blank_share(device(byte * MIB), MIB, 512) == 1


@pytest.mark.parametrize("data", [os.urandom(MIB), b"\xaa" * MIB, (b"\x00" * 4095 + b"x") * 256])
def test_data_are_not_blank(device, data):
    assert blank_share(device(data), MIB, 512) == 0


def test_an_eighth_is_seen_wherever_it_lies_and_the_same_each_time(device):
    parts = [os.urandom(MIB) for _ in range(16)]
    parts[3], parts[11] = bytes(MIB), bytes(MIB)
    found = {blank_share(device(*parts), 16 * MIB, 512) for _ in range(3)}
    assert found == {0.125}


def test_who_does_not_know_the_machine_does_not_know_where_it_is_looked(monkeypatch):
    """Trims between the places that everybody knew hid as much as they are."""
    places = []
    for id in ("a1", "b2"):
        monkeypatch.setattr(blank.sysfs, "text", lambda path, id=id: id)
        places.append(list(blank._places(Region(1000 * 4096, 100_000 * 4096), 4096, 256)))
    assert 255 < len(places[0]) == len(places[1]) < 512
    assert len({*places[0]} & {*places[1]}) < 12


@pytest.mark.parametrize("contained", [False, True])
def test_a_machine_is_known_by_what_stays_longest(monkeypatch, contained):
    """The image of a container has an id that everybody knows, or none; a board has none but its image's."""
    monkeypatch.setattr(blank, "_CONTAINERS", ("/proc",) if contained else ())
    ids = blank._ids()
    assert (blank._OF_IMAGE in ids) is not contained
    known = dict.fromkeys(ids, "")
    monkeypatch.setattr(blank.sysfs, "text", known.get)
    for id in reversed(ids):
        before = list(blank._places(Region(0, 100_000 * 4096), 4096, 256))
        known[id] = f"of {id}"
        first = list(blank._places(Region(0, 100_000 * 4096), 4096, 256))
        assert first != before
        for shorter in ids[ids.index(id) + 1 :]:
            known[shorter] = "other"
        assert list(blank._places(Region(0, 100_000 * 4096), 4096, 256)) == first


def test_only_what_a_job_reads_counts(device):
    """8 MiB of 512 that were trimmed are an eighth of what a job with an offset reads."""
    parts = [os.urandom(MIB) for _ in range(16)]
    parts[12] = bytes(MIB)
    where = {"hot": (Region(12 * MIB, 4 * MIB),), "scan": (Region(0, 16 * MIB),)}
    found = Blocks(device(*parts), 512).shares(where)
    assert found == {"hot": pytest.approx(0.25, abs=0.03), "scan": pytest.approx(1 / 16, abs=0.03)}


def test_zones_count_as_often_as_they_are_read(device):
    made = device(bytes(2 * MIB), os.urandom(14 * MIB))
    zoned = (Region(0, 2 * MIB, 90.0), Region(2 * MIB, 14 * MIB, 10.0))
    assert Blocks(made, 512).shares({"": zoned}) == {"": pytest.approx(0.9)}


@pytest.mark.parametrize("first", [0, 3 * 4096])
def test_in_steps_what_is_passed_over_is_not_looked_at(device, first):
    """An eighth of what is read in steps of 64 KiB is 0.8% of all blocks."""
    block, period = 4096, 65536
    data = bytearray(os.urandom(64 * MIB))
    for begin in range(first, 64 * MIB, 8 * period):
        data[begin : begin + block] = bytes(block)
    made, region = device(bytes(data)), Region(0, 64 * MIB, steps=Steps(first, period, block))
    assert Blocks(made, 512).shares({"": (region,)}) == {"": pytest.approx(0.125, abs=0.07)}
    assert {place % period for place in blank._places(region, 4096, 256)} == {first}
    beside = Region(0, 64 * MIB, steps=Steps(first + block, period, block))
    assert Blocks(made, 512).shares({"": (beside,)}) == {"": 0.0}


def test_less_than_a_page_is_looked_at_where_less_is_read(device):
    made = device((bytes(512) + os.urandom(7680)) * 2048)
    small = Region(0, 16 * MIB, steps=Steps(0, 8192, 512))
    assert Blocks(made, 512).shares({"": (small,)}) == {"": 1.0}


def test_in_steps_holes_of_a_file_count_where_it_is_read():
    held = [(begin + 4096, begin + 8192) for begin in range(0, 16 * MIB, 8192)]
    for first, missed in ((0, 1.0), (4096, 0.0)):
        where = {"": (Region(0, 16 * MIB, steps=Steps(first, 8192, 4096)),)}
        assert hole_shares(held, where, 0) == {"backing": missed}


def test_what_is_read_a_little_further_is_looked_at_in_the_same_places():
    """What reads in order by time comes so far, and a little further the next time."""
    first, other = ({*blank._places(Region(0, size * MIB), 4096, 256)} for size in (300, 310))
    assert first < other
    assert len(other) - len(first) == 10


def test_thousands_of_regions_are_looked_at_as_far_as_that_can_be(device, monkeypatch):
    made = device(os.urandom(MIB))
    looked = []
    monkeypatch.setattr(blank, "_is_blank", lambda *where: looked.append(where) or False)
    many = tuple(Region(0, MIB) for _ in range(100_000))
    assert Blocks(made, 512).shares({"": many}) == {"": 0.0}
    assert len(looked) <= 8  # the same blocks
    apart = [Reads(tuple(Region(place, MIB) for place in range(n, 2**40, 2**31)), True) for n in range(8)]
    Blocks(made, 512).look_ahead(apart)
    assert 0 < len(looked) <= 1024 * 8 * 7  # so many regions of all jobs, for each distance


def test_what_was_seen_is_not_read_again(device, monkeypatch):
    blocks = Blocks(device(os.urandom(MIB)), 512)
    first = blocks.shares({"": (Region(0, MIB),)})
    monkeypatch.setattr(blank, "_is_blank", lambda *_: pytest.fail("read again"))
    assert blocks.shares({"": (Region(0, MIB),)}) == first


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("come", [4096, 100_000, MIB, 5 * MIB + 4096, 16 * MIB - 1, 16 * MIB, 40 * MIB])
def test_what_a_writer_fills_was_looked_at_before_however_far_it_comes(device, monkeypatch, come, backwards):
    """Of what is read in order by time nobody knows before how far; once it was written to, nothing tells."""
    job = Reads((Region(3 * MIB, 37 * MIB),), in_order=True, backwards=backwards)
    made = device(bytes(3 * MIB), os.urandom(37 * MIB))
    blocks = Blocks(made, 512)
    blocks.look_ahead([job])
    before = Blocks(made, 512).shares({"": job.places(come, 1.0)})
    monkeypatch.setattr(blank, "_is_blank", lambda *_: pytest.fail("looked at behind the run"))
    assert blocks.shares({"": job.places(come, 1.0)}) == before


def test_a_little_that_a_writer_reads_first_is_seen(device):
    """1 MiB of 64 that was trimmed is an eighth of what is read."""
    made = device(os.urandom(4 * MIB), bytes(MIB), os.urandom(59 * MIB))
    job, blocks = Reads((Region(0, 64 * MIB),), in_order=True), Blocks(made, 512)
    blocks.look_ahead([job])
    made.write_bytes(os.urandom(64 * MIB))
    assert blocks.shares({"": job.places(8 * MIB, 1.0)}) == {"": pytest.approx(0.125, abs=0.01)}


def test_holes_of_a_file_are_told_from_its_zeros(tmp_path):
    file = tmp_path / "image"
    file.write_bytes(bytes(2 * MIB))
    os.truncate(file, 8 * MIB)
    where = {"": (Region(0, 4 * MIB),), "hot": (Region(2 * MIB, 2 * MIB),)}
    held = written_of(file)
    if held:  # not every file system tells
        assert hole_shares(held, where, 0) == {"backing": 0.5, "hot.backing": 1.0}
        assert hole_shares(held, where, MIB) == {"backing": 0.75, "hot.backing": 1.0}


@pytest.mark.parametrize(
    ("job", "places"),
    [
        (Reads((Region(MIB, 64 * MIB),)), (Region(MIB, 64 * MIB),)),
        (Reads((Region(MIB, 64 * MIB),), in_order=True), (Region(MIB, 16 * MIB),)),
        (Reads((Region(0, 64 * MIB),), in_order=True, clones=8), (Region(0, 2 * MIB),)),
        (Reads((Region(0, 64 * MIB),), in_order=True, ramp=2.0), (Region(16 * MIB, 16 * MIB),)),
        (Reads((Region(0, 64 * MIB),), in_order=True, stride=3.0), (Region(0, 48 * MIB),)),
        (Reads((Region(0, 8 * MIB),), in_order=True), (Region(0, 8 * MIB),)),
        (Reads((Region(0, 20 * MIB),), in_order=True, ramp=1.0), (Region(0, 20 * MIB),)),
        (Reads((Region(MIB, 64 * MIB),), in_order=True, backwards=True), (Region(49 * MIB, 16 * MIB),)),
        (
            Reads((Region(0, 64 * MIB),), in_order=True, ramp=1.0, backwards=True),
            (Region(40 * MIB, 16 * MIB),),
        ),
        (Reads((Region(0, 64 * MIB),), in_order=True, longest=0.5), (Region(0, 4 * MIB),)),
        (Reads((Region(0, 64 * MIB),), in_order=True, most=MIB, stride=2.0), (Region(0, 2 * MIB),)),
    ],
    ids=[
        *("at random", "in order", "clones", "a ramp", "in steps", "all of it", "around its end"),
        *("backwards", "backwards with a ramp", "for less time than others", "fewer bytes than others"),
    ],
)
def test_where_a_job_has_read_at_8_mib_a_second_in_two(job, places):
    assert job.places(8 * MIB, 2.0) == places


def test_a_half_is_a_half_and_only_what_is_read_counts(device):
    half = device(os.urandom(MIB), bytes(MIB))
    assert blank_share(half, 2 * MIB, 4096) == 0.5
    assert blank_share(half, MIB, 4096) == 0


def test_a_pattern_with_the_period_of_the_sample_is_not_mistaken(device):
    parts = 64 * [os.urandom(32768) + bytes(32768)]
    assert 0.2 < blank_share(device(*parts), 4 * MIB, 512) < 0.8


@pytest.mark.parametrize("size", [0, 4095])
def test_less_than_a_block_is_not_known(device, size):
    assert blank_share(device(bytes(size)), size, 512) is None


def test_a_device_that_ended_before_is_read_as_far_as_it_goes(device):
    assert blank_share(device(bytes(8192)), MIB, 512) == pytest.approx(0, abs=0.1)


def test_what_cannot_be_read_is_not_known(tmp_path):
    assert blank_share(tmp_path / "missing", MIB, 512) is None
    assert blank_share(tmp_path, MIB, 512) is None
