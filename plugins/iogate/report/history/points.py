"""The sessions of a metric as points: a value with its error."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from iogate.judge.gate import course_of
from iogate.judge.gate.noise import components
from iogate.judge.gate.robust import sum_of_squares
from iogate.report.history.sessions import Measured
from iogate.report.history.values import SessionValue

_POOLED = 4.0
"""Degrees of freedom that the noise of all repetitions is worth to one session."""


def points_of(items: Sequence[Measured], name: str) -> tuple[SessionValue, ...]:
    """Return what sessions say of a metric. A value is a robust mean of the logarithms of its repetitions, as
    the gate takes it; its error is by the noise of repetitions, its own moderated by that of all sessions,
    and by what rounding adds, as fio's percentiles are the middles of bins of 0.8% to 1.6%.
    """
    logs = tuple(tuple(map(math.log, values)) for values in _alike([item.values[name] for item in items]))
    found = components(logs)
    pooled = found.repetition
    points = []
    for item, values, centre in zip(items, logs, found.centres, strict=True):
        own = sum_of_squares(values) + _POOLED * pooled
        variance = own / (len(values) - 1 + _POOLED)
        step = found.resolution / 2  # at most: between two bins of a histogram, half of the sessions in each
        points.append(
            SessionValue(
                item.session.id,
                item.session.date,
                math.exp(centre),
                math.sqrt(variance / len(values) + step**2),
                len(item.values[name]),
                item.session.file,
            )
        )
    return tuple(points)


def _alike(sessions: Sequence[Sequence[float]]) -> Sequence[Sequence[float]]:
    """Return the values of sessions at the places that most of them have, without what these differ by, where
    longer sessions show that beyond chance: two repetitions of a device that warms up are slower than five.
    """
    lengths = [*map(len, sessions)]
    longer = [values for values in sessions if len(values) > min(lengths)]
    course = course_of(longer, max(lengths))
    if not course:
        return sessions
    course = course.first(statistics.median_low(lengths))
    return [course.without(values) for values in sessions]
