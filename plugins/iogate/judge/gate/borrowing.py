"""What the workloads of a device know of each other's noise: moderated variances.

A workload with K baseline sessions knows its session noise by K - 1 degrees of freedom, which is next to
nothing for K = 3. All workloads of a device together know what is usual there, and how far workloads differ.
Source: Smyth (2004), "Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments", Stat. Appl. Genet. Mol. Biol. 3: variances with a common prior, found by the moments
of their logarithms.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from iogate.judge.borrowed import Borrowed
from iogate.judge.gate.course import course_of, level
from iogate.judge.gate.gamma import digamma, inverse_trigamma, trigamma
from iogate.judge.gate.noise import (
    ASSUMED_DEGREES,
    ASSUMED_SESSION_NOISE,
    NOISE_FLOOR,
    Components,
    components,
)
from iogate.judge.gate.robust import sum_of_squares
from iogate.judge.gate.values import BaselineValues, Scale, Unusable, read_sessions, reference_of

_ASSUMPTION = 2.0  # degrees of freedom that the assumed session noise is worth beside what was learnt
_DOUBT = 0.1  # standard errors by which workloads are held to differ more than they seem to
_YOUNG = trigamma(1.0)  # the variance of the logarithm of a variance that three sessions tell
_WILD = 1.0  # the same for the share of devices whose workloads differ wildly (see DOUBTED_SHARE)


NOTHING = Borrowed()


def borrow(baselines: Iterable[BaselineValues]) -> Borrowed:
    """Return what the baselines of a device, one for each gating metric, say about its noise.

    Each is what `decide` takes as one; published ones and those that cannot be judged say nothing. One
    workload alone, or sessions that are not repeated, say nothing that it does not know itself.
    """
    known = [found for baseline in baselines if (found := _read(baseline))]
    repeated = [item for item in known if item.repetition_degrees]
    if len(repeated) < 2:
        return NOTHING
    repetition, repetition_degrees = _fit(
        [(max(item.repetition, NOISE_FLOOR**2), 0.0, item.repetition_degrees) for item in repeated], _DOUBT
    )
    several = [item for item in repeated if item.sessions > 1]
    if len(several) < 2:
        return Borrowed(repetition=repetition, repetition_degrees=repetition_degrees)
    spreads = [
        (max(item.spread, NOISE_FLOOR**2), item.repetition / item.repetitions, item.sessions - 1.0)
        for item in several
    ]
    session, degrees = _fit(spreads, _DOUBT)
    _, wild = _fit(spreads, _WILD)
    evidence = _independent(several)
    assumption = _ASSUMPTION * ASSUMED_SESSION_NOISE**2
    session = max(session, (assumption + evidence * session) / (_ASSUMPTION + evidence))
    return Borrowed(
        session=session,
        session_degrees=min(degrees, max(evidence, ASSUMED_DEGREES)),
        doubted_degrees=min(wild, max(evidence, ASSUMED_DEGREES)),
        evidence=max(evidence, ASSUMED_DEGREES),
        repetition=repetition,
        repetition_degrees=repetition_degrees,
        workloads=len(several),
        sessions=round(statistics.median(item.sessions for item in several)),
    )


def as_assumed(borrowed: Borrowed) -> Borrowed:
    """Return what was borrowed, taken as sure as an assumption is, however little it was learnt from."""
    return replace(
        borrowed,
        session_degrees=max(borrowed.session_degrees, ASSUMED_DEGREES),
        doubted_degrees=max(borrowed.doubted_degrees, ASSUMED_DEGREES),
        evidence=max(borrowed.evidence, ASSUMED_DEGREES),
    )


def _read(baseline: BaselineValues) -> Components | None:
    """Return what a baseline's values say of their noise: what its repetitions differ by for their place in a
    session is none, and the values that it is lent to are judged without.
    """
    try:
        sessions = read_sessions(baseline)
    except Unusable:
        return None
    course = course_of(sessions, max(map(len, sessions)))
    sessions = level(sessions, course) if course else sessions
    scale = Scale(reference_of(sessions), "higher")
    return components(tuple(tuple(map(scale.worse, session)) for session in sessions))


def _fit(variances: Sequence[tuple[float, float, float]], doubts: float) -> tuple[float, float]:
    """Return the prior of variances: s0² and its degrees of freedom d0.

    Each is given with the part of it that is known, and its degrees. Workloads are held to differ by so many
    standard errors (`doubts`) more than they seem to, which is the more the fewer they are.
    """
    expected = statistics.fmean(trigamma(degrees / 2) for _, _, degrees in variances)
    biases = [math.log(degrees / 2) - digamma(degrees / 2) for _, _, degrees in variances]
    low, high = -14.0, 4.0  # the logarithm of s0²: the larger, the smaller the logarithms of the ratios
    degrees = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        logs = [
            math.log(variance / (math.exp(middle) + part)) + bias
            for (variance, part, _), bias in zip(variances, biases, strict=True)
        ]
        doubt = doubts * 2 * max(expected, _YOUNG) / math.sqrt(len(logs) - 1)
        excess = max(sum_of_squares(logs) / (len(logs) - 1) - expected, 0.0) + doubt
        half = inverse_trigamma(excess)
        degrees = 2 * half
        if math.fsum(logs) / len(logs) > math.log(half) - digamma(half):
            low = middle
        else:
            high = middle
    return math.exp((low + high) / 2), degrees


def _independent(items: Sequence[Components]) -> float:
    """Return how many independent degrees of freedom the sessions of these workloads are worth together.

    Workloads of one session share the machine's luck. If they move together with correlation r, G of them
    are worth G / (1 + (G - 1) r²) (the variance of the mean of correlated squares). r is taken from the
    squares of sums against the sums of squares, one standard error to the safe side.
    """
    count = len(items)
    total = sum(item.sessions - 1 for item in items)
    squares = sums = 0.0
    longest = max(item.sessions for item in items)
    for back in range(1, longest + 1):
        moved = [
            (item.centres[-back] - item.centre) / math.sqrt(max(item.spread, NOISE_FLOOR**2))
            for item in items
            if item.sessions >= back
        ]
        sums += math.fsum(moved) ** 2 / len(moved)
        squares += math.fsum(value**2 for value in moved) / len(moved)
    error = math.sqrt(2 / max(1, longest - 1))
    ratio = sums / squares if squares else 1.0
    shared = min(max((ratio - 1 + error) / (count - 1), 0.0), 1.0)
    return total / (1 + (count - 1) * shared**2)
