"""The boundaries agree with those published."""

from __future__ import annotations

import math
import subprocess
import sys
from statistics import NormalDist

import pytest

from iogate.judge.gate.spending import boundaries, nominal_levels, power_spending
from places import PLUGINS

NORMAL = NormalDist()


def obrien_fleming(alpha: float):
    """The O'Brien-Fleming-type spending function of Lan & DeMets (1983)."""
    return lambda t: 2 - 2 * NORMAL.cdf(NORMAL.inv_cdf(1 - alpha / 2) / math.sqrt(t))


@pytest.mark.parametrize(
    ("alpha", "information", "published"),
    [
        (0.05, [0.25, 0.5, 0.75, 1.0], [3.750, 2.540, 2.016, 1.720]),
        (0.025, [0.2, 0.4, 0.6, 0.8, 1.0], [4.877, 3.357, 2.680, 2.290, 2.031]),
    ],
)
def test_obrien_fleming_bounds_are_those_published(alpha, information, published):
    assert boundaries(information, obrien_fleming(alpha)) == pytest.approx(published, abs=0.001)


def test_one_look_is_the_plain_test():
    assert boundaries([1.0], power_spending(0.01, 1.5)) == pytest.approx([NORMAL.inv_cdf(0.99)], abs=1e-6)


def test_the_second_bound_agrees_with_the_bivariate_normal():
    """P(Z1 < c1, Z2 > c2) by direct integration over Z1 is what the second look may spend."""
    information, spending = [0.4, 1.0], power_spending(0.01, 1.5)
    first, second = boundaries(information, spending)
    correlation = math.sqrt(0.4)
    step = 0.001
    crossed = sum(
        NORMAL.pdf(z) * NORMAL.cdf(-(second - correlation * z) / math.sqrt(1 - 0.4)) * step
        for z in (first - step * (i + 0.5) for i in range(14000))
    )
    assert crossed == pytest.approx(spending(1.0) - spending(0.4), rel=1e-4)


@pytest.mark.parametrize("error", [0.05, 0.01, 0.01 / 40, 1e-6])
@pytest.mark.parametrize("ratio", [0.0, 0.01, 0.3, 30.0, math.inf])
def test_the_looks_spend_no_more_than_the_error(error, ratio):
    levels = nominal_levels(error, 1.5, ratio, 2, 12)
    assert len(levels) == 11
    assert all(0 < level <= error * (1 + 1e-6) for level in levels)


def test_where_repetitions_teach_nothing_the_first_look_spends_all():
    assert nominal_levels(0.01, 1.5, math.inf, 2, 12) == pytest.approx([0.01] * 11, rel=1e-6)


def test_a_look_that_may_spend_nothing_has_a_bound_that_nothing_reaches():
    """All is spent at the first look: the chance to cross at the second underflows."""
    first, second = boundaries([0.5, 1.0], lambda _: 0.01)
    assert first == pytest.approx(NORMAL.inv_cdf(0.99), abs=1e-6)
    assert 20 < second < 40


@pytest.mark.parametrize(
    ("imported", "decision"),
    [
        (set(), "1000.0, [990.0, 1010.0], max_repetitions=2"),
        (set(), "[[990.0, 1010.0], [1000.0, 1020.0]], [990.0, 1010.0], max_repetitions=2"),
        (set(), "[[990.0], [1000.0], [1020.0]], [990.0, 1010.0]"),
        ({"numpy"}, "[[990.0, 1010.0], [1000.0, 1020.0]], [990.0, 1010.0]"),
    ],
)
def test_only_looks_that_share_errors_import_numpy_and_none_imports_scipy(imported, decision):
    program = (
        f"import sys; from iogate.judge.gate import decide; decide({decision}, direction='higher');"
        "print(*{'numpy', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(PLUGINS)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) == imported
