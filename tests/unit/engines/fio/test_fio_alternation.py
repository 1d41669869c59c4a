"""fio in a pair: which runs may be stopped and go on, and what is run instead of them."""

import pytest

from iogate import engines

FIO = engines.load("fio")
RATES = ("read.iops", "read.bandwidth", "write.iops", "write.bandwidth")


def options(**given):
    return FIO.options(
        {"rw": "randread", "bs": "4k", "size": "64M", "runtime": 30, "time_based": True, **given}
    )


MIX = {"rw": "randrw", "mix": {"readers": 2, "writers": 1}}


def jobs_of(**given):
    """Options of two jobs side by side, as a job file gives them."""
    return {"jobs": {name: options(**given) for name in ("one", "two")}}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"rw": "write", "bs": "1M"},
        {"rw": "randrw", "rwmixread": 70},
        {"numjobs": 4, "fio": {"thread": 1}},
        {"ioengine": "psync"},
        {"fio": {"norandommap": 1, "refill_buffers": 1}},
        MIX,
    ],
    ids=str,
)
def test_direct_io_that_goes_on_at_its_own_pace_can_be_sliced(given):
    assert FIO.indivisible(options(**given), RATES) == ""


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"direct": False}, "buffered I/O goes on"),
        ({"ioengine": "mmap", "direct": False}, "buffered I/O goes on"),
        ({"ioengine": "splice"}, "does not count the I/O of ioengine splice"),
        ({"ioengine": "io_uring"}, "io_uring ends where a stop interrupts its wait"),
        ({"rw": "randwrite", "fio": {"fdatasync": "4"}}, "what fdatasync writes beside the data"),
        ({"rw": "randwrite", "fio": {"sync": "dsync"}}, "what sync writes beside the data"),
        ({"rw": "trim"}, "does not count trims"),
        ({"rw": "trimwrite"}, "does not count trims"),
        ({"fio": {"rate": "10M"}}, "rate would catch up"),
        ({"fio": {"rate_iops": 100}}, "rate_iops would catch up"),
        ({"fio": {"thinktime": 100}}, "thinktime would catch up"),
        ({"fio": {"latency_target": 100}}, "latency_target would catch up"),
        ({"fio": {"io_size": "4M"}}, "io_size bounds the run"),
        ({"fio": {"number_ios": 100}}, "number_ios bounds the run"),
        ({"fio": {"loops": 2}}, "loops bounds the run"),
        ({"fio": {"verify": "crc32c"}}, "verify bounds the run"),
        ({**MIX, "direct": False}, "buffered I/O goes on"),
        ({**MIX, "fio": {"rate": "10M"}}, "rate would catch up"),
    ],
    ids=str,
)
def test_what_cannot_be_sliced_says_why(given, why):
    assert why in FIO.indivisible(options(**given), RATES)


@pytest.mark.parametrize("name", ["read.clat.p99", "write.lat.mean", "wall_time", "trim.iops"])
def test_a_metric_that_would_contain_the_stops_is_named(name):
    assert FIO.indivisible(options(), ("read.iops", name)) == f"{name} would contain the stops"


def test_one_job_of_several_is_enough():
    both = jobs_of()
    both["jobs"]["two"] = options(direct=False)
    assert FIO.indivisible(jobs_of(), RATES) == ""
    assert "buffered" in FIO.indivisible(both, RATES)


# ------------------------------------------------------------ options of a block


def test_a_run_that_is_sliced_goes_on_by_time_at_once():
    found = FIO.lasting(options(ramp_time=5, startdelay=3, time_based=False), 2.1104, 42)
    assert (found["runtime"], found["time_based"]) == (2.111, True)
    assert (found["ramp_time"], found["startdelay"]) == (0, 0)
    assert found["fio"]["randseed"] == "42"
    assert (found["size"], found["bs"], found["iodepth"]) == ("64M", "4k", 1)


def test_the_seed_of_a_suite_stays():
    given = options(fio={"randseed": 7})
    assert FIO.lasting(given, 2.0, 42)["fio"]["randseed"] == "7"
    assert "randseed" not in FIO.lasting(options(fio={"allrandrepeat": 1}), 2.0, 42)["fio"]


def test_the_options_of_a_block_are_options_of_fio():
    for given in (options(), options(**MIX), options(rw="read", numjobs=2)):
        for found in (FIO.lasting(given, 2.0, 1), FIO.shortened(given, 2.0)):
            assert FIO.options(found) == found


def test_each_job_of_several_is_changed():
    lasting = FIO.lasting(jobs_of(), 2.0, 5)["jobs"]
    assert [(job["runtime"], job["fio"]["randseed"]) for job in lasting.values()] == [(2.0, "5")] * 2
    short = FIO.shortened(jobs_of(startdelay=4), 2.0)["jobs"]
    assert [(job["runtime"], job["startdelay"]) for job in short.values()] == [(2.0, 0)] * 2


@pytest.mark.parametrize(
    ("given", "runtime", "ramp_time"),
    [
        ({}, 2.0, 0),
        ({"runtime": 1}, 1.0, 0),
        ({"ramp_time": 10}, 2.0, 1.0),
        ({"ramp_time": 0.5}, 2.0, 0.5),
    ],
    ids=str,
)
def test_a_whole_run_is_two_seconds_long_at_most(given, runtime, ramp_time):
    found = FIO.shortened(options(**given), 2.0)
    assert (found["runtime"], found["ramp_time"]) == (runtime, ramp_time)


def test_a_run_that_its_size_bounds_stays_as_it_is():
    given = FIO.options({"rw": "read", "size": "64M", "direct": False})
    assert {**FIO.shortened(given, 2.0), "startdelay": 0.0} == {**given, "startdelay": 0.0}


# ------------------------------------------------------------ processes


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (options(), 2),
        (options(numjobs=4), 5),
        (options(numjobs=4, fio={"thread": 1}), 1),
        (options(numjobs=4, fio={"thread": None}), 1),
        (options(numjobs=4, fio={"thread": 0}), 5),
        (options(**MIX), 4),
        (jobs_of(numjobs=2), 5),
    ],
)
def test_the_processes_are_fio_and_its_jobs_but_for_threads(given, count):
    assert FIO.processes(given) == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (options(), 1),
        (options(numjobs=4), 4),
        (options(numjobs=4, fio={"thread": 1}), 4),
        (jobs_of(numjobs=2), 4),
        (options(ioengine="posixaio"), 0),
        (options(fio={"cpus_allowed": "0-1"}), 0),
        (options(fio={"numa_cpu_nodes": "0"}), 0),
        (options(fio={"iomem": "mmap"}), 0),
        (options(ioengine="io_uring", fio={"sqthread_poll": 1}), 0),
    ],
)
def test_each_job_keeps_a_processor_busy_unless_it_chooses_or_starts_threads(given, count):
    assert FIO.processors(given) == count
