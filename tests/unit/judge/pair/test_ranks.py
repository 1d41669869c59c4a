"""Wilcoxon's distributions, beside what others and a plain count find."""

import itertools

import pytest
from scipy import stats

from iogate.judge.pair.ranks import rank_sum_count, signed_rank_count


def chance_of_signed_ranks(n, most):
    """P(sum of the ranks with a minus <= most), by going through all sign patterns."""
    sums = [sum(itertools.compress(range(1, n + 1), minus)) for minus in itertools.product((0, 1), repeat=n)]
    return sum(total <= most for total in sums) / 2**n


@pytest.mark.parametrize("n", range(1, 11))
@pytest.mark.parametrize("level", [0.2, 0.05, 0.01, 0.001])
def test_signed_ranks_are_those_of_all_sign_patterns(n, level):
    count = signed_rank_count(n, level)
    assert chance_of_signed_ranks(n, count - 1) <= level
    assert chance_of_signed_ranks(n, count) > level


@pytest.mark.parametrize(("first", "second"), [(4, 4), (5, 3), (7, 7), (12, 20), (30, 30)])
@pytest.mark.parametrize("level", [0.2, 0.05, 0.01, 0.001])
def test_rank_sums_are_those_of_scipy(first, second, level):
    count = rank_sum_count(first, second, level)

    def chance(most):
        """P(U <= most), from two samples without a common value that have this U."""
        if most < 0:
            return 0.0
        low, high, wrong = [], list(range(second)), most
        for index in range(first):  # each beats as many of the others as are still to be beaten
            beaten = min(wrong, second)
            low.append(beaten - 0.5 - index / 1000)
            wrong -= beaten
        return stats.mannwhitneyu(low, high, alternative="less", method="exact").pvalue

    assert chance(count - 1) <= level < chance(count)


def test_few_values_are_never_rare_enough():
    assert signed_rank_count(6, 0.015) == 0
    assert signed_rank_count(6, 1 / 64) == 1
    assert rank_sum_count(4, 4, 0.014) == 0
    assert rank_sum_count(4, 4, 1 / 70) == 1
    assert rank_sum_count(12, 0, 0.05) == 0
    assert signed_rank_count(60, 0.0) == 0
