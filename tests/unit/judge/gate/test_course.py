"""How speed goes within the sessions of a baseline."""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.judge.gate import Course, course_of, level, undisturbed

WARMING = (0.75, 0.92, 0.97, 0.99, 1.0)


def drawn(places, sessions=5, seed=1, noise=0.01):
    source = random.Random(seed)
    return tuple(tuple(2000 * place * source.gauss(1, noise) for place in places) for _ in range(sessions))


def test_what_all_sessions_do_alike_is_their_course():
    course = course_of(drawn(WARMING), 12)
    assert course.span == pytest.approx(1 / 0.75 - 1, abs=0.05)
    assert sum(course.steps) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    "sessions",
    [
        drawn((1.0,) * 5),
        drawn(WARMING, sessions=2),  # too few to tell a course from noise
        tuple(row[::-1] if number % 2 else row for number, row in enumerate(drawn(WARMING, sessions=6))),
        ((2000.0, 2001.0, 2000.0),) * 3,  # nobody measures storage better than 0.1%
        tuple((row[0],) for row in drawn(WARMING)),
    ],
    ids=["noise", "two sessions", "now so, now so", "without noise", "single repetitions"],
)
def test_what_may_be_chance_is_none(sessions):
    assert course_of(sessions, 12) is None


def test_chance_makes_a_course_in_one_baseline_of_a_hundred():
    found = sum(course_of(drawn((1.0,) * 5, 3, seed), 12) is not None for seed in range(2000))
    assert 5 <= found <= 40


def test_it_ends_where_half_of_the_sessions_do_and_where_no_more_are_measured():
    sessions = drawn(WARMING)
    assert len(course_of((*sessions, sessions[0][:3]), 12).steps) == 5
    assert len(course_of((*sessions, *[session[:3] for session in sessions]), 12).steps) == 3
    assert len(course_of(sessions, 4).steps) == 4


@pytest.mark.parametrize(("noise", "first"), [(0.005, 0.98), (0.01, 0.96), (0.015, 0.95), (0.02, 0.92)])
@pytest.mark.parametrize("sessions", [3, 5, 10])
def test_a_first_repetition_that_is_slower_is_how_a_run_begins_whatever_the_noise(noise, first, sessions):
    """What the others differed by for their noise alone was taken for what work makes of the device, in up to
    nine of ten baselines.
    """
    places = (first, 1.0, 1.0, 1.0, 1.0)
    found = [course_of(drawn(places, sessions, seed, noise), 12) for seed in range(400)]
    courses = [course for course in found if course]
    assert len(courses) > 100
    assert sum(course.begins_slowly for course in courses) > 0.95 * len(courses)


@pytest.mark.parametrize(
    "places",
    [
        (0.95, 1.0, 0.9, 0.85, 0.8),  # it gets hot as well
        (1.05, 1.0, 1.0, 1.0, 1.0),
        (1.0, 1.0, 1.0, 0.9, 0.9),
        WARMING,
        (0.7, 1.0, 1.0, 1.0, 1.0),  # by more than a pause explains
    ],
)
def test_what_others_differ_by_beyond_chance_is_none(places):
    for seed in range(100):
        course = course_of(drawn(places, 5, seed), 12)
        assert course and not course.begins_slowly


def test_without_it_the_noise_of_repetitions_is_left():
    apart = [
        statistics.stdev(row)
        for seed in range(200)
        for row in [[value / 2000 for value in row] for row in drawn(WARMING, 3, seed)][:1]
    ]
    assert statistics.fmean(apart) > 0.08
    left = []
    for seed in range(200):
        sessions = drawn(WARMING, 3, seed)
        level_ones = level(sessions, course_of(sessions, 12))
        left += [statistics.variance(row) / statistics.fmean(row) ** 2 for row in level_ones]
        for row, levelled in zip(sessions, level_ones, strict=True):
            assert statistics.geometric_mean(levelled) == pytest.approx(statistics.geometric_mean(row))
    assert statistics.fmean(left) == pytest.approx(0.01**2, rel=0.1)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=9))
def test_falls_and_rises_are_the_largest_of_all_pairs_of_places(steps):
    course = Course(tuple(steps))
    pairs = [math.expm1(behind - before) for before, behind in itertools.combinations(steps, 2)]
    assert course.rises == pytest.approx(max(0.0, *pairs))
    assert course.falls == pytest.approx(
        max(0.0, *(math.expm1(b - a) for b, a in itertools.combinations(steps, 2)))
    )


@pytest.mark.parametrize("stalled", [1, 2])
@pytest.mark.parametrize("speed", [0.15, 0.5, 0.7])
def test_a_stall_hides_no_course(speed, stalled):
    """One repetition of fifteen did, as its noise was that of all: an unchanged device that warms up was
    `regressed` alone from rest.
    """
    warm = [0.86, 0.91, 0.95, 0.98, 1.0]
    sessions = list(drawn([1000 * share for share in warm], sessions=3, noise=0.005))
    for place in range(stalled):
        row = list(sessions[place])
        row[2 + place % 2] *= speed
        sessions[place] = tuple(row)
    found = course_of(sessions, 5)
    assert found and found.span == pytest.approx(1 / 0.86 - 1, abs=0.02)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 1.0, 1.0, 1.0, 0.7]] * 3,  # a course
        [[1.0, 1.0, 1.0, 1.0, 1.0], [0.7, 0.7, 0.7, 0.7, 0.7], [1.0, 1.0, 1.0, 1.0, 1.0]],  # another day
        [[1.0, 1.0, 1.0, 0.7, 0.7], [1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]],  # two of a session
        [[1.0, 1.0, 0.8, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]],  # by a fifth
        [[1.0, 1.0, 1.4, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]],  # faster
    ],
)
def test_nothing_else_is_a_stall(rows):
    logs = [[math.log(value) for value in row] for row in rows]
    assert undisturbed(logs) == logs
