"""The audit holds an output against itself: each check passes what is sound and tells what is not."""

import json
from dataclasses import replace
from functools import partial

import pytest

import places
import workloads
from iogate import engines
from iogate.audit import CHECKS, RULES, Evidence, audit
from iogate.audit.evidence import ClientRun
from iogate.audit.rules import completeness, figures, rates
from iogate.audit.snapshot import Snapshot
from iogate.model import Needs, Output, Span, Traffic

DATA = places.DATA / "fio"
SOUND = sorted(
    path.name for path in DATA.glob("*.json") if not path.name.split(".")[-2].startswith(("sigint", "enospc"))
)
SECONDS = 10.003
RATE = {"iops": 10_000.0, "lat.mean": 3.2e6}
"""32 I/Os in flight."""


def output(*, iops=10_000.0, latency=3.2e6, operations=100_000, seconds=SECONDS, block=4096, **changes):
    """10,000 IOPS of 4 KiB at 3.2 ms: 32 I/Os in flight, for ten seconds."""
    metrics = {
        "read.iops": iops,
        "read.bandwidth": iops * block,
        "read.slat.mean": 0.1 * latency,
        "read.clat.mean": 0.9 * latency,
        "read.lat.min": 0.5 * latency,
        "read.lat.mean": latency,
        "read.lat.max": 3 * latency,
        "read.clat.p50": 0.9 * latency,
        "read.clat.p99": 2 * latency,
        "read.clat.p99.99": 3 * latency,
    }
    traffic = {"read": Traffic(operations * block, operations, seconds)}
    sound = Output(metrics=metrics, traffic=traffic, user=0.1, system=0.2, jobs=1)
    return replace(sound, **changes)


def run(out=None, **changes):
    options = {
        "rw": "randread",
        "bs": "4k",
        "iodepth": 32,
        "ioengine": "libaio",
        **changes.pop("options", {}),
    }
    needs = Needs(reads=True, direct=True, block=4096, size=2**30)
    return replace(Evidence(out or output(), options, needs, seconds=SECONDS + 0.3), **changes)


def said(check, subject):
    return [(remark.severity, remark.message) for remark in check(subject)]


@pytest.mark.parametrize("check", [*completeness.CHECKS, *figures.CHECKS], ids=lambda check: check.__name__)
def test_a_sound_run_gives_no_remark(check):
    assert said(check, run()) == []


@pytest.mark.parametrize("name", SOUND)
def test_no_real_output_of_five_versions_of_fio_is_called_invalid(name):
    found = engines.load("fio").parse((DATA / name).read_text(), name=name)
    needs = Needs(reads="read" in found.traffic, writes="write" in found.traffic, direct=True)
    options = {key: value for key, value in found.options.items() if found.jobs == 1 or key != "iodepth"}
    findings = audit(Evidence(found, options, needs, declared=False))
    assert [finding for finding in findings if finding.severity == "invalid"] == []


def slow(longest, **changes):
    """A sound run but for its slowest I/O, which took so many seconds; usually they take 3 ms."""
    sound = output(**changes)
    return replace(sound, metrics={**sound.metrics, "read.lat.max": longest * 1e9})


@pytest.mark.parametrize(
    ("longest", "seconds", "severities"),
    [
        (0.9, 10, []),
        (1.5, 10, ["suspect"]),
        (5.5, 10, ["invalid"]),
        (9.0, 60, ["suspect"]),
        (30.0, 600, ["invalid"]),
    ],
)
def test_a_device_that_stood_still_is_told(longest, seconds, severities):
    found = said(completeness.stalled, run(slow(longest, seconds=seconds)))
    assert [severity for severity, _ in found] == severities
    assert all(f"{longest:{'.1f' if longest < 10 else '.0f'}} s" in message for _, message in found)


def test_a_device_that_is_always_slow_does_not_stand_still():
    """I/Os of 12 s where the usual takes 4 s: a long queue, and a run that is too short for it."""
    assert said(completeness.stalled, run(output(latency=4e9, operations=80, iops=8))) == []


def test_a_run_that_its_first_ios_keep_from_ending_is_invalid():
    """A device that stood still from the beginning: all latencies are alike."""
    stuck = output(latency=30e9, operations=4, iops=0.13, seconds=30.1)
    [(severity, message)] = said(completeness.stalled, run(stuck, options={"time_based": 1, "runtime": 1}))
    assert severity == "invalid"
    assert "ran for 30 s instead of 1.0 s" in message


@pytest.mark.parametrize(("operations", "severities"), [(62, []), (32, ["invalid"]), (3032, ["invalid"])])
def test_a_queue_comes_to_its_end_at_the_rate_of_the_device(operations, severities):
    """A card of 10 IOPS takes 3.2 s for the 32 I/Os that are in flight when a run of 3 s ends."""
    ended = output(latency=5e8, operations=operations, iops=operations / 6.2, seconds=6.2)
    options = {"time_based": 1, "runtime": 3, "iodepth": 32}
    found = said(completeness.stalled, run(ended, options=options))
    assert [severity for severity, _ in found] == severities


def test_a_run_that_flushes_at_its_end_may_take_longer():
    options = {"time_based": 1, "runtime": 5, "end_fsync": 1}
    assert said(completeness.stalled, run(output(), options=options)) == []


def test_a_figure_that_is_no_number_is_invalid():
    broken = output()
    broken = replace(broken, metrics={**broken.metrics, "read.iops": float("nan")})
    assert said(figures.finite, run(broken)) == [("invalid", "read.iops is nan")]


def test_a_quantity_below_zero_is_invalid_and_a_ratio_is_not():
    sound = output()
    below = {**sound.metrics, "read.lat.mean": -1.0, "serial_fraction": -0.02}
    found = said(figures.finite, run(replace(sound, metrics=below)))
    assert found == [("invalid", "read.lat.mean is -1.0")]


def test_no_io_at_all_is_invalid_whatever_the_status_was():
    ((severity, message),) = said(completeness.zero_io, run(replace(output(), traffic={}, metrics={})))
    assert severity == "invalid" and "no read was done" in message


def test_a_direction_that_is_missing_is_invalid():
    needs = Needs(reads=True, writes=True)
    ((severity, message),) = said(completeness.zero_io, run(needs=needs))
    assert severity == "invalid" and "no write was done" in message


def test_trimming_needs_no_write():
    trimmed = replace(output(), traffic={"trim": Traffic(4096, 1, 1.0)})
    assert said(completeness.zero_io, run(trimmed, needs=Needs(writes=True))) == []


@pytest.mark.parametrize("direction", ["write", "trim"])
def test_writes_of_what_reads_alone_are_invalid(direction):
    wrote = replace(output(), traffic={**output().traffic, direction: Traffic(4096, 1, SECONDS)})
    ((severity, message),) = said(completeness.undeclared_writes, run(wrote, needs=Needs(reads=True)))
    assert severity == "invalid" and f"4.000 KiB in 1 {direction} op" in message
    assert said(completeness.undeclared_writes, run(wrote, needs=Needs(reads=True, writes=True))) == []
    assert said(completeness.undeclared_writes, run(wrote, needs=Needs(reads=True), declared=False)) == []


@pytest.mark.parametrize("short", [1, 1000])
def test_short_operations_are_invalid(short):
    traffic = {"read": Traffic(100_000 * 4096, 100_000, SECONDS, short)}
    ((found, message),) = said(completeness.short_io, run(replace(output(), traffic=traffic)))
    assert found == "invalid" and f"{short} of 100000" in message


@pytest.mark.parametrize(("short", "severity"), [(999, "suspect"), (1000, "invalid")])
def test_the_last_block_of_an_odd_size_is_short_in_every_pass(short, severity):
    traffic = {"read": Traffic(100_000 * 4096, 100_000, SECONDS, short)}
    subject = run(replace(output(), traffic=traffic), needs=Needs(reads=True, size=2**20 + 512))
    ((found, _),) = said(completeness.short_io, subject)
    assert found == severity


def test_operations_behind_the_end_of_the_file_are_counted_as_such():
    """fio 3.33 on a file that was truncated meanwhile: no short I/O, and many that cost nothing."""
    traffic = {"read": Traffic(70_000 * 4096, 100_000, SECONDS)}
    ((found, message),) = said(completeness.short_io, run(replace(output(), traffic=traffic)))
    assert found == "invalid" and "30000 of 100000" in message


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        ({"ramp_time": 2}, []),
        ({"ioengine": "vsync", "iodepth": 32}, []),
        ({"ioengine": "vsync", "iodepth": 31}, ["invalid"]),
        ({"ioengine": "psync"}, ["invalid"]),
    ],
    ids=str,
)
def test_ios_that_fio_counts_without_their_bytes_are_not_short(options, severities):
    """Those in flight at the end of a ramp, and those that vsync has queued when a run ends."""
    traffic = {"read": Traffic(99_968 * 4096, 100_000, SECONDS)}
    found = said(completeness.short_io, run(replace(output(), traffic=traffic), options=options))
    assert [severity for severity, _ in found] == severities


@pytest.mark.parametrize(("keeps_on", "severities"), [("0", []), ("1", ["invalid"])])
def test_ios_in_flight_at_the_end_of_a_search_for_a_depth_are_not_short(keeps_on, severities):
    traffic = {"read": Traffic(99_968 * 4096, 100_000, SECONDS)}
    options = {"latency_target": "20ms", "latency_run": keeps_on}
    found = said(completeness.short_io, run(replace(output(), traffic=traffic), options=options))
    assert [severity for severity, _ in found] == severities


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        ({"runtime": 10, "time_based": True}, []),
        ({"runtime": "10.3", "time_based": "1"}, []),
        ({"runtime": 10.8, "time_based": True}, ["suspect"]),
        ({"runtime": 60, "time_based": True}, ["invalid"]),
        ({"runtime": 60, "time_based": ""}, ["invalid"]),
        ({"runtime": 60, "time_based": False}, []),
        ({"runtime": 60, "time_based": True, "steadystate": "iops:5%"}, []),
        ({"runtime": 60, "time_based": True, "number_ios": "100000"}, []),
        ({"runtime": 60, "time_based": True, "latency_target": "20ms"}, []),
        ({"runtime": 60, "time_based": True, "latency_target": "20ms", "latency_run": "1"}, ["invalid"]),
    ],
)
def test_a_run_by_time_must_last_its_time_unless_something_else_ends_it(options, severities):
    assert [severity for severity, _ in said(completeness.ended_early, run(options=options))] == severities


@pytest.mark.parametrize(
    ("options", "severities"),
    [
        ({"rw": "write", "verify": "crc32c"}, []),
        ({"rw": "randwrite:4", "verify": "crc32c"}, []),
        ({"rw": "randrw", "verify": "crc32c"}, ["invalid"]),  # reads go by beside its writes
        ({"rw": "write"}, ["invalid"]),
    ],
)
def test_a_run_by_time_that_verifies_reads_when_it_has_written(options, severities):
    traffic = {name: Traffic(4096 * 1000, 1000, 4.0) for name in ("read", "write")}
    subject = run(replace(output(), traffic=traffic), options={"runtime": 8, "time_based": True, **options})
    assert [severity for severity, _ in said(completeness.ended_early, subject)] == severities


def test_an_engine_that_claims_more_time_than_it_lived_is_invalid():
    ((severity, message),) = said(completeness.clock, run(seconds=5.0))
    assert severity == "invalid" and "10.003 s" in message and "5.000 s" in message


def test_a_clock_of_whole_seconds_is_suspect_only_where_no_runtime_explains_it():
    whole = output(seconds=3.0)
    assert [severity for severity, _ in said(completeness.clock, run(whole, seconds=4.0))] == ["suspect"]
    assert said(completeness.clock, run(whole, seconds=4.0, options={"runtime": 3})) == []
    assert said(completeness.clock, run(output(seconds=3.001), seconds=4.0)) == []


def test_a_run_of_a_moment_is_suspect():
    ((severity, message),) = said(completeness.short_run, run(output(seconds=0.5)))
    assert severity == "suspect" and "500.0 ms" in message


def test_a_run_of_a_few_of_its_own_latencies_is_suspect():
    ((severity, message),) = said(completeness.short_run, run(output(seconds=60.0, latency=7e9)))
    assert severity == "suspect" and "8.6 times" in message


@pytest.mark.parametrize(
    ("operations", "gating", "count"),
    [
        (100_000, ("read.clat.p99.99",), 0),
        (99_999, ("read.clat.p99.99",), 1),
        (1_000, ("read.clat.p99",), 0),
        (999, ("read.clat.p99",), 1),
        (10, ("read.iops",), 0),
        (10, (), 0),
    ],
)
def test_a_gated_percentile_needs_ten_operations_beyond_it(operations, gating, count):
    found = said(completeness.few_operations, run(output(operations=operations), gating=gating))
    assert [severity for severity, _ in found] == ["suspect"] * count


def test_an_existing_output_gets_one_note_on_its_percentiles():
    ((severity, message),) = said(completeness.few_operations, run(output(operations=900), declared=False))
    assert severity == "note" and "p99 of 900" in message


@pytest.mark.parametrize("ioengine", ["psync", "sync", "mmap", "pvsync2"])
def test_a_synchronous_ioengine_with_a_depth_is_suspect_and_says_what_was_in_flight(ioengine):
    alone = output(latency=1e5)
    ((severity, message),) = said(figures.synchronous_engine, run(alone, options={"ioengine": ioengine}))
    assert severity == "suspect" and "not iodepth 32 (1.0 in flight)" in message
    assert said(figures.little_law, run(alone, options={"ioengine": ioengine})) == []


def test_fio_without_an_ioengine_is_synchronous():
    subject = run(replace(output(), synchronous="psync"), options={"ioengine": None})
    subject = replace(subject, options={k: v for k, v in subject.options.items() if k != "ioengine"})
    assert [severity for severity, _ in said(figures.synchronous_engine, subject)] == ["suspect"]


def test_more_in_flight_than_possible_is_invalid():
    ((severity, message),) = said(figures.little_law, run(output(latency=6.4e6)))
    assert severity == "invalid" and "64.0 I/Os were in flight" in message and "32 are possible" in message


@pytest.mark.parametrize(("ioengine", "found"), [("io_uring", []), ("libaio", ["invalid"])])
def test_fio_rounds_the_depth_of_io_uring_up_to_a_power_of_two(ioengine, found):
    sixteen = run(output(latency=1.6e6), options={"ioengine": ioengine, "iodepth": "10"})
    assert [severity for severity, _ in said(figures.little_law, sixteen)] == found
    more = run(output(latency=2e6), options={"ioengine": ioengine, "iodepth": "10"})
    assert [severity for severity, _ in said(figures.little_law, more)] == ["invalid"]


def test_the_unit_of_a_latency_shows_a_thousandfold():
    ((severity, _),) = said(figures.little_law, run(output(latency=3.2e9, seconds=1e5)))
    assert severity == "invalid"


def test_a_queue_that_was_not_filled_is_suspect_unless_the_workload_holds_it_back():
    slow = output(latency=1e5)
    assert [severity for severity, _ in said(figures.little_law, run(slow))] == ["suspect"]
    assert said(figures.little_law, run(slow, options={"rate_iops": "10000"})) == []
    assert said(figures.little_law, run(slow, options={"thinktime": "100"})) == []
    unlike = {"log": {"fio": {"rate_iops": 600}}, "data": {"fio": {"rate_iops": 300}}}
    assert said(figures.little_law, run(slow, options={"jobs": unlike})) == [], "each has a limit of its own"
    assert said(figures.little_law, run(replace(slow, unlike=("rate",)))) == []
    assert said(figures.little_law, run(slow, options={"fdatasync": "1"})) == []
    synced = replace(slow, metrics={**slow.metrics, "sync.lat.mean": 4e5})
    assert said(figures.little_law, run(synced)) == [], "as fio's text has it, which states no options"


def test_several_clients_are_asked_one_by_one():
    """Rates of all are those of the time when all ran; latencies are of all of it."""
    span = Span(0.0, 1.0)
    clients = [ClientRun(f"client_{one}", "c", "fio-3.33", span, 0.01, 0.0, 0.0, 1.0) for one in (1, 2)]
    together = replace(run(output(latency=6.4e6)), clients=clients)
    assert said(figures.little_law, together) == []
    assert said(figures.little_law, replace(together, clients=clients[:1]))


def test_ios_of_the_ramp_may_put_more_in_flight_than_asked_for():
    """Gluster's writes: 7 s each in a run of 60 s."""
    metrics = {"write.iops": 80.0, "write.lat.mean": 7.0e9, "write.lat.max": 8.5e9}
    ramped = Output(metrics=metrics, traffic={"write": Traffic(4125 * 2**20, 4125, 60.0)}, jobs=8)
    subject = run(ramped, options={"bs": "1M", "iodepth": 64})
    assert said(figures.little_law, subject) == []


def test_reading_back_to_verify_is_not_added_to_writing():
    out = output()
    both = replace(
        out,
        metrics={**out.metrics, "write.iops": 10_000.0, "write.lat.mean": 3.2e6},
        traffic={**out.traffic, "write": out.traffic["read"]},
    )
    assert [severity for severity, _ in said(figures.little_law, run(both))] == ["invalid"]
    assert said(figures.little_law, run(both, options={"verify": "crc32c"})) == []


@pytest.mark.parametrize(
    ("mode", "direction", "seconds", "severities"),
    [
        ("randwrite", "read", SECONDS, []),
        ("randrw", "read", 2 * SECONDS, []),
        ("randwrite", "mixed", SECONDS, []),
        ("randrw", "read", SECONDS, ["invalid"]),
        ("randread", "mixed", SECONDS, ["invalid"]),
    ],
)
def test_reads_that_may_verify_are_not_added_where_the_output_does_not_state_its_options(
    mode, direction, seconds, severities
):
    """Both directions have the whole depth in their own time: 64 of 32 together."""
    done = Traffic(100_000 * 4096, 100_000, SECONDS)
    metrics = {f"{one}.{name}": value for one in (direction, "write") for name, value in RATE.items()}
    traffic = {direction: replace(done, seconds=seconds), "write": done}
    subject = run(Output(metrics=metrics, traffic=traffic), options={"rw": mode}, declared=False)
    assert [severity for severity, _ in said(figures.little_law, subject)] == severities
    stated = replace(subject, output=replace(subject.output, complete=True))
    assert [severity for severity, _ in said(figures.little_law, stated)] == ["invalid"]


@pytest.mark.parametrize(
    ("name", "invalid"),
    [("verify_written", []), ("verify_mixed", []), ("verify_backlog", ["little_law"])],
)
def test_a_real_text_that_verifies_is_invalid_where_its_reads_have_no_time(name, invalid):
    """Of `verify_backlog` fio tells the time of the last reads alone: too many were in flight."""
    path = places.DATA / f"fio_text/fio-3.33.{name}.txt"
    found = engines.load("fio").parse(path.read_text(), name=name)
    evidence = Evidence(found, found.options, Needs(reads=True, writes=True), declared=False)
    assert evidence.in_flight > 1.1 * evidence.possible
    assert [finding.check for finding in audit(evidence) if finding.severity == "invalid"] == invalid


@pytest.mark.parametrize(
    ("factor", "severities"),
    [(1.0, []), (1.02, ["note"]), (1.1, ["suspect"]), (2.0, ["invalid"]), (0.3, ["invalid"])],
)
def test_bandwidth_is_iops_times_block_size(factor, severities):
    out = output()
    out = replace(out, metrics={**out.metrics, "read.bandwidth": 10_000 * 4096 * factor})
    assert [severity for severity, _ in said(rates.bandwidth, run(out))] == severities


@pytest.mark.parametrize(
    ("gating", "factor", "severities"),
    [
        (("read.iops",), 1.04, ["note"]),
        (("read.iops",), 1.07, ["suspect"]),
        (("read.iops",), 1.12, ["invalid"]),
        (("read.bandwidth", "read.clat.p99"), 1.2, ["invalid"]),
        (("read.iops",), 0.88, ["invalid"]),
        (("read.clat.p99",), 1.07, ["suspect"]),
        (("write.iops",), 1.07, ["suspect"]),
    ],
)
def test_behind_a_ramp_bandwidth_and_iops_that_differ_decide_nothing(gating, factor, severities):
    """On a slow card what was in flight at its end hid a loss of 12%, as -8.8%."""
    out = output()
    out = replace(out, metrics={**out.metrics, "read.bandwidth": 10_000 * 4096 * factor})
    ramped = run(out, options={"ramp_time": 0.5}, gating=gating)
    found = rates_of(ramped)
    assert [severity for severity, _ in found] == severities
    assert ("end of a ramp" in found[0][1]) == (
        gating[0] in ("read.iops", "read.bandwidth") and factor != 1.04
    )
    assert severities_of(replace(ramped, declared=False)) == (["note"] if factor == 1.04 else ["suspect"])
    assert severities_of(replace(ramped, options={})) == (["note"] if factor == 1.04 else ["suspect"])


@pytest.mark.parametrize(
    ("gating", "asked", "factor", "severity"),
    [
        (("read.bandwidth",), 8.6, 1.14, "suspect"),
        (("read.bandwidth",), 9.9, 1.14, "invalid"),
        (("read.bandwidth", "read.iops"), 8.6, 1.14, "invalid"),
        (("read.bandwidth",), 8.6, 0.86, "invalid"),
        (("read.bandwidth",), 3, 2.0, "invalid"),
    ],
)
def test_behind_a_ramp_bandwidth_is_right_where_the_queue_came_to_its_end(gating, asked, factor, severity):
    """Eight jobs that have 512 MiB in flight, at the 118 MB/s of a network: 14%, by the I/Os alone."""
    out = output()
    out = replace(out, metrics={**out.metrics, "read.bandwidth": 10_000 * 4096 * factor})
    ramped = run(out, options={"ramp_time": 2, "runtime": asked}, gating=gating)
    assert severities_of(ramped) == [severity]


@pytest.mark.parametrize(
    ("operations", "changes", "severities"),
    [
        (300, {}, ["invalid"]),
        (500, {}, ["suspect"]),
        (30_000, {}, []),
        (300, {"gating": ("read.clat.p99",)}, []),
        (300, {"options": {"iodepth": 1}}, []),
        (300, {"options": {"ioengine": "psync"}}, []),
        (300, {"declared": False}, []),
    ],
)
def test_behind_a_ramp_blocks_of_several_sizes_are_held_against_what_was_in_flight(
    operations, changes, severities
):
    """Of a disk of 100 IOPS 89 were recorded, as no block size told what IOPS and bandwidth are to be."""
    rate = operations / 3
    ramped = output(block=6000, iops=rate, operations=operations, seconds=3, latency=32e9 / rate)
    options = {"ramp_time": 0.5, "iodepth": 32, "bssplit": "4k/50:8k/50", **changes.pop("options", {})}
    found = rates_of(run(ramped, **{"gating": ("read.iops",), **changes}, options=options))
    assert [severity for severity, _ in found] == severities


def rates_of(subject):
    return [*said(rates.bandwidth, subject), *said(rates.ramp, subject)]


def severities_of(subject):
    return [severity for severity, _ in rates_of(subject)]


def test_several_block_sizes_are_compared_by_what_was_moved():
    mixed = output(block=6000)
    assert said(rates.bandwidth, run(mixed, options={"bssplit": "4k/50:8k/50"})) == []
    assert said(rates.bandwidth, run(mixed, options={"bs": "4k,8k"})) == []


JOBS_OF_SEVERAL_SIZES = {
    "a": {"rw": "randwrite", "bs": "4k"},
    "b": {"rw": "randread", "bs": "4k", "fio": {"bsrange": "4k-16k"}},
}


@pytest.mark.parametrize(("block", "severities"), [(8840, []), (2048, ["suspect"]), (65536, ["invalid"])])
def test_bandwidth_is_held_against_the_block_sizes_of_all_jobs_of_a_workload(block, severities):
    """The output states what its jobs share alone: bs=4k, and not the range of one of them."""
    shared = {"bs": "4k", "jobs": JOBS_OF_SEVERAL_SIZES}
    found = said(rates.bandwidth, run(output(block=block), options=shared))
    assert [severity for severity, _ in found] == severities


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({"bs": "4k"}, (4096, 4096)),
        ({"bs": "4k,64k"}, (4096, 65536)),
        ({"bs": "8k", "bsrange": "4k-16k,8k-32k"}, (4096, 32768)),
        ({"bs": "8k", "bssplit": "4k/10:64k/,8k/100"}, (4096, 65536)),
        ({"bs": "many"}, None),
        ({"bs": ""}, None),
    ],
)
def test_block_sizes_are_read_as_fio_spells_them(options, sizes):
    assert run(options=options).blocks == sizes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"read.lat.min": 9e6}, "min 9.000 ms is above mean"),
        ({"read.lat.max": 1e6}, "mean 3.200 ms is above max"),
        ({"read.clat.p99": 0.5e6}, "p50 2.880 ms is above p99"),
        ({"read.clat.max": 1e6}, "p99.99 9.600 ms is above max"),
    ],
)
def test_latencies_out_of_order_are_invalid(changes, words):
    out = output()
    out = replace(out, metrics={**out.metrics, **changes})
    found = said(figures.latency_order, run(out))
    assert {severity for severity, _ in found} == {"invalid"}
    assert any(words in message for _, message in found)


@pytest.mark.parametrize(("step", "found"), [(0.0, ["invalid"]), (1e6, [])])
def test_a_percentile_may_pass_a_maximum_that_is_printed_in_whole_milliseconds(step, found):
    """As fio's text has it: `clat (msec): min=2 , max=9`, `clat percentiles (usec)`."""
    out = output(latency_step=step)
    out = replace(out, metrics={**out.metrics, "read.clat.max": 9e6})
    assert [severity for severity, _ in said(figures.latency_order, run(out))] == found


@pytest.mark.parametrize(
    ("times", "uncounted", "found"),
    [
        (8, True, []),
        (8, False, ["invalid"]),
        (1.4, True, ["invalid"]),
        (2.5, True, ["invalid"]),
        (1000, True, ["invalid"]),
    ],
)
def test_a_group_of_which_nobody_knows_the_jobs_has_as_many_in_flight_as_several(times, uncounted, found):
    """fio before 3.8 does not tell of how many sections one entry is."""
    out = output(latency=times * 3.2e6, seconds=1e5, uncounted=uncounted)
    assert [severity for severity, _ in said(figures.little_law, run(out))] == found


def test_a_percentile_may_pass_the_maximum_by_a_histogram_bin():
    out = output()
    out = replace(out, metrics={**out.metrics, "read.clat.max": 9.6e6 / 1.02})
    assert said(figures.latency_order, run(out)) == []


@pytest.mark.parametrize("declared", [True, False])
def test_the_slowest_of_all_is_decided_by_itself(declared):
    """fio's `percentile_list` may end in 100; it was divided by nothing."""
    out = output()
    out = replace(out, metrics={**out.metrics, "read.clat.p100": 1e7})
    subject = run(out, gating=("read.clat.p100",), declared=declared)
    ((severity, message),) = said(completeness.few_operations, subject)
    assert severity == ("suspect" if declared else "note")
    assert message.endswith("is the slowest of them alone")


def test_a_bandwidth_of_nothing_is_none():
    """fio prints it by `significant_figures=1`; without the size of a block it was a traceback."""
    out = output()
    nothing = replace(out.traffic["read"], bytes=0)
    none = replace(out, metrics={**out.metrics, "read.bandwidth": 0.0}, traffic={"read": nothing})
    found = said(rates.bandwidth, replace(run(none), options={}))
    assert found == [("invalid", "read bandwidth is 0 B/s at 10.00 k IOPS")]


def test_total_latency_is_submission_and_completion():
    out = output()
    out = replace(out, metrics={**out.metrics, "read.slat.mean": 2e6})
    ((severity, _),) = said(figures.latency_sum, run(out))
    assert severity == "suspect"


def test_a_synchronous_engine_has_no_submission_latency_and_the_total_may_be_more():
    """The time of a check sum (`verify`) is in the total alone."""
    out = output()
    metrics = {name: value for name, value in out.metrics.items() if ".slat" not in name}
    longer = {**metrics, "read.lat.mean": metrics["read.clat.mean"] * 1.5}
    shorter = {**metrics, "read.lat.mean": metrics["read.clat.mean"] / 1.5}
    assert said(figures.latency_sum, run(replace(out, metrics=longer))) == []
    ((severity, _),) = said(figures.latency_sum, run(replace(out, metrics=shorter)))
    assert severity == "suspect"


def test_a_steady_state_that_was_not_attained_is_suspect():
    assert [s for s, _ in said(completeness.steady_state, run(replace(output(), steady=False)))] == [
        "suspect"
    ]
    assert said(completeness.steady_state, run(replace(output(), steady=True))) == []


workload = partial(
    workloads.workload, "fio", options={"rw": "randread", "bs": "4k", "iodepth": 32, "ioengine": "psync"}
)


def audited(work, out):
    nothing = Snapshot(0.0)
    needs = Needs(reads=True, direct=True)
    evidence = Evidence.of(work, out, needs, seconds=10.3, before=nothing, after=nothing)
    return audit(evidence, work.waive)


def test_the_worst_finding_comes_first():
    found = audited(workload(), output(latency=64e6, seconds=0.5))
    assert [finding.severity for finding in found] == ["invalid", "suspect", "suspect", "note"]


def test_a_waived_finding_stays_as_a_note_with_the_reason():
    waived = workload(waive={"little_law": "two queues share the device"})
    found = {finding.check: finding for finding in audited(waived, output(latency=64e6))}
    assert found["little_law"].severity == "note"
    assert found["little_law"].waived == "two queues share the device"
    assert found["synchronous_engine"].severity == "suspect" and not found["synchronous_engine"].waived


def test_options_passed_through_to_fio_count_as_options():
    held_back = workload(
        options={
            "rw": "randread",
            "bs": "4k",
            "iodepth": 32,
            "ioengine": "libaio",
            "fio": {"rate_iops": "10"},
        }
    )
    assert [finding.check for finding in audited(held_back, output(latency=1e5))] == ["no_device"]


def test_every_check_has_a_name_of_its_own():
    assert len(CHECKS) == sum(len(rules.CHECKS) for rules in RULES) > 30


SECTIONS = sorted((places.DATA / "fio_sections").glob("*.json"))


def grouped(path):
    """The evidence of an output of which no workload is known."""
    found = engines.load("fio").parse(path.read_text(), name=path.name)
    needs = Needs(reads="read" in found.traffic, writes="write" in found.traffic, direct=True)
    return Evidence(found, found.options, needs, declared=False)


@pytest.mark.parametrize("path", SECTIONS, ids=lambda path: path.stem)
def test_sections_in_one_entry_are_not_held_against_the_depth_of_the_first(path):
    evidence = grouped(path)
    assert evidence.output.jobs == 3 and evidence.possible is None
    assert said(figures.little_law, evidence) == []


@pytest.mark.parametrize("factor", [1, 4])
def test_one_section_in_one_entry_still_is(factor):
    evidence = grouped(DATA / "fio-3.33.randread_grouped.json")
    metrics = evidence.output.metrics
    slower = {**metrics, "read.lat.mean": factor * metrics["read.lat.mean"]}
    found = said(figures.little_law, replace(evidence, output=replace(evidence.output, metrics=slower)))
    assert evidence.possible == 32
    assert [severity for severity, _ in found] == ([] if factor == 1 else ["invalid"])


@pytest.mark.parametrize("ioengines, severities", [(("libaio", "io_uring"), []), ((None, None), ["suspect"])])
def test_jobs_of_several_ioengines_are_not_taken_for_the_default_one(ioengines, severities):
    document = json.loads((places.DATA / "fio/fio-3.33.jobfile_75_25.json").read_text())
    for index, job in enumerate(document["jobs"]):
        ioengine = ioengines[index % 2]
        document.get("global options", {}).pop("ioengine", None)
        job["job options"].pop("ioengine", None)
        job["job options"].update({"iodepth": "8", **({"ioengine": ioengine} if ioengine else {})})
    found = engines.load("fio").parse(json.dumps(document), name="out")
    evidence = Evidence(found, found.options, Needs(), declared=False)
    assert [severity for severity, _ in said(figures.synchronous_engine, evidence)] == severities


def test_options_beyond_all_numbers_are_none():
    assert run(options={"runtime": 10**400}).number("runtime") is None
