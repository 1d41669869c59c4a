"""Whether a series goes one way all the time, as what wears out does: no step of it stands out.

A straight line by generalised least squares (Aitken 1935) for neighbours that correlate, as much as is
plausible of what the line leaves; its slope against its standard error, by Student's t.
"""

from __future__ import annotations

import math

import numpy as np

from iogate.judge.gate.distributions import student_bound
from iogate.judge.history.chance import correlation_of
from iogate.judge.history.scan import Array

_FEWEST = 8
"""Sessions: of fewer nothing tells a line from what wanders."""


def has_trend(values: Array, weights: Array, chance: float) -> bool:
    """Return whether a series has a slope that one without makes with a probability of `chance` at most."""
    count = len(values)
    if count < _FEWEST:
        return False
    roots = np.sqrt(weights)
    design = np.column_stack([np.ones(count), np.arange(count) - (count - 1) / 2]) * roots[:, None]
    scaled = values * roots
    correlation = correlation_of(scaled - design @ np.linalg.lstsq(design, scaled, rcond=None)[0], 2)
    design, scaled = _fresh(design, correlation), _fresh(scaled, correlation)
    found = np.linalg.lstsq(design, scaled, rcond=None)[0]
    rest = scaled - design @ found
    variance = float(rest @ rest) / (count - 2) * float(np.linalg.inv(design.T @ design)[1, 1])
    return abs(float(found[1])) > math.sqrt(variance) * student_bound(count - 2, chance / 2)


def _fresh(rows: Array, correlation: float) -> Array:
    """Return what is new in each session, freed of what it shares with the one before."""
    fresh: Array = rows.copy()
    fresh[1:] -= correlation * rows[:-1]
    fresh[0] *= math.sqrt(1 - correlation**2)
    return fresh
