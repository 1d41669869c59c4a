"""What a pair's blocks say: one metric, a ratio per block."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from iogate.errors import InputError
from iogate.judge.pair import PairDecision, decide, fewest_blocks
from iogate.model import metric

PASSING = {"pass", "improved", "drift"}


def blocks(generator, *, sd=0.023, loss=0.0, place=None, far=0.0, blocks=60):
    """Ratios of a pair that has lost `loss`, and whether the arms had changed places, balanced in twos."""
    swapped = [turned for _ in range(blocks // 2) for turned in generator.sample((False, True), 2)]
    signs = [-1 if turned else 1 for turned in swapped]
    stray = [generator.choice((-8, 8)) if generator.random() < far else 0 for _ in range(blocks)]
    ratios = [
        (1 - loss) * math.exp((place or 0) * sign + sd * (generator.gauss(0, 1) + far))
        for sign, far in zip(signs, stray, strict=True)
    ]
    return ratios, None if place is None else swapped


def last_decision(ratios, swapped=None, **options) -> PairDecision:
    """Look after each block, as a trial does, until there is a verdict."""
    options = {"direction": "higher", **options}
    for n in range(1, len(ratios) + 1):
        decision = decide(ratios[:n], swapped=swapped and swapped[:n], **options)
        if decision.verdict != "continue":
            break
    return decision


def verdicts(pairs, *, seed=4, metrics=1, **noise) -> Counter[str]:
    generator = random.Random(seed)
    return Counter(last_decision(*blocks(generator, **noise), metrics=metrics).verdict for _ in range(pairs))


def around(centre, count, step=0.002):
    """Ratios on both sides of a centre in turn, as quiet blocks are."""
    return [centre * math.exp(step * (-1) ** i * (1 + i // 2 % 4)) for i in range(count)]


class TestVerdicts:
    def test_equal_arms_pass_at_the_first_look_that_can_tell(self):
        decision = last_decision(around(1.0, 20))
        assert decision.verdict == "pass"
        assert decision.blocks == fewest_blocks(0.01, 0.05, 60, 1, crossover=False) == 7

    def test_a_loss_of_the_tolerance_is_regressed(self):
        decision = last_decision([0.95, 0.949, 0.951, 0.9495, 0.9505, 0.948] * 3)
        assert decision.verdict == "regressed"
        assert decision.blocks == 10
        assert decision.change == pytest.approx(-0.05, abs=0.001)
        low, high = decision.interval
        assert low <= -0.05 < high < 0
        assert "5.0% lower than the base" in decision.reason

    def test_a_loss_within_the_tolerance_is_drift(self):
        assert last_decision(around(0.98, 12, step=0.0005)).verdict == "drift"

    def test_a_gain_is_improved(self):
        decision = last_decision(around(1.1, 12))
        assert decision.verdict == "improved"
        assert decision.interval[0] > 0

    def test_the_better_direction_counts(self):
        assert last_decision(around(1.1, 20), direction="lower").verdict == "regressed"
        assert last_decision(around(0.9, 20), direction="lower").verdict == "improved"

    def test_noise_beyond_all_blocks_is_inconclusive(self):
        ratios = [1.5, 0.6, 1.2, 0.8, 1.4, 0.7, 1.1, 0.9, 1.3, 0.65]
        decision = last_decision(ratios, max_blocks=10)
        assert decision.verdict == "inconclusive"
        assert "10 blocks cannot tell" in decision.reason

    def test_too_few_blocks_for_the_error_rate_never_fail(self):
        decision = last_decision([0.5, 0.51, 0.49, 0.505], max_blocks=4)
        assert decision.verdict == "inconclusive"
        assert "too few to show any loss" in decision.reason
        assert fewest_blocks(0.01, 0.05, 4, 1, crossover=False) is None

    def test_a_tolerance_of_none_is_five_percent(self):
        assert decide(around(1.0, 8), swapped=None, direction="higher").tolerance == pytest.approx(0.05)

    @pytest.mark.parametrize("bad", [None, math.nan, math.inf, 0.0, -1.0, "1", True])
    def test_what_is_no_ratio_is_never_a_pass(self, bad):
        decision = decide([*around(1.0, 8), bad], swapped=None, direction="higher")
        assert decision.verdict == "inconclusive"
        assert "block 9" in decision.reason

    def test_no_block_is_no_pass(self):
        assert decide([], swapped=None, direction="higher").verdict == "inconclusive"

    def test_options_that_say_nothing_are_refused(self):
        for options in ({"tolerance": 1.0}, {"alpha": 0.0}, {"beta": 0.5}, {"max_blocks": 0}, {"metrics": 0}):
            with pytest.raises(InputError):
                decide([1.0], **{"swapped": None, "direction": "higher", **options})
        with pytest.raises(InputError, match="of 1 blocks, the ratio of 2"):
            decide([1.0, 1.0], swapped=[True], direction="higher")

    def test_two_modes_on_one_side_by_chance_are_no_loss_yet(self):
        """Six lucky blocks of two kinds would be 50 standard errors for Student's t."""
        decision = decide([0.95, 0.951, 0.949] * 2, swapped=None, direction="higher", metrics=40)
        assert decision.verdict == "continue"


class TestPlaces:
    def test_the_place_cancels(self):
        ratios = [value * factor for value in around(1.0, 7, 0.0005) for factor in (1.1, 1 / 1.1)]
        decision = last_decision(ratios, [False, True] * 7)
        assert decision.verdict == "pass"
        assert decision.change == pytest.approx(0, abs=0.002)
        assert decision.place_effect == pytest.approx(0.1, abs=0.002)
        assert "a place effect of 1" in decision.reason

    def test_blocks_without_noise_pass_and_rounding_is_no_change(self):
        decision = last_decision([1.1, 1 / 1.1] * 7, [False, True] * 7)
        assert decision.verdict == "pass"
        assert decision.noise == pytest.approx(0)
        assert last_decision([1.0] * 20).verdict == "pass"

    def test_a_latency_has_the_place_effect_as_the_number_moves(self):
        decision = last_decision([1.1, 1 / 1.1] * 7, [False, True] * 7, direction="lower")
        assert decision.place_effect == pytest.approx(0.1)

    def test_the_same_blocks_without_a_crossover_blame_the_candidate(self):
        assert last_decision(around(1 / 1.1, 20)).verdict == "regressed"

    def test_one_arrangement_says_nothing(self):
        decision = decide(around(0.5, 20), swapped=[False] * 20, direction="higher")
        assert decision.verdict == "continue"
        assert decision.change is None
        last = decide(around(0.5, 60), swapped=[False] * 60, direction="higher")
        assert last.verdict == "inconclusive"

    def test_arrangements_that_are_not_balanced_wait(self):
        swapped = [False] * 12 + [True] * 11
        assert decide(around(1.0, 23), swapped=swapped, direction="higher").verdict == "continue"
        assert decide(around(1.0, 24), swapped=[*swapped, True], direction="higher").verdict == "pass"

    def test_half_way_is_enough(self):
        ratios = around(0.93 * 1.1, 8) + around(0.93 / 1.1, 8)
        decision = last_decision(ratios, [False] * 8 + [True] * 8)
        assert decision.verdict == "regressed"
        assert decision.change == pytest.approx(-0.07, abs=0.001)
        assert decision.blocks == 16

    def test_the_last_block_is_judged_even_if_it_is_odd(self):
        ratios = around(1.0, 15)
        assert last_decision(ratios, [i % 2 == 0 for i in range(15)], max_blocks=15).verdict == "pass"


class TestFigures:
    def test_noise_is_that_of_a_block(self):
        generator = random.Random(1)
        ratios, swapped = blocks(generator, sd=0.023, place=0.2)
        decision = decide(ratios, swapped=swapped, direction="higher")
        assert decision.noise == pytest.approx(0.023, rel=0.3)

    def test_blocks_far_off_are_counted_and_barely_move_the_change(self):
        ratios = around(1.0, 19, 0.001)
        plain = decide(ratios, swapped=None, direction="higher")
        stray = decide([*ratios[:-2], 0.3, 0.4], swapped=None, direction="higher")
        assert stray.outliers == 2
        assert "2 of 19 blocks are outliers, 2 of them against the candidate" in stray.reason
        assert abs(stray.change - plain.change) < 0.003

    def test_what_is_detectable_shrinks_with_each_block_by_the_gain(self):
        shorter = decide(around(1.0, 12), swapped=None, direction="higher")
        assert shorter.gain > 0
        longer = decide(around(1.0, 48), swapped=None, direction="higher")
        assert longer.gain < shorter.gain
        quiet = decide(around(1.0, 12, 0.0002), swapped=None, direction="higher")
        assert quiet.minimum_detectable < shorter.minimum_detectable / 5

    def test_a_loss_of_what_is_detectable_is_mostly_found(self):
        """At one look, that is: max_blocks as many as there are."""
        generator = random.Random(8)
        found = 0
        for _ in range(200):
            ratios, _ = blocks(generator, sd=0.05, blocks=30)
            known = decide(ratios, swapped=None, direction="higher", max_blocks=30).minimum_detectable
            slower = [ratio * (1 - 1.25 * known) for ratio in ratios]
            found += decide(slower, swapped=None, direction="higher", max_blocks=30).verdict == "regressed"
        assert found >= 0.8 * 200


class TestErrorRates:
    """Far from the limits, with fixed seeds; benchmarks/paired_characteristics.py has the exact figures."""

    @pytest.mark.parametrize("place", [None, 0.1])
    def test_equal_arms_are_let_through(self, place):
        found = verdicts(300, place=place, far=0.05)
        assert found["regressed"] <= 3
        assert found["inconclusive"] <= 6

    @pytest.mark.parametrize("place", [None, 0.1])
    def test_a_loss_of_the_tolerance_is_found(self, place):
        found = verdicts(300, place=place, loss=0.05)
        assert found["regressed"] >= 0.95 * 300
        assert sum(found[name] for name in PASSING) <= 0.04 * 300

    def test_forty_metrics_share_the_false_alarms(self):
        assert verdicts(300, sd=0.06, metrics=40)["regressed"] == 0


class TestPercentiles:
    """They are middles of bins, 64 from each power of two to the next, in both arms."""

    @staticmethod
    def verdicts(loss: float, tolerance: float, *, crossover: bool) -> Counter[str]:
        generator = random.Random(5)

        def percentile(latency: float) -> float:
            width = 2 ** (int(latency).bit_length() - 7)
            return latency // width * width + width / 2

        def arm(level: float) -> float:
            return percentile(level * math.exp(generator.gauss(0, 0.0005)))

        counted: Counter[str] = Counter()
        for _ in range(100):
            level = math.exp(generator.uniform(math.log(2e4), math.log(2e6)))
            ratios = [arm(level * (1 + loss)) / arm(level) for _ in range(60)]
            for count in range(1, 61):
                swapped = [block % 2 == 1 for block in range(count)] if crossover else None
                decision = decide(
                    ratios[:count],
                    swapped=swapped,
                    direction="lower",
                    tolerance=tolerance,
                    resolution=metric("read.clat.p99").resolution,
                )
                if decision.verdict != "continue":
                    break
            counted[decision.verdict] += 1
        return counted

    @pytest.mark.parametrize("crossover", [False, True])
    def test_a_loss_of_the_tolerance_does_not_pass_for_where_its_bin_ends(self, crossover):
        found = self.verdicts(0.05, 0.05, crossover=crossover)
        assert found["regressed"] >= 95  # some 40 of 100 were drift without the resolution

    @pytest.mark.parametrize("crossover", [False, True])
    def test_equal_arms_pass_though_they_lie_in_two_bins(self, crossover):
        assert self.verdicts(0.0, 0.05, crossover=crossover)["pass"] == 100
        assert self.verdicts(0.001, 0.02, crossover=crossover)["regressed"] == 0
