"""Tables beside the commands of which they are: what ends a run, its size or its time."""

import pytest

from published_tables import by_check, only, table

HEAD = "| Disk | BW (MiB/s) | IOPS | avg lat (us) | p99.99 (us) |"
ROW = "| A | 1367 | 350000 | 731 | 2900 |"
TIMED = "fio --name=rnd --rw=randread --bs=4k --size=256M --runtime=60 --time_based --iodepth=64 --numjobs=4"
FILL = "fio --name=fill --rw=write --bs=1M --size=1G --iodepth=8 --ioengine=libaio --direct=1"


def beside(command, row=ROW, head=HEAD):
    return only(table(row, head=head, above=f"{command}\n"))


def test_a_run_that_its_size_ends_within_a_second_is_doubtful():
    assert by_check(beside(TIMED.replace(" --time_based", "")), "suspect") == {"short_run": {5}}


@pytest.mark.parametrize("commands", [TIMED, f"{FILL}\n\n{TIMED}", f"{TIMED}\n\n{FILL}"])
def test_the_size_of_a_file_that_was_filled_before_ends_no_run_by_time(commands):
    assert not by_check(beside(commands), "suspect")


@pytest.mark.parametrize(
    ("said", "doubtful"),
    [("-time_based", False), ("-time_based=1", False), ("-time_based=0", True), ("", True)],
)
@pytest.mark.parametrize("dashes", ["-", "--"])
def test_fio_takes_one_dash_for_two(said, doubtful, dashes):
    command = TIMED.replace(" --time_based", f" {said}").replace("--", dashes)
    assert bool(by_check(beside(command), "suspect")) == doubtful


@pytest.mark.parametrize(
    ("runtime", "severities"), [(" --runtime=120", {}), (" --runtime=2", {"few_operations": {5}})]
)
def test_the_operations_of_a_run_by_time_are_those_of_its_time(runtime, severities):
    """Of a sweep over the working set, whose rows say the size of the file."""
    command = f"fio --name=rr --rw=randread --iodepth=1 --numjobs=1 --bs=4k --size=10G --time_based{runtime}"
    head = "| Engine | File size | Block size | IOPS | BW MiB/s | avg (us) | p99.99 (us) |"
    row = "| libaio | 64M | 4k | 11,800 | 46.1 | 84 | 610 |"
    assert by_check(beside(command, row, head), "suspect") == severities
    assert not by_check(beside(command.replace(runtime, ""), row, head), "suspect"), (
        "of what time, nobody says"
    )


@pytest.mark.parametrize("other", ["", " --numjobs=8"])
def test_of_several_commands_none_is_held_against_a_row_that_another_may_have_made(other):
    """`randread` was doubtful: not the command of `seq`, the only one with its depth and jobs, made it."""
    seq = "fio --name=seq --rw=read --bs=1M --iodepth=8 --numjobs=1 --time_based --runtime=10"
    random = f"fio --name=rand --rw=randread --bs=4k --iodepth=16{other} --time_based --runtime=300"
    head = "| test | IOPS | BW (MiB/s) | avg lat (us) | p99.99 (us) |"
    row = "| randread 4k | 8000 | 31.25 | 2000 | 9000 |"
    assert not by_check(beside(f"{seq}\n\n{random}", row, head), "suspect")
    assert by_check(beside(seq, row, head), "suspect") == {"description": {5}}


@pytest.mark.parametrize(
    ("heading", "shown", "told"),
    [
        ("lat (ns)", "127.5", "as ns the latency means 0.032 I/Os in flight, the depth is 32; read as µs"),
        ("lat (ms)", "127.5", "as ms the latency means 31875 I/Os in flight, the depth is 32; read as µs"),
        ("lat (s)", "0.1275", "as s the latency means 31875 I/Os in flight, the depth is 32; read as ms"),
    ],
)
def test_a_latency_is_told_in_its_unit_and_in_the_one_that_fits(heading, shown, told):
    piece = only(table(f"| 4k | 32 | 250000 | {shown} |", head=f"| bs | iodepth | IOPS | {heading} |"))
    (message,) = (one.message for one in piece.findings if one.check == "latency_unit")
    assert f"{told} it is 31.9" in message
