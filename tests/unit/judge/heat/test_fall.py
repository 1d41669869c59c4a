"""Where rates fall within sessions for the work that they did."""

import random
import time
from dataclasses import replace

import pytest

from iogate.judge.heat.fall import NO_FALL, falls_within
from iogate.model import Baseline

IOPS = "read.iops"
NAMES = ("a", "b", "c")


def by_turns(speed, noise=0.01, seed=1, workloads=4, sessions=NAMES):
    """The baselines of workloads by turns, five repetitions of 2 s each, from rest, on a device of this speed
    by the session, the work before a repetition, and the number of the workload.
    """
    source = random.Random(seed)
    worked = [tuple(2.0 * (workloads * place + turn) for place in range(5)) for turn in range(workloads)]
    return [
        Baseline(
            f"w{turn}",
            {},
            {
                IOPS: tuple(
                    tuple(1000 * (turn + 1) * speed(n, work, turn) * source.gauss(1, noise) for work in works)
                    for n in range(len(sessions))
                )
            },
            sessions=tuple(sessions),
            worked=dict.fromkeys(sessions, works),
        )
        for turn, works in enumerate(worked)
    ]


def fall_within(baselines):
    """The largest fall."""
    return falls_within(baselines).get("", NO_FALL)


def throttles(*onsets, to=0.8):
    """A device that falls behind so much work, in each session of its own."""
    return lambda session, work, turn: 1.0 if work < onsets[session] else to


@pytest.mark.parametrize("onsets", [(20, 20, 20), (14, 20, 26), (34, 30, 36)])
def test_all_workloads_together_tell_a_fall_wherever_it_is(onsets):
    """Within the rows of single ones it was too late, or not twice at one place."""
    found = fall_within(by_turns(throttles(*onsets)))
    assert found.share == pytest.approx(0.2, abs=0.02)
    assert (found.first, found.since) == (min(onsets), max(onsets))


@pytest.mark.parametrize(
    "speed",
    [
        lambda session, work, turn: 1.0,
        lambda session, work, turn: 0.9 if work < 8 else 1.0,  # it warms up
        lambda session, work, turn: 0.9 if session == 1 else 1.0,  # another day
        lambda session, work, turn: 0.8 if session == 1 and work > 20 else 1.0,  # disturbed once
        lambda session, work, turn: 0.5 if turn == 2 and work > 20 else 1.0,  # one workload's own, twice
        throttles(40, 40, 40),  # never, within these sessions
        throttles(20, 20, 20, to=0.995),  # of no matter
    ],
)
def test_nothing_else_is_a_fall(speed):
    assert fall_within(by_turns(speed)) == NO_FALL


def test_what_falls_for_writes_alone_is_said_of_them():
    """As where a cache is full; readers of a card were undecided for that."""
    speed = throttles(20, 24, 28)
    reads = by_turns(lambda session, work, turn: 1.0 if turn % 2 else speed(session, work, turn))
    mixed = [
        one if number % 2 else replace(one, metrics={"write.iops": one.metrics[IOPS]})
        for number, one in enumerate(reads)
    ]
    found = falls_within(mixed)
    assert found["write"].share == found[""].share == pytest.approx(0.2, abs=0.02)
    assert found["read"] == NO_FALL


def test_what_falls_for_all_is_said_of_those_too_that_were_not_there():
    first, *others = by_turns(throttles(20, 20, 20))
    late = replace(first, metrics={"write.iops": tuple(row[:1] for row in first.metrics[IOPS])})
    assert falls_within([late, *others]).get("write", falls_within(others)[""]).share > 0.15


def test_chance_makes_none():
    noise = (0.003, 0.01, 0.05)
    found = [fall_within(by_turns(lambda *_: 1.0, noise[seed % 3], seed)) for seed in range(300)]
    assert found.count(NO_FALL) == 300


def stalls(source):
    """A device that stalls now and then."""
    return lambda *_: 0.5 if source.random() < 0.03 else 1.0


def test_stalls_make_none():
    """One workload after the other, each divides its own repetitions alone."""
    found = []
    for seed in range(200):
        rows = by_turns(stalls(random.Random(seed)), 0.005, seed, workloads=8)
        apart = [
            replace(one, worked=dict.fromkeys(NAMES, tuple(2.0 * (5 * turn + n) for n in range(5))))
            for turn, one in enumerate(rows)
        ]
        found.append(fall_within(apart))
    assert found.count(NO_FALL) >= 196


def test_a_noisy_workload_beside_quiet_ones_makes_none():
    found = []
    for seed in range(100):
        quiet, noisy = by_turns(lambda *_: 1.0, 0.003, seed), by_turns(lambda *_: 1.0, 0.1, seed)
        found.append(fall_within([*quiet[:3], noisy[3]]))
    assert found.count(NO_FALL) >= 98


@pytest.mark.parametrize("value", [0.0, float("inf"), float("nan")])
def test_what_stood_still_tells_nothing(value):
    first, *others = by_turns(throttles(20, 20, 20))
    first.metrics[IOPS] = ((value,) * 5, *first.metrics[IOPS][1:])
    assert fall_within([first, *others]).share == pytest.approx(0.2, abs=0.02)


def test_sessions_that_do_not_tell_their_work_say_nothing():
    assert fall_within([Baseline("w", {}, {IOPS: ((1000.0,) * 5,) * 3}, sessions=NAMES)]) == NO_FALL
    assert fall_within([]) == NO_FALL


def test_thousands_of_sections_take_as_many_times_as_long():
    """A stranger's baseline of 44,000 names kept each run of the device waiting for 12 minutes."""

    def seconds(count):
        metrics = {f"s{number}.{IOPS}": ((2000.0, 1990.0, 2010.0),) * 2 for number in range(count)}
        many = Baseline("many", {}, metrics, NAMES[:2], worked=dict.fromkeys(NAMES[:2], (0.0, 2.0, 4.0)))
        begun = time.process_time()
        falls_within([many])
        return time.process_time() - begun

    assert seconds(8000) < 100 * min(seconds(500) for _ in range(3))  # 256, if each is held against each
