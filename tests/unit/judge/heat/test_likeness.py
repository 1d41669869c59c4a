"""Whether what a session does is how each begins, or comes of the work before."""

import math
import random
from dataclasses import replace

import pytest

from iogate.judge.baseline_judge import BaselineJudge
from iogate.judge.gate import course_of
from iogate.judge.heat import Heat, heat_of
from iogate.judge.heat.likeness import Beginnings
from iogate.judge.judge import GateOptions
from iogate.model import Baseline, Output, Repetition, Tolerance
from workloads import workload

IOPS = "read.iops"


def recorded(speed, begun, noise=0.005, seed=1):
    """The baseline of a device of this speed, by the place of a repetition of 2 s and the work before it:
    sessions began behind so many seconds of work.
    """
    source = random.Random(seed)
    sessions = tuple("abcdefgh"[: len(begun)])
    worked = {
        session: tuple(before + 2.0 * place for place in range(5))
        for session, before in zip(sessions, begun, strict=True)
    }
    rows = tuple(
        tuple(speed(place, work) * source.gauss(1, noise) for place, work in enumerate(worked[session]))
        for session in sessions
    )
    return Baseline("w", {}, {IOPS: rows}, sessions=sessions, worked=worked)


def judge_at_rest(baseline, known):
    """The judge of a session that begins at rest, with what is known of the device's heat."""
    return BaselineJudge(
        workload("fio", options={}, gate={IOPS: Tolerance(0.05)}),
        baseline,
        (IOPS,),
        GateOptions(),
        heat=Heat(known, rested=True),
    )


def begins_fast(place, work):
    return 1000.0 if place else 1040.0


def begins_slowly(place, work):
    return 1000.0 if place else 800.0


def gets_hot(place, work):
    return 1000.0 - 200 * (1 - math.exp(-work / 3))


def gets_hot_slowly(place, work):
    return 1000.0 - 300 * (1 - math.exp(-work / 40))


def warms_up(place, work):
    return 1000.0 - 200 * math.exp(-work / 3)


IN_A_ROW = (0.0, 10.0, 20.0, 30.0, 40.0)
RESTED = (0.0,) * 5
HALF_RESTED = (0.0, 5.0, 5.0, 5.0, 5.0)


@pytest.mark.parametrize("noise", [0.003, 0.006])
@pytest.mark.parametrize("speed", [begins_fast, begins_slowly])
def test_what_sessions_in_a_row_do_each_is_how_they_begin(speed, noise):
    for seed in range(50):
        baseline = recorded(speed, IN_A_ROW, noise, seed)
        assert Beginnings.of([baseline]).comes_anew(baseline, IOPS, course_of(baseline.metrics[IOPS], 5))


@pytest.mark.parametrize("begun", [IN_A_ROW, RESTED, HALF_RESTED, IN_A_ROW[:3]])
@pytest.mark.parametrize("speed", [gets_hot, gets_hot_slowly, warms_up])
def test_what_work_makes_of_a_device_is_not(speed, begun):
    for seed in range(50):
        baseline = recorded(speed, begun, seed=seed)
        course = course_of(baseline.metrics[IOPS], 5)
        assert course is None or not Beginnings.of([baseline]).comes_anew(baseline, IOPS, course)


@pytest.mark.parametrize("begun", [RESTED, HALF_RESTED, IN_A_ROW[:3]])
def test_sessions_at_rest_or_few_do_not_tell(begun):
    baseline = recorded(begins_fast, begun)
    assert not Beginnings.of([baseline]).comes_anew(baseline, IOPS, course_of(baseline.metrics[IOPS], 5))


@pytest.mark.parametrize(
    ("rested", "speed", "change", "verdict"),
    [
        (True, begins_fast, 0.0, "pass"),
        (True, begins_fast, -0.1, "regressed"),
        (False, begins_fast, 0.0, "inconclusive"),  # behind some work, and less than it was recorded
        (True, gets_hot_slowly, 0.0, "inconclusive"),
    ],
)
def test_a_session_at_rest_is_judged_by_sessions_in_a_row_where_that_changes_nothing(
    rested, speed, change, verdict
):
    """A device that begins faster was inconclusive each night, once it was recorded five times in a row."""
    baseline = recorded(speed, IN_A_ROW)
    heat = Heat(heat_of([baseline]), rested=rested)
    gate = {IOPS: Tolerance(0.05)}
    judge = BaselineJudge(workload("fio", options={}, gate=gate), baseline, (IOPS,), GateOptions(), heat=heat)
    measured = [
        Repetition(Output({IOPS: speed(place, 2.0 * place) * (1 + change)}, {}), 2.0, "", worked=2.0 * place)
        for place in range(12)
    ]
    for count in range(1, 13):
        if judge.look(measured[:count]):
            break
    found = judge.verdict(measured[:count])
    assert found.verdict == verdict, found.reason


def throttles(place, work):
    return 1000.0 if work < 6 else 850.0


@pytest.mark.parametrize(
    ("speed", "begun", "loss", "verdict"),
    [
        (warms_up, IN_A_ROW, 0.0, "inconclusive"),
        (warms_up, IN_A_ROW, 0.1, "inconclusive"),  # as slow as the rest explains
        (warms_up, IN_A_ROW, 0.3, "regressed"),
        (warms_up, RESTED, 0.0, "pass"),
        (throttles, IN_A_ROW, 0.0, "inconclusive"),
        (throttles, IN_A_ROW, 0.1, "inconclusive"),
        (throttles, RESTED, 0.0, "pass"),
    ],
)
def test_what_differs_at_rest_is_judged_beyond_what_the_session_did_that_began_so(
    speed, begun, loss, verdict
):
    """One of five shows no course: rested, a device that warms up was regressed, unchanged; and one that
    throttles improved, 10% slower.
    """
    baseline = recorded(speed, begun)
    heat = Heat(heat_of([baseline]), rested=True)
    gate = {IOPS: Tolerance(0.05)}
    judge = BaselineJudge(workload("fio", options={}, gate=gate), baseline, (IOPS,), GateOptions(), heat=heat)
    measured = [
        Repetition(Output({IOPS: speed(0, work) * (1 - loss)}, {}), 2.0, "", worked=work)
        for work in (2.0 * place for place in range(12))
    ]
    count = next(number for number in range(1, 13) if judge.look(measured[:number]))
    found = judge.verdict(measured[:count])
    assert found.verdict == verdict, found.reason


def in_a_row(at_rest):
    """The baselines of a suite of which the first of five sessions in a row began at rest, where it had these
    rates in 1000 of the others'.
    """
    source = random.Random(5)
    baselines = []
    for number, rate in enumerate(at_rest):
        works = {name: (40.0 * n + 4 * number, 40.0 * n + 4 * number + 2) for n, name in enumerate("abcde")}
        rows = tuple(
            tuple(source.gauss(rate if name == "a" else 1000.0, 2.0) for _ in range(2)) for name in "abcde"
        )
        baselines.append(Baseline(f"w{number}", {}, {IOPS: rows}, sessions=tuple("abcde"), worked=works))
    return baselines


@pytest.mark.parametrize(
    ("at_rest", "known"),
    [
        ((1000, 1000, 1050, 1000, 1000, 1000), ()),  # chance, as nothing beside it bears it out
        ((1030,) * 6, ()),  # throughout, behind more work than the next began with: no heat
        ((1000, 1000, 1150, 1150, 1000, 1000), (2, 3)),
        ((930, 935), (0, 1)),  # two are over before it can be seen to get as it is later
        ((900, 1000, 1000, 1000, 1000, 1000), (0,)),  # it wakes up
        ((850, 900, 950, 980, 1000, 1000), (0, 1, 2, 3)),
    ],
)
def test_what_one_session_had_at_rest_is_told_from_chance(at_rest, known):
    """One workload of many that was faster by chance, or a session that was throughout, left all that came
    before it undecided each night, unchanged.
    """
    found = {work // 4 for work, _ in heat_of(in_a_row(at_rest)).at_rest}
    assert found == set(known)


def test_a_rate_that_was_nothing_at_a_place_says_nothing_of_rest():
    """As writes of a mix that ends before they come; nobody divides by it."""
    rows = ((900.0, 0.0), (1000.0, 0.0), (1001.0, 0.0), (999.0, 0.0), (1000.0, 0.0))
    worked = {name: (10.0 * place, 10.0 * place + 2) for place, name in enumerate("abcde")}
    one = Baseline("w", {}, {"write.iops": rows}, sessions=tuple("abcde"), worked=worked)
    assert [share for _, share in heat_of([one]).at_rest] == [pytest.approx(0.1)]


def test_a_session_that_nearly_stood_still_at_rest_ends_no_run():
    """It divided by nothing, where a baseline has values of 1e-9 beside 1000."""
    baseline = recorded(throttles, IN_A_ROW)
    rows = ((2e-9, *baseline.metrics[IOPS][0][1:]), *baseline.metrics[IOPS][1:])
    heat = heat_of([Baseline("v", {}, {IOPS: rows}, sessions=baseline.sessions, worked=baseline.worked)])
    assert heat.slower_at_rest([0.0]) == 0.99
    judge = judge_at_rest(baseline, heat)
    measured = [Repetition(Output({IOPS: 990.0}, {}), 2.0, "", worked=2.0 * place) for place in range(12)]
    assert judge.verdict(measured).verdict in ("pass", "inconclusive")


@pytest.mark.parametrize(("begun", "count"), [(0.0, 5), (90.0, 2)])
def test_behind_less_work_there_are_as_many_repetitions_as_recorded(begun, count):
    """What comes next is behind as much work of its session then, as it was: a second suite was undecided."""
    baseline = recorded(begins_fast, IN_A_ROW)
    heat = Heat(heat_of([baseline]), rested=not begun)
    gate = {IOPS: Tolerance(0.05)}
    judge = BaselineJudge(workload("fio", options={}, gate=gate), baseline, (IOPS,), GateOptions(), heat=heat)
    works = [begun + 2.0 * place for place in range(12)]
    measured = [
        Repetition(Output({IOPS: begins_fast(place, work)}, {}), 2.0, "", worked=work)
        for place, work in enumerate(works)
    ]
    assert next(number for number in range(1, 13) if judge.look(measured[:number])) == count


@pytest.mark.parametrize(("hot", "changes"), [(0.8, (0.0, -0.15)), (1.25, (0.0, 0.15))])
def test_a_workload_alone_is_not_judged_by_what_came_behind_another_one_in_each_session(hot, changes):
    """A cache that is full behind the first workload, and empty again in each pause: alone and at rest the
    second one was `improved` with a loss of 15%, or `regressed` without.
    """
    begun, source = (0.0, 19.0, 37.0, 54.0), random.Random(3)
    worked = {
        number: {
            name: tuple(start + 2.0 * (number * 5 + n) for n in range(5))
            for name, start in zip("abcd", begun, strict=True)
        }
        for number in range(2)
    }
    speeds = ((1000.0,) + (1000.0 * hot,) * 4, (1000.0 * hot,) * 5)
    baselines = [
        Baseline(
            f"w{number}",
            {},
            {IOPS: tuple(tuple(speed * source.gauss(1, 0.005) for speed in speeds[number]) for _ in begun)},
            sessions=tuple("abcd"),
            worked=worked[number],
        )
        for number in range(2)
    ]
    known = heat_of(baselines)
    for change in changes:
        judge = judge_at_rest(baselines[1], known)
        alone = [
            Repetition(
                Output({IOPS: 1000.0 * (1 + change) * source.gauss(1, 0.005)}, {}), 2.0, "", worked=2.0 * n
            )
            for n in range(12)
        ]
        count = next((n for n in range(1, 13) if judge.look(alone[:n])), 12)
        assert judge.verdict(alone[:count]).verdict == "inconclusive"


def by_turns(speed, sessions, seconds, *, apart=False):
    """The baselines of seven workloads that were recorded by turns, or one after the other (`apart`), from
    rest each time, on a device of this speed by the work before a repetition, and its place.
    """
    source = random.Random(7)
    names = tuple("abcde"[:sessions])
    worked = [
        tuple(seconds * (5 * turn + place if apart else 7 * place + turn) for place in range(5))
        for turn in range(7)
    ]
    return [
        Baseline(
            f"w{turn}",
            {},
            {
                IOPS: tuple(
                    tuple(speed(work, place) * source.gauss(1, 0.003) for place, work in enumerate(works))
                    for _ in names
                )
            },
            sessions=names,
            worked=dict.fromkeys(names, works),
        )
        for turn, works in enumerate(worked)
    ]


def alone_at_rest(speed, lost, sessions, seconds, *, apart=False):
    """The verdict on the fifth of them where it is measured alone from rest."""
    baselines = by_turns(speed, sessions, seconds, apart=apart)
    judge = judge_at_rest(baselines[4], heat_of(baselines))
    alone = [
        Repetition(Output({IOPS: speed(seconds * n, n) * (1 - lost)}, {}), seconds, "", worked=seconds * n)
        for n in range(12)
    ]
    count = next((n for n in range(1, 13) if judge.look(alone[:n])), 12)
    return judge.verdict(alone[:count]).verdict


def warms_up_late(work, place):
    return 1000.0 * (1 - 0.1 * max(0.0, 1 - work / 20))


def warms_up_all_along(work, place):
    return 1000.0 * (1 - 0.12 * max(0.0, 1 - work / 60))


def warms_up_evenly(work, place):
    return 1000.0 * (1 - 0.12 * max(0.0, 1 - work / 70))


def warms_up_evenly_and_begins_slowly(work, place):
    return warms_up_evenly(work, place) * (1.0 if place else 0.98)


def slows_evenly(work, place):
    return 1000.0 * (1 - 0.08 * min(1.0, work / 70))


def throttles_all_along(work, place):
    return 1000.0 * (1 - 0.2 * min(1.0, work / 60))


def begins_each_slowly(work, place):
    return 1000.0 if place else 920.0


def wakes_up(work, place):
    return 1000.0 if work else 900.0


def test_a_session_of_which_a_workload_does_not_tell_its_work_says_nothing_of_rest():
    """It ended the run: one that was imported, say, or recorded by a version before."""
    baselines = by_turns(warms_up_late, 3, 2.0)
    told = {name: works for name, works in baselines[2].worked.items() if name != "a"}
    untold = [*baselines[:2], replace(baselines[2], worked=told), *baselines[3:]]
    assert heat_of(untold).slower_at_rest([0.0]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("seconds", [2.0, 3.0])
@pytest.mark.parametrize(("lost", "verdict"), [(0.0, "inconclusive"), (0.2, "regressed")])
def test_a_workload_alone_at_rest_is_not_slower_for_what_others_warmed_up_before(seconds, lost, verdict):
    """Of seven workloads by turns each came slowly in its first repetition alone: `-k` was `regressed`."""
    assert alone_at_rest(warms_up_late, lost, 3, seconds) == verdict


@pytest.mark.parametrize("sessions", [3, 5])
@pytest.mark.parametrize(
    ("speed", "lost", "verdict"),
    [
        (warms_up_all_along, 0.0, "inconclusive"),
        (warms_up_all_along, 0.2, "regressed"),
        (warms_up_evenly, 0.0, "inconclusive"),
        (warms_up_evenly, 0.2, "regressed"),
        (warms_up_evenly_and_begins_slowly, 0.0, "inconclusive"),
        (throttles_all_along, 0.0, "inconclusive"),
        (throttles_all_along, 0.12, "inconclusive"),
        (throttles_all_along, 0.3, "regressed"),
    ],
)
def test_what_several_workloads_made_of_a_device_one_alone_at_rest_has_not(speed, lost, verdict, sessions):
    """Each shows a part of it: alone the unchanged one was `regressed`, or `improved` with 12% lost."""
    assert alone_at_rest(speed, lost, sessions, 2.0, apart=True) == verdict


@pytest.mark.parametrize("sessions", [3, 5])
@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("speed", [wakes_up, begins_each_slowly, lambda work, place: 1000.0])
@pytest.mark.parametrize(("lost", "verdict"), [(0.0, "pass"), (0.1, "regressed")])
def test_a_device_that_work_does_not_change_is_judged_alone_as_ever(speed, apart, lost, verdict, sessions):
    """A disk that wakes up, runs that each begin slowly, and a quiet one."""
    assert alone_at_rest(speed, lost, sessions, 2.0, apart=apart) == verdict


@pytest.mark.parametrize(("lost", "verdict"), [(0.0, "inconclusive"), (0.25, "regressed")])
def test_soon_behind_another_session_a_device_is_as_slow_as_along_those_of_its_baseline(lost, verdict):
    """Each workload shows a seventh of it: the second one, behind 58 s of work, was `regressed`."""
    baselines = by_turns(slows_evenly, 3, 2.0, apart=True)
    judge = judge_at_rest(baselines[1], heat_of(baselines))
    repetitions = [
        Repetition(Output({IOPS: slows_evenly(work, 0) * (1 - lost)}, {}), 2.0, "", worked=work)
        for work in (58.0 + 2.0 * n for n in range(12))
    ]
    count = next((n for n in range(1, 13) if judge.look(repetitions[:n])), 12)
    assert judge.verdict(repetitions[:count]).verdict == verdict


@pytest.mark.parametrize("seed", range(10))
def test_of_work_that_nobody_saw_nothing_is_known(seed):
    """Workloads before a fill of ten minutes, and behind: what chance made of the first was carried on."""
    source = random.Random(seed)
    rows = [tuple(tuple(1000 * source.gauss(1, 0.01) for _ in range(5)) for _ in range(3)) for _ in range(6)]
    begins = [0.0, 10.0, 20.0, 630.0, 640.0, 650.0]
    worked = [dict.fromkeys("abc", tuple(begin + 2.0 * place for place in range(5))) for begin in begins]
    baselines = [
        Baseline(f"w{number}", {}, {IOPS: row}, sessions=tuple("abc"), worked=own)
        for number, (row, own) in enumerate(zip(rows, worked, strict=True))
    ]
    assert abs(heat_of(baselines).along.slower([31.0], [629.0])) < 1e-9


@pytest.mark.parametrize("seconds", [5e-324, 1e-170, 1e-9])
def test_work_of_no_time_makes_no_course(seconds):
    """As a baseline may say that somebody made up: it was a traceback."""
    assert not heat_of(by_turns(warms_up_late, 3, seconds, apart=True)).along.works


def test_a_noisy_workload_alone_makes_no_course():
    """Beside quiet ones by turns it did in a fifth to two fifths of devices on which nothing changes."""
    found = 0
    for seed in range(200):
        source = random.Random(seed)
        noises = [(0.05, [2.0 * place for place in range(5)])]
        noises += [(0.005, [10.0 + 14.0 * place + 2.0 * turn for place in range(5)]) for turn in range(7)]
        baselines = [
            Baseline(
                f"w{number}",
                {},
                {IOPS: tuple(tuple(1000 * source.gauss(1, noise) for _ in range(5)) for _ in range(3))},
                sessions=tuple("abc"),
                worked=dict.fromkeys("abc", tuple(works)),
            )
            for number, (noise, works) in enumerate(noises)
        ]
        found += bool(heat_of(baselines).along.works)
    assert found <= 16  # 3% of them; beyond that in one draw of 3,000


def test_a_noisy_workload_at_the_end_takes_no_excuse_away():
    """Its first repetitions were slow by chance: all others, alone and at rest, were `regressed`."""
    baselines = by_turns(warms_up_late, 3, 2.0)
    last = recorded(lambda place, work: 1000.0 * (1 if place else 0.8), (70.0,) * 3)
    last = replace(
        last, workload="noisy", sessions=tuple("abc"), worked=dict.fromkeys("abc", (70.0, 72.0, 74.0))
    )
    assert heat_of([*baselines, last]).slower_at_rest([0.0]) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("noise", "lost", "verdict"),
    [(0.003, 0.0, "improved"), (0.003, 0.12, "inconclusive"), (0.015, 0.12, "inconclusive")],
)
def test_a_device_recorded_hot_in_most_sessions_hides_no_loss_at_rest(noise, lost, verdict, seed):
    """A board that throttles behind 14 s, recorded three times in a row: its fourth workload alone was behind
    as little work as in one of the three, so that it was 10% faster than these with 12% lost. What one
    workload shows of three sessions is little, at some noise; all together do.
    """
    source = random.Random(seed)
    names, begun = tuple("abc"), (0.0, 80.0, 160.0)
    baselines = []
    for turn in range(8):
        worked = {
            each: tuple(before + 2.0 * (8 * place + turn) for place in range(5))
            for each, before in zip(names, begun, strict=True)
        }
        rows = tuple(
            tuple((1000.0 if work < 14 else 800.0) * source.gauss(1, noise) for work in worked[each])
            for each in names
        )
        baselines.append(Baseline(f"w{turn}", {}, {IOPS: rows}, sessions=names, worked=worked))
    judge = judge_at_rest(baselines[3], heat_of(baselines))
    alone = [
        Repetition(Output({IOPS: (1000.0 if n < 7 else 800.0) * (1 - lost)}, {}), 2.0, "", worked=2.0 * n)
        for n in range(12)
    ]
    count = next((n for n in range(1, 13) if judge.look(alone[:n])), 12)
    assert judge.verdict(alone[:count]).verdict == verdict


def part_of(night, slower):
    """Baselines of two workloads, one behind the other, of six sessions at rest; of the last only the second
    was kept, so much slower: as the first regressed.
    """
    first = recorded(lambda place, work: 1000.0, RESTED)
    second = recorded(lambda place, work: 1000.0, (10.0,) * 5, seed=2)
    rows = (*second.metrics[IOPS], tuple(value * (1 - slower) for value in second.metrics[IOPS][0]))
    worked = {**second.worked, night: tuple(10.3 + 2.0 * place for place in range(5))}
    return first, Baseline("v", {}, {IOPS: rows}, sessions=(*second.sessions, night), worked=worked)


def test_a_session_began_where_what_was_kept_of_it_comes_as_in_others():
    """It was taken to have begun behind other work, and all others of a quiet device to be out of rest."""
    first, second = part_of("night", slower=0.08)
    assert set(Beginnings.of([first, second]).begun.values()) == {0.0}
    known = heat_of([first, second])
    assert known.at_rest == ()
    judge = judge_at_rest(first, known)
    values = [1001.0, 999.0, 1002.0, 998.0, 1000.0]
    repetitions = [
        Repetition(Output({IOPS: value}, {}), 1.0, "", worked=1.0 * place)
        for place, value in enumerate(values)
    ]
    judge.look(repetitions)
    assert judge.verdict(repetitions).verdict == "pass"


def test_a_session_in_a_row_began_behind_the_one_before():
    first = recorded(gets_hot, IN_A_ROW)
    assert [*Beginnings.of([first]).begun.values()] == [*IN_A_ROW]
    both = [first, recorded(gets_hot, tuple(work + 10.0 for work in IN_A_ROW))]  # twice as long
    assert [*Beginnings.of(both).begun.values()] == [*IN_A_ROW]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("lost", "verdict"), [(0.0, "improved"), (0.12, "inconclusive"), (0.35, "regressed")]
)
def test_a_device_that_fell_behind_now_less_work_and_now_more_hides_no_loss_before(lost, verdict, seed):
    """A board that throttles sooner in a warm room shows no course; the last workload was always slow, and
    alone, 12% lost, it was 10% faster.
    """
    source = random.Random(seed)
    names, onsets = tuple("abc"), (26.0, 34.0, 42.0)
    baselines = []
    for turn in range(8):
        worked = tuple(2.0 * (5 * turn + place) for place in range(5))
        rows = tuple(
            tuple((1000.0 if work < onset else 800.0) * source.gauss(1, 0.005) for work in worked)
            for onset in onsets
        )
        baselines.append(
            Baseline(f"w{turn}", {}, {IOPS: rows}, sessions=names, worked=dict.fromkeys(names, worked))
        )
    judge = judge_at_rest(baselines[7], heat_of(baselines))
    alone = [
        Repetition(Output({IOPS: 1000.0 * (1 - lost) + n}, {}), 2.0, "", worked=2.0 * n) for n in range(12)
    ]
    count = next((n for n in range(1, 13) if judge.look(alone[:n])), 12)
    assert judge.verdict(alone[:count]).verdict == verdict
