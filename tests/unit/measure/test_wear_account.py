"""What is going to be written is counted before it is, so that it counts when the run is killed meanwhile."""

import json
import types
from dataclasses import replace
from pathlib import Path

import pytest

from iogate.errors import TargetError
from iogate.measure.wear_account import WearAccount
from iogate.model import Device, Needs, Output, Traffic
from iogate.target import wear

MIB = 2**20
READS = Needs(size=16 * MIB, reads=True)
WRITES = Needs(size=16 * MIB, writes=True, written=4 * MIB)


class Sites:
    """Data that are laid out in memory alone, in one place: `missing` is what is to be laid out first."""

    target = types.SimpleNamespace(number=None)

    def __init__(self):
        self.laid_out, self.there = 0, False

    def missing(self, needs, copy=0):
        return 0 if self.there else needs.size

    def moving(self, swapped):
        return 0 if self.there else 16 * MIB


@pytest.fixture
def sites():
    return Sites()


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """The bytes that a run would leave counted if it were killed now."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return lambda: sum(json.loads((tmp_path / "iogate/wear-lab.json").read_text()).values())


def account(sites, **limits):
    return WearAccount(Device("lab", "/mnt", wear=limits or {"day": 100 * MIB}), sites)


def invocation(needs):
    target = types.SimpleNamespace(number="7:0", path=Path("/mnt"))
    look = types.SimpleNamespace(disk=None)
    return types.SimpleNamespace(needs=needs, site=types.SimpleNamespace(target=target), look=lambda: look)


def test_data_count_before_they_are_laid_out(sites, counted):
    with account(sites).laid_out(READS, sites, 0):
        assert counted() == 16 * MIB
        sites.laid_out += 16 * MIB
    assert counted() == 16 * MIB


def test_what_was_not_laid_out_after_all_does_not_count(sites, counted):
    kept = account(sites)
    with pytest.raises(OSError), kept.laid_out(READS, sites, 0):
        sites.laid_out += 3 * MIB
        raise OSError
    assert counted() == 3 * MIB
    with kept.laid_out(READS, sites, 0):
        sites.laid_out += 20 * MIB  # more than was foreseen
    assert counted() == 23 * MIB


def test_what_brings_arms_to_their_places_counts_before(sites, counted):
    with account(sites).moved(False):
        assert counted() == 16 * MIB
        sites.laid_out += 15 * MIB
    assert counted() == 15 * MIB


def test_what_a_repetition_writes_at_most_counts_before(sites, counted):
    run = invocation(WRITES)
    with account(sites).written([run], [run.look()]) as outputs:
        assert counted() == 4 * MIB
        outputs.append(Output({}, {"write": Traffic(3 * MIB, 3, 1.0)}))
    assert counted() == 3 * MIB


def test_after_midnight_a_reservation_is_taken_back_where_it_was_made(sites, counted, monkeypatch, tmp_path):
    monkeypatch.setattr(wear, "_date", lambda: "2026-11-21")
    with account(sites).laid_out(READS, sites, 0):
        monkeypatch.setattr(wear, "_date", lambda: "2026-11-22")
        sites.laid_out += 3 * MIB
    kept = json.loads((tmp_path / "iogate/wear-lab.json").read_text())
    assert kept == {"2026-11-21": 3 * MIB}


def test_a_session_that_takes_back_what_it_reserved_may_write_it(sites, counted):
    kept = account(sites, session=20 * MIB)
    for _ in range(5):
        with kept.laid_out(READS, sites, 0):
            sites.laid_out += 0
    sites.there = True
    kept.laid_out(WRITES, sites, 0).__enter__()


def test_what_writes_nothing_runs_when_wear_is_used_up(sites, counted):
    kept = account(sites, day=16 * MIB, session=16 * MIB)
    with kept.laid_out(READS, sites, 0):
        sites.laid_out += 16 * MIB
    with pytest.raises(TargetError, match="would be too much"), kept.laid_out(READS, sites, 0):
        pass
    with account(Sites(), day=MIB).laid_out(Needs(reads=True), Sites(), 0):
        pass  # more is written than may be, as after a limit was lowered
    sites.there = True
    with kept.laid_out(READS, sites, 0):
        pass
    with pytest.raises(TargetError, match="would be too much"), kept.laid_out(WRITES, sites, 0):
        pass
    unknown = Needs(size=16 * MIB, writes=True, written=None)
    with pytest.raises(TargetError, match=r"16\.00 MiB are written"), kept.laid_out(unknown, sites, 0):
        pass


def test_what_writes_by_time_is_refused_where_nobody_counts(sites, counted):
    """It was ended nowhere: 416 MiB were written where 100 MiB may be."""
    by_time = invocation(replace(WRITES, written=None))
    before = types.SimpleNamespace(disk=None)
    refused = pytest.raises(TargetError, match="nobody counts what is written to /mnt")
    with refused, account(sites).written([by_time], [before]):
        pytest.fail("nothing may be written")
    with account(sites).written([invocation(WRITES)], [before]):
        assert counted() == 4 * MIB


def test_what_writes_more_than_was_planned_is_ended_at_the_limit(sites, counted, monkeypatch):
    """Whatever fio makes of what a suite says: 278 MiB were written where 64 MiB may be."""
    given = [0]
    monkeypatch.setattr("iogate.measure.wear_account.given_since", lambda before, number: given[0])
    run, before = invocation(WRITES), types.SimpleNamespace(disk=None)
    kept = account(sites, day=16 * MIB, session=100 * MIB)
    with kept.written([run], [before]):
        for given[0] in (0, 4 * MIB, 16 * MIB):
            kept.watch([run], [before])
        given[0] = 16 * MIB + 1
        kept.watch([invocation(READS)], [before])  # what others write is none of it
        with pytest.raises(TargetError, match=r"16\.00 MiB a day: that is passed, and what wrote more"):
            kept.watch([run], [before])


def test_what_the_page_cache_holds_back_of_a_writer_by_time_counts(sites, counted, monkeypatch):
    """Ended at the limit, it left 537 MiB to be flushed where 40 MiB may be written."""
    given, held_back = [0], [0]
    monkeypatch.setattr("iogate.measure.wear_account.given_since", lambda before, number: given[0])
    monkeypatch.setattr("iogate.measure.wear_account.unflushed", lambda: held_back[0])
    sites.there = True
    buffered = Needs(size=16 * MIB, writes=True, written=None)
    with (
        pytest.raises(TargetError, match="would be too much"),
        account(sites, day=15 * MIB).laid_out(buffered, sites, 0),
    ):
        pass
    run, before = invocation(buffered), types.SimpleNamespace(disk=None)
    direct = invocation(replace(buffered, direct=True))
    kept = account(sites, day=100 * MIB)
    with kept.written([run], [before]):
        given[0], held_back[0] = 80 * MIB, 10 * MIB
        kept.watch([run], [before])
        given[0], held_back[0] = 85 * MIB, 900 * MIB  # of others, too: no more than its own 16
        kept.watch([direct], [before])
        with pytest.raises(TargetError, match="that is reached"):
            kept.watch([run], [before])
        given[0] = 83 * MIB
        kept.watch([run], [before])
