"""What is known before a run: the sensitivity of a baseline, and how long to measure."""

from __future__ import annotations

import csv
import math
import random

import pytest

from iogate.judge.gate import allowed_variance, repetition_length, sensitivity
from places import DATA

TRACES = DATA / "traces" / "noisy_vm_iops_1s.csv"


def baseline(sessions=20, stored=3, session=0.007, repetition=0.021, seed=5):
    generator = random.Random(seed)
    offsets = [generator.gauss(0, session) for _ in range(sessions)]
    return [[1000 * math.exp(o + generator.gauss(0, repetition)) for _ in range(stored)] for o in offsets]


class TestStrength:
    def test_it_is_said_in_a_sentence(self):
        known = sensitivity(baseline(session=0.003), direction="higher", tolerance=0.05)
        assert known.resolves and known.remedy is None
        assert known.text == f"detects 5.0% at 99%/95% in about {known.repetitions_to_detect:.0f} repetitions"
        assert 2 <= known.repetitions <= known.repetitions_to_detect <= 4

    def test_the_minimum_is_four_to_five_standard_errors(self):
        """3.97 for a single look (z at 99% and 95%); eleven looks at the data cost some of it."""
        known = sensitivity(baseline(sessions=400, stored=5), direction="higher")
        error = math.sqrt(0.007**2 * (1 + 1 / 400) + 0.021**2 * (1 / 12 + 1 / 2000))
        assert 3.97 * error < known.minimum_detectable < 5.5 * error
        single = sensitivity(baseline(sessions=400, stored=5), direction="higher", max_repetitions=1)
        alone = math.sqrt(0.007**2 * (1 + 1 / 400) + 0.021**2 * (1 + 1 / 2000))
        assert single.minimum_detectable == pytest.approx(3.97 * alone, rel=0.06)
        assert known.session_noise == pytest.approx(0.007, rel=0.25)
        assert known.repetition_noise == pytest.approx(0.021, rel=0.05)

    def test_a_tolerance_that_cannot_be_resolved_comes_with_advice(self):
        known = sensitivity(baseline(sessions=3, seed=1), direction="higher", tolerance=0.05)
        assert not known.resolves
        assert known.minimum_detectable > 0.05
        assert "baseline sessions" in known.remedy.text()
        assert f"detects {known.minimum_detectable:.1%}" in known.text

    def test_repetition_noise_is_cured_by_repetitions(self):
        noisy = baseline(session=0.0, repetition=0.06, stored=8)
        known = sensitivity(noisy, direction="higher", tolerance=0.06)
        assert known.remedy.cause.startswith("repetitions differ by")
        assert "longer repetitions" in known.remedy.text()
        assert (
            sensitivity(noisy, direction="higher", max_repetitions=48).minimum_detectable
            < known.minimum_detectable
        )

    def test_two_degrees_of_freedom_are_named_as_the_cause_and_sessions_and_length_are_tried_together(self):
        quiet_sessions = baseline(sessions=3, stored=5, session=0.001, repetition=0.042, seed=4)
        known = sensitivity(quiet_sessions, direction="higher", tolerance=0.05)
        assert "only a quieter machine" not in known.remedy.text()
        assert known.remedy.sessions > 3
        assert "sessions differ by" not in known.remedy.cause
        said = known.remedy.text(seconds=3.0)
        assert "of device time" in said and "days" in said and said.endswith("--io-against")

    def test_the_plan_counts_what_is_still_to_be_recorded(self):
        known = sensitivity(baseline(sessions=3, seed=3), direction="higher", tolerance=0.05)
        plan = known.remedy
        assert plan.length == 1 and plan.more == plan.sessions - 3
        assert plan.repetitions == 5 * plan.more
        assert f"{plan.more} more than now" in plan.text()

    def test_a_young_baseline_says_what_it_assumes(self):
        known = sensitivity(baseline(sessions=1, stored=5, repetition=0.005), direction="lower")
        assert "session noise assumed: 1.0%" in known.text

    @pytest.mark.parametrize("nothing", [1000.0, [], [[]], [[0.0]], [[math.nan, 1.0]], None])
    def test_without_a_usable_baseline_there_is_none(self, nothing):
        assert sensitivity(nothing, direction="higher") is None


class TestRepetitionLength:
    def test_independent_seconds_follow_the_formula(self):
        generator = random.Random(1)
        offsets = [generator.gauss(0, 0.01) for _ in range(60)]
        series = [[math.exp(o + generator.gauss(0, 0.05)) for _ in range(100)] for o in offsets]
        length = repetition_length(series, 16.0)
        assert length.inefficiency == pytest.approx(1.0, abs=0.15)
        assert length.seconds == pytest.approx(math.sqrt(16 * 0.05**2 / 0.01**2), rel=0.25)

    def test_seconds_that_hang_together_need_longer(self):
        generator = random.Random(2)
        series = []
        for _ in range(60):
            offset, state = generator.gauss(0, 0.01), generator.gauss(0, 0.05)
            run = []
            for _ in range(300):
                state = 0.6 * state + 0.8 * generator.gauss(0, 0.05)
                run.append(math.exp(offset + state))
            series.append(run)
        length = repetition_length(series, 4.0, longest=600)
        assert length.inefficiency == pytest.approx((1 + 0.6) / (1 - 0.6), rel=0.25)
        assert length.seconds == pytest.approx(math.sqrt(4 * 0.05**2 * 4 / 0.01**2), rel=0.35)

    def test_it_stays_within_its_bounds(self):
        steady = [[100.0] * 10]
        assert repetition_length(steady, 5.0).seconds == 5.0
        noisy = [[100.0, 200.0] * 10]
        assert 5.0 <= repetition_length(noisy, 1e6, longest=30).seconds <= 30

    def test_a_tolerance_asks_for_repetitions_as_long_as_it_needs(self):
        generator = random.Random(3)
        series = [[math.exp(generator.gauss(0, 0.06)) for _ in range(20)]]
        allowed = allowed_variance(0.05, "higher", alpha=0.01, beta=0.05, most=12)
        free, bound = repetition_length(series, 1.0), repetition_length(series, 1.0, allowed=allowed)
        assert bound.long_run_variance / bound.seconds + bound.repetition_noise**2 == pytest.approx(allowed)
        assert free.seconds < bound.seconds < 60
        assert f"the tolerance asks for {bound.seconds:.0f} s" in bound.reason

    def test_a_tolerance_that_no_length_resolves_makes_none_longer(self):
        series = [[100.0, 110.0] * 10]
        bound = repetition_length(series, 1.0, allowed=0.005**2)
        assert bound.seconds == repetition_length(series, 1.0).seconds
        assert bound.reason.endswith("which no length makes small enough for the tolerance")

    def test_a_length_beyond_the_longest_is_said_to_be(self):
        series = [[100.0, 200.0] * 10, [200.0, 100.0] * 10]
        bound = repetition_length(series, 1.0, longest=6.0, allowed=0.001**2)
        assert bound.seconds <= 6.0

    def test_what_is_allowed_shrinks_with_the_tolerance_and_with_more_metrics(self):
        def allowed(tolerance, metrics=1):
            terms = {"alpha": 0.01, "beta": 0.05, "most": 12, "metrics": metrics}
            return allowed_variance(tolerance, "higher", **terms)

        assert allowed(0.05) == pytest.approx(0.0235**2, rel=0.02)
        assert allowed(0.03) < allowed(0.05, 8) < allowed(0.05)

    @pytest.mark.parametrize("series", [[], [[]], [[1.0, 2.0]], [[0.0] * 20], [[math.nan] * 20]])
    def test_nothing_to_learn_from_takes_the_longest_and_says_so(self, series):
        length = repetition_length(series, 5.0)
        assert length.seconds == 60.0
        assert "no series" in length.reason

    def test_real_runs_that_differ_whatever_their_length_should_be_short(self):
        runs: dict[str, list[float]] = {}
        for row in csv.DictReader(TRACES.read_text().splitlines()):
            if row["workload"] == "rand_read_8k":
                runs.setdefault(row["round"], []).append(float(row["iops"]))
        length = repetition_length(list(runs.values()), 2.0)
        assert length.seconds == 5.0
        assert 0.1 < length.repetition_noise < 0.3


def test_a_noise_that_few_sessions_tell_of_is_said_to_be_uncertain():
    """3 sessions that seem to differ by 4% may differ by 2%: a quieter machine is not the only remedy."""

    def text(sessions):
        rows = [[1000.0 * (1.05 if number % 2 else 0.97)] * 5 for number in range(sessions)]
        known = sensitivity(rows, direction="higher", tolerance=0.05)
        return known.remedy.text()

    assert "as far as 3 sessions tell: 5 more tell better; a quieter machine" in text(3)
    assert ": a quieter machine" in text(10) and "as far as" not in text(10)


def test_what_only_changes_beyond_tenfold_would_show_is_said_in_words():
    wild = ((1.0, 1000.0), (1e6, 3.0))
    text = sensitivity(wild, direction="lower").text
    assert text.startswith("detects nothing but changes of more than 10 times at 99%/95% in about ")
