"""What holds for every baseline and every candidate."""

from __future__ import annotations

import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from iogate.judge.gate import decide, sensitivity

few = settings(max_examples=60)
PASSING = {"pass", "improved", "drift"}
VERDICTS = {"continue", "regressed", "inconclusive"} | PASSING

values = st.floats(min_value=700, max_value=1400)
baselines = st.lists(st.lists(values, min_size=1, max_size=5), min_size=1, max_size=6)
candidates = st.lists(values, min_size=1, max_size=8)
tolerances = st.floats(min_value=0.005, max_value=0.5)
noise = st.floats(min_value=-0.02, max_value=0.02)
sessions = st.lists(st.lists(noise, min_size=2, max_size=4), min_size=3, max_size=6)


@st.composite
def quiet(draw):
    """A baseline and a candidate like those of real devices: small noise, a change of up to 12%."""
    baseline = [[1000 * math.exp(value) for value in session] for session in draw(sessions)]
    change = draw(st.floats(min_value=-0.12, max_value=0.12))
    return baseline, [1000 * math.exp(v + change) for v in draw(st.lists(noise, min_size=2, max_size=8))]


devices = st.one_of(quiet(), st.tuples(baselines, candidates))


def verdict(baseline, candidate, direction="higher", **options):
    return decide(baseline, candidate, direction=direction, **options).verdict


@few
@given(
    st.one_of(
        devices, st.tuples(st.recursive(st.floats() | st.none() | st.text(), st.lists), st.lists(st.floats()))
    )
)
def test_nothing_crashes_and_the_same_data_get_the_same_verdict(device):
    first = decide(*device, direction="higher")
    assert first == decide(*device, direction="higher")
    assert first.verdict in VERDICTS
    assert first.reason


@few
@given(devices, st.integers(min_value=-39, max_value=40), tolerances | st.none())
def test_the_unit_does_not_matter(device, power, tolerance):
    baseline, candidate = device
    factor = 2.0**power  # exact in floating point; 700 * 2^-39 is just above the least that is measured
    scaled = decide(
        [[value * factor for value in session] for session in baseline],
        [value * factor for value in candidate],
        direction="higher",
        tolerance=tolerance,
    )
    original = decide(baseline, candidate, direction="higher", tolerance=tolerance)
    assert scaled.verdict == original.verdict
    assert scaled.change == original.change


@few
@given(devices, st.randoms())
def test_the_order_of_the_sessions_does_not_matter(device, random):
    baseline, candidate = device
    shuffled = list(baseline)
    random.shuffle(shuffled)
    assert decide(shuffled, candidate, direction="lower") == decide(baseline, candidate, direction="lower")


@few
@given(devices, tolerances)
def test_a_rate_and_its_reciprocal_get_the_same_verdict(device, tolerance):
    baseline, candidate = device
    rate = decide(baseline, candidate, direction="higher", tolerance=tolerance)
    assume(rate.interval and min(abs(v) for v in (*rate.interval, rate.interval[0] + tolerance)) > 1e-9)
    inverse = decide(
        [[1 / value for value in session] for session in baseline],
        [1 / value for value in candidate],
        direction="lower",
        tolerance=1 / (1 - tolerance) - 1,
    )
    assert inverse.verdict == rate.verdict


@few
@given(devices, tolerances, st.floats(min_value=0.3, max_value=1))
def test_a_slower_candidate_never_turns_a_failure_into_a_pass(device, tolerance, factor):
    baseline, candidate = device
    slower = [value * factor for value in candidate]
    before, after = (
        verdict(baseline, candidate, tolerance=tolerance),
        verdict(baseline, slower, tolerance=tolerance),
    )
    assert not (before == "regressed" and after in PASSING)
    assert not (before not in PASSING and after in PASSING)


@few
@given(devices, tolerances, tolerances)
def test_a_wider_tolerance_never_loses_a_pass(device, one, other):
    baseline, candidate = device
    narrow, wide = sorted((one, other))
    known = [sensitivity(baseline, direction="higher", tolerance=item) for item in (narrow, wide)]
    assume(known[0].resolves == known[1].resolves)  # else the looks are others: a weak baseline is patient
    if verdict(baseline, candidate, tolerance=narrow) in PASSING:
        assert verdict(baseline, candidate, tolerance=wide) in PASSING
    if verdict(baseline, candidate, tolerance=wide) == "regressed":
        assert verdict(baseline, candidate, tolerance=narrow) == "regressed"


@few
@given(devices, tolerances | st.none())
def test_the_verdict_follows_from_the_interval(device, tolerance):
    """A pass excludes the tolerance and a failure excludes no loss: they are never both possible."""
    decision = decide(*device, direction="higher", tolerance=tolerance)
    if decision.verdict in PASSING:
        assert decision.interval[0] > -decision.tolerance
    if decision.verdict == "regressed":
        assert decision.interval[0] <= -decision.tolerance + 1e-12
        assert decision.interval[1] < 0
    if decision.verdict == "improved":
        assert decision.interval[0] > 0


@few
@given(devices, tolerances)
def test_the_session_ends(device, tolerance):
    baseline, candidate = device
    enough = [*candidate, *candidate][: max(2, len(candidate))]
    assert verdict(baseline, enough, tolerance=tolerance, max_repetitions=2) != "continue"


@few
@given(devices, tolerances | st.none())
def test_what_is_said_before_the_run_is_what_applies(device, tolerance):
    baseline, candidate = device
    before = sensitivity(baseline, direction="higher", tolerance=tolerance, max_repetitions=8)
    decision = decide(baseline, candidate, direction="higher", tolerance=tolerance, max_repetitions=8)
    assert before is not None
    if decision.tolerance is not None:
        assert decision.tolerance == before.tolerance
        assert decision.minimum_detectable == before.minimum_detectable
