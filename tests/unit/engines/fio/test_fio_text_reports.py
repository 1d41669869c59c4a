"""Whether two reports of a job are of one run, by process, date and time."""

import pytest

from growth import LINEAR, growth
from iogate.engines.fio.text_lines import JOB
from iogate.engines.fio.text_reports import report_of


def report(pid=5, at="10:00:10", seconds=10.0, bytes="40MiB", error="err= 0"):
    line = f"a: (groupid=0, jobs=1): {error}: pid={pid}: Wed Nov 25 {at} 2026"
    figures = f"\n  read: IOPS=1000, BW=4000KiB/s (4096kB/s)({bytes}/{round(seconds * 1000)}msec)\n"
    return report_of(JOB.match(line), figures)


@pytest.mark.parametrize(
    ("later", "one"),
    [
        (report(at="10:00:20", seconds=20, bytes="80MiB"), True),  # --status-interval=10
        (report(at="10:00:20", seconds=14, bytes="56MiB"), True),  # it ended before the others did
        (report(at="10:00:30"), True),  # it had ended by then: the same line
        (report(at="10:00:30", seconds=20, bytes="80MiB"), True),
        (report(at="10:00:32", seconds=12, bytes="48MiB"), False),  # there was time for all of it
        (report(at="10:00:30", bytes="41MiB"), False),  # it did not go on
        (report(at="10:00:30", seconds=5, bytes="20MiB"), False),
        (report(at="09:59:50", seconds=20, bytes="80MiB"), False),  # before the first
    ],
)
def test_one_run_goes_on_by_the_clock(later, one):
    assert report().allows(later) is one


@pytest.mark.parametrize(
    ("later", "one"),
    [
        (report(), True),
        (report(pid=6), False),
        (report(pid=0), True),
        (report(pid=0, error="err=28 (func=write, error=No space left on device)"), False),
    ],
)
def test_a_process_has_one_number_and_0_before_it_begins(later, one):
    assert report().is_of_process(later) is later.is_of_process(report()) is one


def test_reading_takes_time_in_proportion_to_the_text():
    job = JOB.match("a: (groupid=0, jobs=1): err= 0: pid=5")
    short, four = "1" * 20_000, "1" * 80_000
    assert growth(lambda: report_of(job, short), lambda: report_of(job, four)) < LINEAR
