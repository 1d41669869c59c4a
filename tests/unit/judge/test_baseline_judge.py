"""From decisions on metrics to the verdict on a workload."""

import itertools
import math
import random
import re
from dataclasses import replace

import pytest

from iogate import engines
from iogate.judge.addition import refusal
from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.borrowed import Borrowed
from iogate.judge.heat import Heat, KnownHeat, heat_of
from iogate.judge.judge import GateOptions
from iogate.model import Baseline, Output, Repetition, Tolerance
from workloads import workload

QUIET = ((1000.0, 1002.0, 998.0), (1001.0, 999.0, 1003.0), (997.0, 1000.0, 1002.0))


def judge(gate, metrics, worked=None, heat=None, **gate_options):
    return BaselineJudge(
        workload("fio", options={}, gate=gate),
        Baseline("w", {}, metrics, sessions=("a", "b", "c"), worked=worked or {}),
        tuple(gate),
        GateOptions(**gate_options),
        heat=heat,
    )


def repetitions(**columns):
    rows = zip(*columns.values(), strict=True)
    return [Repetition(Output(dict(zip(columns, row, strict=True)), {}), 1.0, "folder") for row in rows]


def behind(measured, *worked):
    """The same repetitions, of 1 s each, behind so many seconds of measuring."""
    return [replace(one, worked=seconds) for one, seconds in zip(measured, worked, strict=False)]


def decided(one, measured):
    """The verdict of a judge who looks after each repetition, as a session does, and how many it took."""
    for count in range(1, len(measured) + 1):
        if one.look(measured[:count]):
            break
    return one.verdict(measured[:count]), count


IOPS, P99 = "read.iops", "read.clat.p99"


def both(iops, p99):
    return repetitions(**{IOPS: iops, P99: p99})


@pytest.mark.parametrize(
    ("iops", "p99", "verdict"),
    [
        ([1000.0] * 6, [1000.0] * 6, "pass"),
        ([1300.0] * 6, [1000.0] * 6, "improved"),
        ([1000.0] * 6, [1300.0] * 6, "regressed"),
        ([700.0] * 6, [700.0] * 6, "regressed"),
        ([1300.0] * 6, [1060.0, 1061.0, 1059.0, 1060.0, 1060.0, 1060.0], "drift"),
    ],
)
def test_a_workload_is_what_its_worst_metric_is(iops, p99, verdict):
    one = judge({IOPS: Tolerance(0.05), P99: Tolerance(0.1)}, {IOPS: QUIET, P99: QUIET})
    assert decided(one, both(iops, p99))[0].verdict == verdict


WARMING = tuple(1 - 0.25 * math.exp(-place / 2.5) for place in range(12))
HEATING = tuple(0.8 + 0.2 * math.exp(-place / 5) for place in range(12))


def sessions_of(course, seed, count=5):
    source = random.Random(seed)
    return tuple(tuple(2000 * place * source.gauss(1, 0.01) for place in course[:5]) for _ in range(count))


@pytest.mark.parametrize("course", [WARMING, HEATING], ids=["warming up", "getting hot"])
@pytest.mark.parametrize(("loss", "verdict"), [(0.0, "pass"), (0.075, "regressed")])
def test_a_device_whose_speed_changes_within_a_session_is_judged_at_the_same_places(course, loss, verdict):
    for seed in range(10):
        one = judge({IOPS: Tolerance(0.05)}, {IOPS: sessions_of(course, seed)})
        source = random.Random(seed + 100)
        measured = [2000 * (1 - loss) * place * source.gauss(1, 0.01) for place in course]
        found, count = decided(one, repetitions(**{IOPS: measured}))
        assert found.verdict == verdict
        assert count == one.maximum == 5
        assert "for their place in a session: like is held against like" in found.reason
        assert "each of 5 is held against those of its place" in one.effort


@pytest.mark.parametrize("course", [WARMING, HEATING], ids=["warming up", "getting hot"])
@pytest.mark.parametrize(("loss", "wrong"), [(0.0, "regressed"), (0.05, "pass"), (0.05, "drift")])
def test_what_comes_behind_finds_the_device_as_hot_as_in_the_baseline(course, loss, wrong):
    """After two repetitions of each workload instead of five it was colder than at these places ever."""
    change = course[0] - course[11]
    end = course[11]

    def figures(source, count, lost=0.0):
        """Figures of a session, each by how many there were before it."""
        while True:
            speed = end + change * math.exp(-next(count) / 20)
            yield 2000 * speed * (1 - lost) * source.gauss(1, 0.005)

    for seed in range(3):
        source = random.Random(seed)
        known = [[[] for _ in range(8)] for _ in range(5)]
        for session in known:
            drawn = figures(source, itertools.count())
            for first in (0, 4):
                for number in range(20):
                    session[first + number % 4].append(next(drawn))
        drawn = figures(source, itertools.count(), loss)
        for first in (0, 4):
            judges = [
                judge(
                    {IOPS: Tolerance(0.05)}, {IOPS: tuple(tuple(session[first + one]) for session in known)}
                )
                for one in range(4)
            ]
            measured, open_ones = [[] for _ in judges], [*range(4)]
            while open_ones:
                for one in [*open_ones]:
                    measured[one] += repetitions(**{IOPS: [next(drawn)]})
                    if judges[one].look(measured[one]) or len(measured[one]) >= judges[one].maximum:
                        open_ones.remove(one)
                        assert judges[one].verdict(measured[one]).verdict != wrong


@pytest.mark.parametrize(("hot_speed", "verdict"), [(1600, "pass"), (1360, "regressed")])
def test_what_has_no_course_itself_is_measured_as_often_where_another_has_one(hot_speed, verdict):
    """After two repetitions of each, the last found the device cold: a loss of what it does once it is hot
    passed, and the same device was 24% faster.
    """
    source = random.Random(1)

    def session(hot, counts):
        speeds = [2000] * 7 + [hot] * 20
        drawn = iter([speed * source.gauss(1, 0.005) for speed in speeds])
        return [[*itertools.islice(drawn, count)] for count in counts]

    known = [session(1600, [5, 5, 5]) for _ in range(3)]
    rows = [tuple(tuple(each[one]) for each in known) for one in range(3)]
    hot = Heat(heat_of(Baseline("w", {}, {IOPS: values}) for values in rows))
    judges = [judge({IOPS: Tolerance(0.05)}, {IOPS: values}, heat=hot) for values in rows]
    counts: list[int] = []
    for number, one in enumerate(judges):
        measured = repetitions(**{IOPS: session(hot_speed, [*counts, 12, 0, 0][:3])[number]})
        found, count = decided(one, measured)
        counts.append(count)
    assert counts == [5, 5, 5]
    assert found.verdict == verdict
    assert "5 repetitions, as sessions of the baseline have" in judges[0].effort
    assert heat_of([Baseline("w", {}, {IOPS: rows[0]}), Baseline("v", {}, {IOPS: rows[2]})]) == KnownHeat()


LAID_OUT = (800.0, 801.0, 799.0, 800.0, 801.0)
COLD, HOT = [1000.0, 1001.0, 999.0, 1000.0], [800.0, 801.0, 799.0, 800.0]


@pytest.mark.parametrize(
    ("rows", "loss", "verdict"),
    [
        ((LAID_OUT, (*COLD[:3], *HOT[:2]), (*COLD[:2], *HOT[:3])), 0.2, "inconclusive"),
        (
            (LAID_OUT, (*COLD[:3], *HOT[:2]), (*COLD[:2], *HOT[:3])),
            0.3,
            "regressed",
        ),  # more than heat explains
        ((LAID_OUT, (*COLD[:3], *HOT[:2]), LAID_OUT), 0.2, "regressed"),  # in one something disturbed it
        ((LAID_OUT, (*COLD, HOT[0]), (*COLD, HOT[0])), 0.2, "regressed"),  # one repetition
        (((*HOT[:2], *COLD[:3]), (*HOT[:2], *COLD[:3]), LAID_OUT), 0.2, "regressed"),  # it warmed up
    ],
)
def test_sessions_that_fell_anywhere_excuse_what_comes_behind_more_work(rows, loss, verdict):
    """The first began hot, as it had laid out data, so that they show no course."""
    quiet = tuple(tuple(1000.0 + place + session for place in range(5)) for session in range(3))
    names = ("1", "2", "3")
    known = heat_of(
        Baseline("w", {}, {IOPS: each}, sessions=names, worked=dict.fromkeys(names, works))
        for each, works in ((quiet, TURNS["a"]), (rows, BEHIND["a"]))
    )
    assert not known.surely
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: quiet}, BEHIND, Heat(known))
    slow = repetitions(**{IOPS: [1000.0 * (1 - loss) + place for place in range(12)]})
    found, _ = decided(one, behind(slow, *(45 + 2 * place for place in range(12))))
    assert found.verdict == verdict, found.reason
    assert ("was seen within sessions of the baselines" in found.reason) == (verdict == "inconclusive")


def test_single_runs_that_were_imported_are_judged_after_two_on_a_hot_device_too():
    single = tuple((1000.0 + number,) for number in range(5))
    assert judge({IOPS: Tolerance(0.05)}, {IOPS: single}, heat=Heat(KnownHeat(0.2, 0.2))).minimum == 2


@pytest.mark.parametrize("lengths", [(6, 9, 7), (5, 5, 5)])
def test_three_sessions_of_unlike_lengths_show_a_course(lengths):
    """One that is recorded takes what places differ by for noise, and has more repetitions."""
    drop = tuple((2105.0, *[1603.0 + place for place in range(length - 1)]) for length in lengths)
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: drop})
    assert one.minimum == min(lengths)
    assert heat_of([Baseline("w", {}, {IOPS: drop})]).surely == pytest.approx(0.31, abs=0.01)
    assert heat_of([Baseline("w", {}, {"read.clat": drop})]) == KnownHeat()  # it repeats what rates say
    assert decided(one, repetitions(**{IOPS: [2104.0, *[1604.0] * 8]}))[0].verdict == "pass"


def test_where_speed_depends_on_places_a_session_is_as_long_as_those_of_the_baseline():
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: sessions_of(HEATING, 1)})
    for factor, verdict in ((1.0, "pass"), (0.7, "regressed")):
        found, count = decided(one, repetitions(**{IOPS: [2000 * factor * place for place in HEATING]}))
        assert (found.verdict, count, one.usual) == (verdict, 5, 5)
        one.decisions.clear()


def test_it_is_as_long_as_they_are_also_where_they_took_their_course_for_noise():
    """They have 20 repetitions then: after twelve what comes behind found the device less hot."""
    speed = [0.8 + 0.2 * math.exp(-place / 15) for place in range(20)]
    source = random.Random(1)
    known = tuple(tuple(2000 * place * source.gauss(1, 0.005) for place in speed) for _ in range(5))
    for options, most in (({"extend": True}, 20), ({"max_repetitions": 12}, 12)):
        one = judge({IOPS: Tolerance(0.05)}, {IOPS: known}, **options)
        found, count = decided(one, repetitions(**{IOPS: [2000 * place for place in speed]}))
        assert (found.verdict, count, one.usual, one.maximum) == ("pass", most, most, most)


TURNS = dict.fromkeys("abc", (0.0, 2.0, 4.0, 6.0, 8.0))
LATE = dict.fromkeys("abc", (100.0, 102.0, 104.0, 106.0, 108.0))
APART = {
    name: tuple(begin + 2 * place for place in range(5))
    for name, begin in zip("abc", (20.0, 40.0, 60.0), strict=True)
}
BY_SIZE = {
    name: tuple(100.0 + more + 2 * place for place in range(5))
    for name, more in zip("abc", (0, 3, -4), strict=True)
}
BEHIND = dict.fromkeys("abc", (10.0, 12.0, 14.0, 16.0, 18.0))


@pytest.mark.parametrize("loss", [0.0, 0.1])
@pytest.mark.parametrize(
    ("known", "worked", "number"),
    [
        (TURNS, (0.0, 1.0, 2.0, 3.0, 4.0), 3),  # what was by turns with it is left out
        (TURNS, (0.0, 3.0, 6.0, 9.0, 12.0), 3),  # there is one more
        (TURNS, (0.0, 2.0, 4.0, 5.0, 6.0), 5),  # another one ended before, as device time was short
        (BEHIND, (0.0, 2.0, 4.0, 6.0, 8.0), 1),  # the suite before it is left out, or comes behind it now
        (BEHIND, (20.0, 22.0, 24.0, 26.0, 28.0), 1),  # a suite is new, or measured more often
        (APART, (0.0, 2.0, 4.0, 6.0, 8.0), 1),  # however much sessions differ
        (
            LATE,
            (101.5, 103.5, 105.5, 107.5, 109.5),
            1,
        ),  # a small one of twelve is new, in the step of a device
        (LATE, (98.5, 100.5, 102.5, 104.5, 106.5), 1),  # or left out
        (
            {**BEHIND, "d": TURNS["a"]},
            (0.0, 2.0, 4.0, 6.0, 8.0),
            1,
        ),  # one session of four was appended by force
    ],
)
def test_what_comes_behind_other_work_cannot_be_judged_where_that_makes_a_device_hot(
    known, worked, number, loss
):
    """It is colder, or hotter, than it was: it passed although it had lost 10%, or regressed and had not."""
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: sessions_of(HEATING, 1)}, known)
    measured = repetitions(**{IOPS: [2000 * (1 - loss) * place for place in HEATING]})
    found, _ = decided(one, behind(measured, *worked))
    assert found.verdict == "inconclusive"
    assert f"repetition {number} came behind" in found.reason
    assert "like is held against like" not in found.reason
    assert refusal(found)


@pytest.mark.parametrize(
    ("known", "worked"),
    [
        (TURNS, (0.0, 2.1, 4.1, 6.3, 8.2)),  # no two sessions last as long
        (BEHIND, (9.2, 11.2, 13.2, 15.2, 17.2)),  # by less than one repetition
        (LATE, (101.0, 103.0, 105.0, 107.0, 109.0)),
        (BY_SIZE, (107.0, 109.0, 111.0, 113.0, 115.0)),  # as sessions differ among themselves
        ({**BEHIND, "a": TURNS["a"]}, (5.0, 7.0, 9.0, 11.0, 13.0)),  # as unlike are those of the baseline
        ({}, (50.0, 51.0, 52.0, 53.0, 54.0)),  # nobody knows
        (BEHIND, ()),
    ],
)
def test_what_comes_behind_the_same_work_is_judged(known, worked):
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: sessions_of(HEATING, 1)}, known)
    measured = repetitions(**{IOPS: [2000 * place for place in HEATING]})
    assert decided(one, behind(measured, *worked) or measured)[0].verdict == "pass"


@pytest.mark.parametrize(
    ("heat", "speed", "verdict"),
    [
        (KnownHeat(), 2000.0, "pass"),
        (KnownHeat(0.2, 0.2), 2000.0, "inconclusive"),
        (KnownHeat(0.2, 0.2), 1600.0, "inconclusive"),
        (KnownHeat(0.009, 0.009), 1600.0, "regressed"),
        (KnownHeat(0.2, 0.0), 2000.0, "pass"),  # it may be chance
    ],
)
def test_nor_can_what_has_no_course_of_its_own_where_others_make_the_device_hot(heat, speed, verdict):
    """It was measured once the device was hot; by itself it was called faster, whatever that had lost."""
    steady = tuple((2000.0, 2004.0, 1996.0, 2001.0, 1999.0) for _ in range(3))
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: steady}, BEHIND, Heat(heat))
    found, _ = decided(one, behind(repetitions(**{IOPS: [float(speed)] * 12}), *range(12)))
    assert found.verdict == verdict
    assert ("repetitions of other workloads differ by 20" in found.reason) == (verdict == "inconclusive")


AFTER = dict.fromkeys("abc", (60.0, 62.0, 64.0, 66.0, 68.0))
MORE, TWICE, THRICE, LESS = (BEHIND, 60), (AFTER, 120), (AFTER, 190), (AFTER, 0)


@pytest.mark.parametrize(
    ("work", "heat", "change", "verdict"),
    [
        (MORE, KnownHeat(0.03, 0.03, 0.002), 0.0, "pass"),  # so it would 3% faster
        (MORE, KnownHeat(0.03, 0.03, 0.002), -0.1, "regressed"),  # it warms up: no slower for work
        (MORE, KnownHeat(0.03, 0.03, 0.03), -0.1, "inconclusive"),  # it gets hot
        (MORE, KnownHeat(0.2, 0.2, 0.002), 0.0, "inconclusive"),  # a loss of 15% may lie below it
        (MORE, KnownHeat(0.2, 0.2, 0.2), 0.0, "inconclusive"),
        (MORE, KnownHeat(0.2, 0.2, 0.2), -0.2, "inconclusive"),
        (MORE, KnownHeat(0.2, 0.2, 0.2), -0.5, "inconclusive"),
        (TWICE, KnownHeat(0.15, 0.15, 0.15), 0.0, "inconclusive"),
        (TWICE, KnownHeat(0.15, 0.15, 0.15), -0.2, "inconclusive"),
        (TWICE, KnownHeat(0.15, 0.15, 0.15), -0.5, "regressed"),  # for which it ends later
        (THRICE, KnownHeat(0.15, 0.15, 0.15), -0.5, "inconclusive"),
        (LESS, KnownHeat(0.03, 0.03, 0.002), 0.0, "pass"),
        (LESS, KnownHeat(0.03, 0.03, 0.002), -0.15, "regressed"),
        (LESS, KnownHeat(0.03, 0.03, 0.03), 0.0, "inconclusive"),  # it may have been hotter then
        (LESS, KnownHeat(0.2, 0.2, 0.2), -0.15, "inconclusive"),
        (LESS, KnownHeat(0.2, 0.2, 0.2), -0.4, "regressed"),
    ],
)
@pytest.mark.parametrize("name", [IOPS, "read.lat.mean"])
def test_what_other_work_cannot_explain_is_judged(work, heat, change, verdict, name):
    """A device whose first repetition is 3% slower was undecided in all its workloads, minutes behind another
    session, and each night, if it was recorded so.
    """
    known, begun = work
    steady = tuple((2000.0, 2004.0, 1996.0, 2001.0, 1999.0) for _ in range(3))
    one = judge({name: Tolerance(0.05)}, {name: steady}, known, Heat(heat))
    speed = 2000.0 * (1 + change) if name == IOPS else 2000.0 / (1 + change)
    found, _ = decided(one, behind(repetitions(**{name: [speed] * 12}), *range(begun, begun + 24, 2)))
    assert found.verdict == verdict, found.reason


@pytest.mark.parametrize(
    ("first", "change", "verdict"),
    [
        (0.97, 0.0, "pass"),
        (0.93, 0.0, "pass"),  # it is how each run begins
        (0.93, -0.1, "regressed"),
        (0.97, -0.1, "regressed"),
        (1.25, 0.0, "inconclusive"),
        (1.25, -0.1, "inconclusive"),
    ],
)
def test_a_course_of_its_own_that_more_work_cannot_make_slower_is_judged(first, change, verdict):
    rows = tuple((1000.0 * first, *(1000.0 + place + session for place in range(4))) for session in range(5))
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, dict.fromkeys("abcde", BEHIND["a"]))
    measured = [1000.0 * first * (1 + change), *[1002.0 * (1 + change)] * 11]
    found, _ = decided(one, behind(repetitions(**{IOPS: measured}), *range(60, 84, 2)))
    assert found.verdict == verdict, found.reason


@pytest.mark.parametrize(
    ("begun", "change", "verdict"),
    [
        (5.5, 0.0, "pass"),
        (19.0, 0.0, "pass"),
        (5.5, -0.2, "regressed"),
        (0.0, 0.2, "inconclusive"),  # it came to rest while it was cool, 12% lost or not
        (0.0, -0.2, "inconclusive"),
        (40.0, -0.2, "inconclusive"),
    ],
)
def test_what_waits_until_the_device_is_at_rest_is_judged_behind_about_as_much_work(begun, change, verdict):
    """How long that takes differs from session to session; where heat takes longer, it is at rest at the
    speed that what came before brought about: with 12% lost a suite alone was `improved`, an unchanged one
    `regressed`.
    """
    steady = tuple((2000.0, 2004.0, 1996.0, 2001.0, 1999.0) for _ in range(3))
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: steady}, BEHIND, Heat(KnownHeat(0.2, 0.2, 0.2)))
    rests = replace(one.workload, procedure={"steady_state": {}})
    one = BaselineJudge(rests, one.baseline, one.gating, one.gate_options, heat=one.heat)
    measured = repetitions(**{IOPS: [2000.0 * (1 + change)] * 12})
    found, _ = decided(one, behind(measured, *(begun + n for n in range(12))))
    assert found.verdict == verdict, found.reason


@pytest.mark.parametrize(
    ("change", "loss", "wrong"),
    [
        (-0.3, 0.0, "regressed"),
        (-0.2, 0.0, "regressed"),
        (-0.1, 0.0, "regressed"),
        (0.2, 0.1, "pass"),
        (0.3, 0.2, "pass"),
    ],
)
def test_what_changes_where_sessions_of_the_baseline_end_does_not_decide(change, loss, wrong):
    """An unchanged device that gets hot behind five repetitions was regressed, where noise asked for more."""
    source = random.Random(3)
    found = []
    for _ in range(80):
        rows = tuple(
            tuple(level * source.gauss(1, 0.02) for _ in range(5))
            for level in (1000 * source.gauss(1, 0.007) for _ in range(3))
        )
        level = 1000 * (1 - loss) * source.gauss(1, 0.007)
        speeds = [level * (1 + change * (place >= 5)) * source.gauss(1, 0.02) for place in range(20)]
        found.append(decided(judge({IOPS: Tolerance(0.05)}, {IOPS: rows}), repetitions(**{IOPS: speeds}))[0])
    assert sum(one.verdict == wrong for one in found) <= 2


def test_such_a_change_is_told():
    rows = ((1000.0, 1010.0, 990.0), (1005.0, 995.0, 1001.0), (990.0, 1003.0, 1011.0))
    slow = [*rows[0], *(800.0 + n for n in range(30))]
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, max_repetitions=len(slow))
    one.look(repetitions(**{IOPS: slow}))
    found = one.verdict(repetitions(**{IOPS: slow}))
    assert found.verdict == "inconclusive"
    assert "% from repetition 4 on, where sessions of the baseline have ended" in found.reason


@pytest.mark.parametrize(
    ("fall", "loss", "worked", "verdict"),
    [
        (0.2, 0.2, 45.0, "inconclusive"),
        (0.2, 0.2, 10.5, "regressed"),  # behind as much work as ever
        (0.2, 0.4, 45.0, "regressed"),  # by more than the device fell
        (0.0, 0.2, 45.0, "regressed"),
    ],
)
def test_what_comes_behind_more_work_than_ever_lost_no_more_than_the_device_was_seen_to_fall(
    fall, loss, worked, verdict
):
    """A noisy workload took more repetitions than it was recorded with; what came behind it was regressed."""
    heat, source = Heat(), random.Random(1)
    rows = tuple(tuple(1000 * source.gauss(1, 0.01) for _ in range(5)) for _ in range(3))
    noisy = repetitions(**{IOPS: [1000 * (1 - fall * (n > 7)) * source.gauss(1, 0.02) for n in range(20)]})
    first = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, heat=heat, max_repetitions=20)
    first.look(noisy)
    assert first.verdict(noisy).verdict != "regressed"
    assert heat.seen.share == pytest.approx(fall, abs=0.03)
    second = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND, heat=heat)
    slow = [1000 * (1 - loss) * source.gauss(1, 0.01) for _ in range(20)]
    found, _ = decided(second, behind(repetitions(**{IOPS: slow}), *(worked + 2 * n for n in range(20))))
    assert found.verdict == verdict


@pytest.mark.parametrize("loss", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("disturbed", [0, 1, 4])
def test_a_loss_is_one_whatever_disturbed_a_repetition_and_whatever_came_before(loss, disturbed):
    """Run again at once, and a quiet device is behind more work than ever: one repetition that something
    disturbed made all of it inconclusive.
    """
    rows = tuple((1000.0 + n, 1001.0, 999.0, 1002.0, 998.0) for n in range(3))
    values = [(1000.0 + n) * (1 - loss) for n in range(5)]
    values[disturbed] *= 0.5
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND)
    found, _ = decided(one, behind(repetitions(**{IOPS: values}), *(40.0 + 2 * n for n in range(5))))
    assert found.verdict == "regressed"


@pytest.mark.parametrize("knee", [1, 2])
@pytest.mark.parametrize(("noise", "drop"), [(0.01, 0.1), (0.02, 0.2)])
def test_a_fall_behind_more_work_than_ever_is_seen_amid_noise(knee, noise, drop):
    """It was held against this session's own repetitions alone, so that 41% of these were regressed."""
    source = random.Random(2)
    found = []
    for _ in range(60):
        sessions = [1000 * source.gauss(1, 0.005) for _ in range(6)]
        *rows, own = ([level * source.gauss(1, noise) for _ in range(20)] for level in sessions)
        falls = [value * (1 - drop * (place >= knee)) for place, value in enumerate(own)]
        lost = [value * (1 - drop) for value in own]
        for values in (falls, lost):
            one = judge({IOPS: Tolerance(0.05)}, {IOPS: tuple(tuple(row[:5]) for row in rows)}, BEHIND)
            work = (40.0 + 2 * n for n in range(20))
            found.append(decided(one, behind(repetitions(**{IOPS: values}), *work))[0].verdict)
    assert found[::2].count("regressed") <= 4
    assert found[1::2].count("regressed") >= 58


def test_a_first_repetition_that_was_disturbed_makes_nothing_of_the_rest_doubtful():
    """Behind more work than ever 17% of the sessions with one were inconclusive."""
    rows = tuple((1000.0 + n, 1001.0, 999.0, 1002.0, 998.0) for n in range(3))
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND)
    values = [700.0, *(1000.0 + n for n in range(19))]
    found, _ = decided(one, behind(repetitions(**{IOPS: values}), *(40.0 + 2 * n for n in range(20))))
    assert found.verdict == "pass"


def test_a_step_behind_more_work_than_ever_decides_nothing_that_was_not_so_before():
    """What had lost as much before it has regressed, however much slower it gets then."""
    rows = tuple((1000.0 + n, 1001.0, 999.0, 1002.0, 998.0) for n in range(3))
    for first, count, verdict in (
        (850.0, 3, "regressed"),
        (1000.0, 3, "inconclusive"),
        (1000.0, 1, "inconclusive"),  # it crossed the knee of a device right behind its first repetition
        (775.0, 1, "regressed"),
    ):
        values = [*(first + n for n in range(count)), *(first * 0.8 + n for n in range(6 - count))]
        one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND)
        measured = behind(repetitions(**{IOPS: values}), *(40.0 + 2 * n for n in range(6)))
        one.look(measured)
        assert one.verdict(measured).verdict == verdict


@pytest.mark.parametrize(("begin", "verdict"), [(20.0, "inconclusive"), (10.0, "regressed")])
def test_what_gets_slow_amid_more_work_than_ever_is_not_judged(begin, verdict):
    """It crossed the knee of a device, behind what took more repetitions than it was recorded with."""
    rows = tuple((4000.0 + n, 4010.0, 3990.0, 4005.0, 3998.0) for n in range(3))
    crossing = repetitions(**{IOPS: [4003.0, 3991.0, *(3220.0 + n for n in range(10))]})
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND)
    measured = behind(crossing, *(begin + 2 * n for n in range(12)))
    one.look(measured)
    assert one.verdict(measured).verdict == verdict


@pytest.mark.parametrize(("other", "verdict"), [(1000.0, "regressed"), (800.0, "inconclusive")])
def test_what_was_seen_to_fall_was_the_workloads_own_where_another_passed_behind_it(other, verdict):
    """What was by turns with it was as fast as ever, and what came behind both had lost."""
    heat, source = Heat(), random.Random(1)
    rows = tuple(tuple(1000 * source.gauss(1, 0.01) for _ in range(5)) for _ in range(3))
    workloads = ([1000.0 if n < 8 else 800.0 for n in range(20)], [other] * 20, [800.0] * 20)
    for place, speeds in enumerate(workloads):
        begin = 60.0 if place == 2 else 20.0 + place
        speeds = [speed * source.gauss(1, 0.01) for speed in speeds]
        measured = behind(repetitions(**{IOPS: speeds}), *(begin + 2 * n for n in range(20)))
        one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND, heat=heat, max_repetitions=20)
        one.look(measured)
        found = one.verdict(measured)
    assert found.verdict == verdict


def test_what_regressed_behind_more_work_says_so():
    rows = tuple((1000.0, 1001.0, 999.0) for _ in range(3))
    slow = repetitions(**{IOPS: [800.0, 801.0, 799.0]})
    for begin, told in ((45.0, True), (0.0, False), (10.0, False)):
        one = judge({IOPS: Tolerance(0.05)}, {IOPS: rows}, BEHIND)
        found, _ = decided(one, behind(slow, *(begin + 2 * n for n in range(3))))
        assert found.verdict == "regressed"
        assert ("behind 45 s of measuring, and behind 10 s in the baseline: if" in found.reason) == told


def test_what_is_slower_from_the_first_repetition_on_regressed_however_many_it_takes():
    source = random.Random(4)
    found = []
    for _ in range(40):
        rows = tuple(tuple(1000 * source.gauss(1, 0.02) for _ in range(3)) for _ in range(5))
        lost = [915 * source.gauss(1, 0.04) for _ in range(20)]
        found.append(decided(judge({IOPS: Tolerance(0.05)}, {IOPS: rows}), repetitions(**{IOPS: lost})))
    assert sum(count > 3 for _, count in found) >= 15
    assert sum(one.verdict == "regressed" for one, _ in found) >= 30
    assert sum("nobody knows" in one.reason for one, _ in found) <= 2


@pytest.mark.parametrize(
    ("cached", "loss"), [(2, 0.1), (2, 0.3), (2, 0.5), (3, 0.3), (3, 0.5), (4, 0.5), (4, 0.8)]
)
def test_a_loss_behind_the_first_repetitions_never_passes(cached, loss):
    """As fast as ever while its cache takes it: two said `pass`, and nobody looked at what came behind; or
    one behind the cache was taken for an outlier.
    """
    filling = [1.0] * cached + [0.5] * (5 - cached)
    lost = [place if place == 1 else place * (1 - loss) for place in filling]
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: sessions_of(filling, 1)})
    found, count = decided(one, repetitions(**{IOPS: [2000 * place for place in lost]}))
    assert found.verdict in ("regressed", "inconclusive")
    assert (count, one.minimum) == (5, 5)
    told = re.search(r"place by place ([^;]*%)", found.reason)[1].split(", ")
    changes = [round(float(text.rstrip("%")) / 100, 1) for text in told]
    assert changes == [0 if place == 1 else -loss for place in filling]
    assert refusal(found)


@pytest.mark.parametrize(
    ("course", "change"),
    [
        ((1.0, 1.0, 1.0, 1.0, 5.0), (1.0, 1.0, 1.0, 1.0, 1.4)),
        ((5.0, 1.0, 1.0, 1.0, 1.0), (1.2, 1.0, 1.0, 1.0, 1.0)),
    ],
)
def test_a_place_weighs_as_much_as_it_takes(course, change):
    """Latencies behind the cache were five times as long, and two fifths more of them passed."""
    known = sessions_of(course, 1)
    lost = [place * more for place, more in zip(course, change, strict=True)]
    latency = "read.clat.mean"
    one = judge({latency: Tolerance(0.1)}, {latency: known})
    found, _ = decided(one, repetitions(**{latency: [2000 * place for place in lost]}))
    assert found.verdict == "inconclusive" and refusal(found)
    same = judge({latency: Tolerance(0.1)}, {latency: known})
    assert decided(same, repetitions(**{latency: [2000 * place for place in course]}))[0].verdict == "pass"


def test_of_a_longer_session_the_places_that_the_baseline_has_count():
    known = {IOPS: sessions_of(HEATING, 1)}
    one = judge({IOPS: Tolerance(0.05)}, known, max_repetitions=12, extend=False)
    assert one.look(repetitions(**{IOPS: [2000 * place for place in HEATING]}))
    assert one.verdict(repetitions(**{IOPS: [2000 * place for place in HEATING]})).verdict == "pass"


def test_a_course_that_is_nothing_beside_the_tolerance_is_left():
    slight = tuple(1 - 0.006 * math.exp(-place) for place in range(12))
    quiet = tuple(tuple(2000 * place * (1 + 1e-4 * number) for place in slight[:5]) for number in range(5))
    assert judge({IOPS: Tolerance(0.05)}, {IOPS: quiet}).effort == ""
    assert "of its place" in judge({IOPS: Tolerance(0.01)}, {IOPS: quiet}).effort


def test_one_short_session_among_others_shortens_none_of_them():
    known = sessions_of(WARMING, 1)
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: (known[0][:2], *known[1:])})
    assert one.maximum == 5
    source = random.Random(100)
    found, _ = decided(
        one, repetitions(**{IOPS: [2000 * place * source.gauss(1, 0.01) for place in WARMING]})
    )
    assert found.verdict == "pass"


def test_a_shorter_protocol_is_held_against_as_many_places():
    short = workload("fio", options={}, gate={IOPS: Tolerance(0.05)}, repetitions=3)
    baseline = Baseline("w", {}, {IOPS: sessions_of(WARMING, 1)}, sessions=tuple("abcde"))
    one = BaselineJudge(short, baseline, (IOPS,), GateOptions())
    found, count = decided(one, repetitions(**{IOPS: [2000 * place for place in WARMING]}))
    assert (found.verdict, count) == ("pass", 3)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("course", [WARMING, HEATING], ids=["warming up", "getting hot"])
@pytest.mark.parametrize(("loss", "verdicts"), [(0.0, {"pass", "improved", "drift"}), (0.1, {"regressed"})])
def test_of_however_few_repetitions_the_places_count(count, course, loss, verdicts):
    for seed in range(10):
        short = workload("fio", options={}, gate={IOPS: Tolerance(0.05)}, repetitions=count)
        baseline = Baseline("w", {}, {IOPS: sessions_of(course, seed)}, sessions=tuple("abcde"))
        one = BaselineJudge(short, baseline, (IOPS,), GateOptions())
        source = random.Random(seed + 100)
        measured = [2000 * (1 - loss) * place * source.gauss(1, 0.002) for place in course[:count]]
        found, measured_count = decided(one, repetitions(**{IOPS: measured}))
        assert (found.verdict in verdicts, measured_count, one.maximum) == (True, count, count)


def test_a_metric_once_decided_stays_decided():
    one = judge({IOPS: Tolerance(0.05), P99: Tolerance(0.05)}, {IOPS: QUIET, P99: QUIET}, max_repetitions=6)
    later_worse = [1000.0, 1000.0, 600.0, 600.0, 600.0, 600.0]
    wobbly = [1000.0, 1090.0, 920.0, 1080.0, 930.0, 1070.0]
    verdict, count = decided(one, both(later_worse, wobbly))
    assert count > 2
    assert next(item for item in verdict.metrics if item.metric.name == IOPS).verdict == "pass"


def test_a_gating_metric_that_was_not_measured_is_invalid():
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: QUIET})
    verdict, _ = decided(one, repetitions(**{P99: [1.0, 1.0]}))
    assert verdict.verdict == "invalid"
    assert "read.iops was not measured; measured were: read.clat.p99" in verdict.reason


def test_a_metric_that_the_baseline_lacks_has_no_verdict():
    one = judge({P99: Tolerance(0.05)}, {IOPS: QUIET})
    verdict, _ = decided(one, both([1000.0] * 3, [1000.0] * 3))
    assert verdict.verdict == "no_baseline"
    assert "--update-baselines" in verdict.reason


def test_the_command_line_replaces_the_tolerance_and_keeps_the_other_bound():
    one = judge({IOPS: Tolerance(0.5, 0.1)}, {IOPS: QUIET}, tolerance=0.03)
    assert one.tolerance(IOPS) == Tolerance(0.03, 0.1)


def test_what_is_better_than_held_possible_is_not_believed():
    one = judge({IOPS: Tolerance(0.05, 0.1)}, {IOPS: QUIET})
    assert decided(one, repetitions(**{IOPS: [1400.0] * 4}))[0].verdict == "invalid"


def test_the_reason_has_the_figures_the_interval_and_the_bound():
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: QUIET})
    verdict, _ = decided(one, repetitions(**{IOPS: [900.0, 901.0, 899.0]}))
    first = verdict.reason.splitlines()[0]
    assert first.startswith("read.iops is 900.")
    assert "against 1.000 k IOPS, -10.0% [-" in first
    assert "; fails below 955." in first
    assert first.endswith(" IOPS (tolerance 5.0%)")


def test_metrics_that_do_not_gate_are_noted_beside_their_baseline():
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: QUIET, P99: QUIET})
    verdict, _ = decided(one, both([1000.0] * 3, [2000.0] * 3))
    other = next(item for item in verdict.metrics if item.metric.name == P99)
    assert (verdict.verdict, other.gating, other.change) == ("pass", False, 1.0)


def test_a_workload_that_was_cut_short_says_why():
    one = judge({IOPS: Tolerance(0.001)}, {IOPS: QUIET})
    measured = repetitions(**{IOPS: [1000.0, 1010.0]})
    one.look(measured)
    verdict = one.verdict(measured, "the session was interrupted")
    assert verdict.verdict == "inconclusive"
    assert "the session was interrupted" in verdict.reason


def test_bounds_that_no_device_reaches_are_not_told_as_figures():
    wild = judge({IOPS: Tolerance(0.05)}, {IOPS: ((1000.0, 300.0, 2500.0),)})
    measured = repetitions(**{IOPS: [900.0, 2000.0]})
    wild.look(measured)
    reason = wild.verdict(measured, "cut short").reason
    assert "nothing plausible passes" in reason
    assert "E" not in reason and "000000" not in reason


def test_values_are_shown_under_the_sessions_that_they_are_of():
    known = Baseline("w", {}, {IOPS: QUIET[1:]}, ("a", "b", "c"), partial={IOPS: ("b", "c")})
    one = BaselineJudge(
        workload("fio", options={}, gate={IOPS: Tolerance(0.05)}), known, (IOPS,), GateOptions()
    )
    verdict, _ = decided(one, repetitions(**{IOPS: (1000.0, 1001.0, 999.0)}))
    assert verdict.metrics[0].sessions == {"b": QUIET[1], "c": QUIET[2]}


@pytest.mark.parametrize("name", [IOPS, P99])
def test_a_metric_that_is_lost_after_it_was_decided_is_invalid(name):
    one = judge({IOPS: Tolerance(0.05), P99: Tolerance(0.05)}, {IOPS: QUIET, P99: QUIET})
    measured = both([1000.0] * 3, [1000.0, 1090.0, 920.0])
    measured[2:] = repetitions(**{P99 if name == IOPS else IOPS: [1000.0]})
    verdict, count = decided(one, measured)
    assert (verdict.verdict, count) == ("invalid", 3)
    assert f"{name} was not measured" in verdict.reason


@pytest.mark.parametrize("looked_at", [0, 1])
def test_who_is_interrupted_before_a_look_is_undecided(looked_at):
    one = judge({IOPS: Tolerance(0.05)}, {IOPS: QUIET})
    measured = [*repetitions(**{IOPS: [1000.0]}), *repetitions(**{P99: [1000.0]})]
    if looked_at:
        one.look(measured[:looked_at])
    verdict = one.verdict(measured, "the session was interrupted")
    assert verdict.verdict == "inconclusive"
    assert "the session was interrupted" in verdict.reason
    assert {item.metric.name: item.verdict for item in verdict.metrics if item.gating} == {
        IOPS: "inconclusive"
    }


# ------------------------------------------------------------ a fixed number of repetitions


def protocol(number, metrics=None, **declared):
    gate = {IOPS: Tolerance(0.05)}
    return BaselineJudge(
        workload("fio", options={}, gate=gate, repetitions=number, **declared),
        Baseline("w", {}, metrics or {IOPS: QUIET}, sessions=("a", "b", "c")),
        tuple(gate),
        GateOptions(),
    )


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([1000.0, 1001.0, 600.0, 600.0, 600.0], "inconclusive"),
        ([1000.0, 600.0, 600.0, 601.0, 599.0], "regressed"),
        ([1000.0, 1001.0, 999.0, 1000.0, 1002.0], "pass"),
    ],
)
def test_a_protocol_is_judged_when_it_is_complete(values, verdict):
    found, count = decided(protocol(5), repetitions(**{IOPS: values}))
    assert (found.verdict, count) == (verdict, 5)


def test_a_protocol_of_one_repetition_is_judged_after_it():
    assert decided(protocol(1), repetitions(**{IOPS: [1000.0, 500.0]}))[1] == 1


def test_a_protocol_takes_what_it_says_and_is_not_begun_for_less():
    one = protocol(7)
    assert (one.minimum, one.usual, one.maximum) == (7, 7, 7)


def test_a_protocol_that_was_cut_short_is_undecided():
    one, measured = protocol(5), repetitions(**{IOPS: [600.0, 600.0]})
    assert not one.look(measured)
    assert one.verdict(measured, "the session was interrupted").verdict == "inconclusive"


def test_a_protocol_ends_at_once_where_its_metric_is_not_measured():
    verdict, count = decided(protocol(5), repetitions(**{P99: [1.0] * 5}))
    assert (verdict.verdict, count) == ("invalid", 1)


def test_rounds_of_a_steady_state_that_are_more_than_a_protocol_asks_for_are_all_judged():
    one = protocol(3)
    assert one.look(repetitions(**{IOPS: [1000.0, 1001.0, 999.0, 700.0, 700.0]}))
    assert one.decisions[IOPS].repetitions == 5


def test_whole_microseconds_are_known_to_be_so_where_they_never_differ():
    """A device that lost the tolerance passed in 42% of the sessions."""
    name, source = "read.latency.mean", random.Random(31)

    def session(microseconds, count):
        return tuple(1000.0 * math.floor(microseconds * source.gauss(1, 0.001)) for _ in range(count))

    options = engines.load("iozone").options({"size": "64M", "report": "latency"})
    measured = workload("iozone", options=options, gate={name: Tolerance(0.05)})
    verdicts = []
    for _ in range(200):
        microseconds = source.uniform(20, 40)
        known = Baseline(
            "w", {}, {name: tuple(session(microseconds, 5) for _ in range(5))}, sessions=tuple("abcde")
        )
        one = BaselineJudge(measured, known, (name,), GateOptions())
        verdicts.append(decided(one, repetitions(**{name: session(microseconds * 1.05, 12)}))[0].verdict)
    assert sum(verdict in ("pass", "drift") for verdict in verdicts) <= 20
    assert verdicts.count("invalid") == 0


LIMITED = {
    "rw": "randread",
    "bs": "4k",
    "size": "1M",
    "runtime": 10,
    "time_based": True,
    "fio": {"rate_iops": 800},
}
LATENCIES = Borrowed(session=0.02, session_degrees=4.0, doubted_degrees=4.0, evidence=8.0, repetition=0.2,
                     repetition_degrees=12.0, workloads=3, sessions=3)  # fmt: skip


@pytest.mark.parametrize(
    ("limit", "verdicts"), [(True, ["pass", "regressed"]), (False, ["inconclusive"] * 2)]
)
def test_a_limited_rate_borrows_nothing_of_how_latencies_differ(limit, verdicts):
    """What lends of a limited workload is its latency; its rate is as steady as the limit."""
    given = LIMITED if limit else {**LIMITED, "fio": {}}
    limited = workload("fio", options=engines.load("fio").options(given), gate={IOPS: Tolerance(0.05)})
    known = Baseline("w", {}, {IOPS: QUIET}, sessions=("a", "b", "c"))
    found = []
    for change in (1.0, 0.86):
        one = BaselineJudge(limited, known, (IOPS,), GateOptions(borrowed=LATENCIES))
        measured = repetitions(**{IOPS: [value * change for value in QUIET[0]] * 4})
        found.append(decided(one, measured)[0].verdict)
    assert found == verdicts
