"""What holds for all blocks."""

from __future__ import annotations

import math

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pytest import approx

from iogate.judge.pair import decide

few = settings(max_examples=60, deadline=None)
PASSING = {"pass", "improved", "drift"}
VERDICTS = {"continue", "regressed", "inconclusive"} | PASSING
tolerances = st.floats(min_value=0.005, max_value=0.3)
rates = st.floats(min_value=1, max_value=1e6)
maxima = st.sampled_from([8, 12, 24, 60])


@st.composite
def pairs(draw):
    """Ratios with a change of up to 15% either way, some blocks far off, and perhaps changed places."""
    noise = st.floats(min_value=-0.03, max_value=0.03)
    far = st.floats(min_value=-0.6, max_value=0.6)
    count = draw(st.integers(min_value=1, max_value=26))
    change = draw(st.floats(min_value=-0.15, max_value=0.15))
    logs = [draw(st.one_of(noise, noise, noise, far)) + change for _ in range(count)]
    swapped = draw(st.none() | st.lists(st.booleans(), min_size=count, max_size=count))
    if swapped is not None and draw(st.booleans()):
        swapped = [i % 2 == 0 for i in range(count)]
    return [math.exp(value) for value in logs], swapped


def judge(pair, direction="higher", **options):
    ratios, swapped = pair
    return decide(ratios, swapped=swapped, direction=direction, **options)


def mirrored(pair):
    """The same blocks with the arms' names exchanged."""
    ratios, swapped = pair
    return [1 / ratio for ratio in ratios], swapped


def sure(decision, limits=(0.0,)):
    """Whether no bound lies so close to a limit that rounding decides."""
    if decision.interval is None:
        return True
    return all(abs(bound - limit) > 1e-9 for bound in decision.interval for limit in limits)


@few
@given(
    st.one_of(
        pairs(),
        st.tuples(st.lists(st.floats() | st.none() | st.text(max_size=3), max_size=12), st.none()),
    )
)
def test_nothing_crashes_and_the_same_blocks_get_the_same_verdict(pair):
    first = judge(pair)
    assert first == judge(pair)
    assert first.verdict in VERDICTS
    assert first.reason


@few
@given(pairs(), tolerances, maxima)
def test_swapping_the_arms_mirrors_all_figures(pair, tolerance, most):
    there = judge(pair, tolerance=tolerance, max_blocks=most)
    back = judge(mirrored(pair), tolerance=tolerance, max_blocks=most)
    assert back.noise == approx(there.noise, abs=1e-12)
    assert back.minimum_detectable == approx(there.minimum_detectable, abs=1e-12)
    assume(there.change is not None)
    assert math.log1p(back.change) == approx(-math.log1p(there.change), abs=1e-12)
    if there.place_effect is not None:
        assert math.log1p(back.place_effect) == approx(-math.log1p(there.place_effect), abs=1e-12)


@few
@given(pairs(), tolerances, maxima)
def test_swapping_the_arms_mirrors_the_verdict(pair, tolerance, most):
    """A loss of one is a gain of the other; what is called a gain is more, as its error rate is larger."""
    there = judge(pair, tolerance=tolerance, max_blocks=most)
    back = judge(mirrored(pair), tolerance=tolerance, max_blocks=most)
    assume(sure(there) and sure(back))
    if there.verdict == "regressed":
        assert back.verdict == "improved"
    if there.verdict == "drift":
        assert back.verdict in {"improved", "pass"}
    if there.verdict == "improved":
        assert back.verdict not in {"improved"}
    if there.verdict == "pass" and there.interval[1] < tolerance / (1 - tolerance):
        # within the tolerance on both sides, at the stricter rate even
        assert back.verdict in {"pass", "drift", "improved"}


@few
@given(pairs(), tolerances, maxima)
def test_a_rate_and_its_reciprocal_get_the_same_verdict(pair, tolerance, most):
    rate = judge(pair, tolerance=tolerance, max_blocks=most)
    assume(sure(rate, (0.0, -tolerance)))
    time = judge(mirrored(pair), "lower", tolerance=1 / (1 - tolerance) - 1, max_blocks=most)
    assert time.verdict == rate.verdict


@few
@given(
    st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=8, max_size=20), st.integers(-40, 40)
)
def test_a_constant_factor_on_both_arms_changes_nothing(values, power):
    """What makes the ratio is left out: factors of both arms are not in it."""
    factor = 2.0**power  # exact in floating point
    plain = [candidate / base for base, candidate in values]
    scaled = [(candidate * factor) / (base * factor) for base, candidate in values]
    assert judge((scaled, None)) == judge((plain, None))


@few
@given(pairs(), st.randoms(), maxima)
def test_the_order_of_the_blocks_does_not_matter(pair, random, most):
    ratios, swapped = pair
    kinds = list(zip(ratios, swapped or [None] * len(ratios), strict=True))
    random.shuffle(kinds)
    shuffled = [ratio for ratio, _ in kinds], swapped and [turned for _, turned in kinds]
    assert judge(shuffled, max_blocks=most) == judge(pair, max_blocks=most)


@few
@given(pairs(), st.floats(min_value=0.2, max_value=5))
def test_another_difference_of_the_places_changes_the_place_effect_only(pair, factor):
    ratios, swapped = pair
    assume(swapped and True in swapped and False in swapped)
    moved = [r / factor if turned else r * factor for r, turned in zip(ratios, swapped, strict=True)]
    before, after = judge(pair), judge((moved, swapped))
    assert after.change == approx(before.change, abs=1e-9)
    assert after.interval == approx(before.interval, abs=1e-9)
    assert after.place_effect + 1 == approx((before.place_effect + 1) * factor, rel=1e-9)
    if sure(before, (0.0, -0.05)):
        assert after.verdict == before.verdict


@few
@given(pairs())
def test_which_arrangement_is_called_swapped_does_not_matter(pair):
    ratios, swapped = pair
    assume(swapped is not None)
    one, other = judge(pair), judge((ratios, [not turned for turned in swapped]))
    assert (one.verdict, one.change, one.interval) == (other.verdict, other.change, other.interval)


@few
@given(pairs(), tolerances, st.floats(min_value=0.3, max_value=1), maxima)
def test_a_slower_candidate_never_turns_a_failure_into_a_pass(pair, tolerance, factor, most):
    ratios, swapped = pair
    before = judge(pair, tolerance=tolerance, max_blocks=most)
    after = judge(([ratio * factor for ratio in ratios], swapped), tolerance=tolerance, max_blocks=most)
    assume(sure(before, (0.0, -tolerance)) and sure(after, (0.0, -tolerance)))
    if before.verdict not in PASSING:
        assert after.verdict not in PASSING
    if before.verdict == "regressed":
        assert after.verdict == "regressed"


@few
@given(pairs(), tolerances, tolerances)
def test_a_wider_tolerance_never_loses_a_pass(pair, one, other):
    narrow, wide = sorted((one, other))
    if judge(pair, tolerance=narrow).verdict in PASSING:
        assert judge(pair, tolerance=wide).verdict in PASSING
    if judge(pair, tolerance=wide).verdict == "regressed":
        assert judge(pair, tolerance=narrow).verdict == "regressed"


@few
@given(pairs(), tolerances, maxima)
def test_the_verdict_follows_from_the_interval(pair, tolerance, most):
    decision = judge(pair, tolerance=tolerance, max_blocks=most)
    if decision.verdict in PASSING:
        assert decision.interval[0] > -decision.tolerance
    if decision.verdict == "drift":
        assert decision.interval[1] < 0
    if decision.verdict == "pass":
        assert decision.interval[1] >= 0
    if decision.verdict == "improved":
        assert decision.interval[0] > 0
    if decision.verdict == "regressed":
        assert decision.interval[0] <= -decision.tolerance + 1e-12
        assert decision.interval[1] < 0


@few
@given(pairs())
def test_the_trial_ends(pair):
    assert judge(pair, max_blocks=len(pair[0])).verdict != "continue"
