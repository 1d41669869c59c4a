"""How often chance alone makes a series differ within itself as much as it does.

The series is compared with others of the same noise that have no change: what is left of it without its
levels (`fit`), freed of the correlation of neighbours, put together anew in blocks of random order and sign,
and correlated again: Davison & Hinkley (1997), "Bootstrap Methods and their Application", 8.2
(post-blackening). The correlation is taken to be larger than it was found, as few sessions say little of it,
and to take too little for it makes false alarms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iogate.judge.history.scan import Array, Stretch, largest_shares, most_different
from iogate.judge.history.spikes import FLOOR, without_spikes

_BATCHES = (199, 800)
_TAIL = 100
"""Of the series that are made, those that differ most, by which it is told how seldom one differs more."""
_BEYOND_DOUBT = 10
_MARGIN = 1.0
"""Standard errors by which the correlation of neighbours is taken to be larger than it was found."""
_USUAL, _USUAL_SESSIONS = 0.2, 10
"""The correlation of neighbours that is taken for granted, and how many sessions it takes to outweigh it."""
_HIGHEST = 0.85
"""How much of what makes a spike one it counts for: a few very high ones would hide each small change."""
_SESSIONS_A_BLOCK = 60
_LEAST = 1e-9
_DIGITS = 9
_SEED = 20


@dataclass(frozen=True)
class Spikes:
    """By how much each session stood out alone (0: not at all), and the `limit` beyond which one does."""

    heights: Array
    limit: float


@dataclass(frozen=True)
class NoiseModel:
    """The noise of a series: what is `fresh` in each session, of one variance, and the `correlation` of
    neighbours that was allowed for; and the `spikes` that were taken out, of which chance may put three in a
    row.
    """

    fresh: Array
    correlation: float
    spikes: Spikes


def noise_model(noise: Array, levels: int, spikes: Spikes) -> NoiseModel:
    """Return a model of what is left of a series without its levels and spikes, of one variance. No session
    has less noise than the floor: where all are alike, what is left is what a computer rounds.
    """
    noise = np.round(noise, _DIGITS)
    correlation = correlation_of(noise, levels)
    fresh = noise.copy()
    fresh[1:] -= correlation * noise[:-1]
    fresh[0] *= math.sqrt(1 - correlation**2)
    fresh = np.where(np.abs(fresh) < FLOOR, FLOOR, fresh)  # of which sign is left to chance
    return NoiseModel(fresh, correlation, spikes)


def chance_of(values: Array, weights: Array, noise: NoiseModel) -> tuple[Stretch, float]:
    """Return the most different stretch of a series, and how probable it is without any change.

    How often chance makes as much is counted where it does so often. Beyond that the logarithm of the
    likelihood ratio falls evenly, as an exponential tail does: peaks over threshold, Pickands (1975), Annals
    of Statistics 3.
    """
    stretch = most_different(values, weights, noise.correlation)
    if stretch.share <= _LEAST:
        return stretch, 1.0
    random = np.random.default_rng(_SEED)
    made, own = np.empty(0), float(_likelihood(np.array([stretch.share]))[0])
    for size in _BATCHES:
        series = _without_change(noise, weights, size, random)
        shares = largest_shares(series, weights, noise.correlation)
        made = np.concatenate([made, _likelihood(shares)])
        counted = (int((made >= own * (1 - _LEAST)).sum()) + 1) / (len(made) + 1)
        if counted * len(made) > _BEYOND_DOUBT:
            return stretch, counted
    threshold, *tail = np.sort(made)[-_TAIL - 1 :]
    scale = float(np.mean(tail)) - float(threshold)
    if scale <= 0:
        return stretch, counted
    return stretch, min(counted, _TAIL / len(made) * math.exp(-(own - float(threshold)) / scale))


def _likelihood(shares: Array) -> Array:
    """Return what the logarithm of the likelihood ratio of a change is proportional to."""
    likelihood: Array = -np.log1p(-np.minimum(shares, 1 - _LEAST))
    return likelihood


def correlation_of(noise: Array, levels: int) -> float:
    """Return an upper bound of the correlation of neighbours in noise around so many levels.

    Each level that was taken away takes some of it: Marriott & Pope (1954), Biometrika 41.
    """
    squares = float(noise @ noise)
    if squares <= 0:
        return 0.0
    count = len(noise)
    found = float(noise[1:] @ noise[:-1]) / squares
    found += levels * (1 + 3 * max(found, 0.0)) / count
    known = count + _USUAL_SESSIONS
    found = (count * found + _USUAL_SESSIONS * _USUAL) / known
    found += _MARGIN * math.sqrt(max(1 - found**2, 0.1) / known)
    return min(max(found, 0.0), 0.9)


def _without_change(noise: NoiseModel, weights: Array, size: int, random: np.random.Generator) -> Array:
    """Return series of such noise, [session][series], with the spikes in other places and taken out again."""
    count = len(weights)
    made = _rearranged(noise.fresh, count, size, random)
    if noise.correlation:
        made[0] /= math.sqrt(1 - noise.correlation**2)
        for index in range(1, count):
            made[index] += noise.correlation * made[index - 1]
    made /= np.sqrt(weights)[:, None]
    limit = noise.spikes.limit
    heights = np.clip(noise.spikes.heights, -_HIGHEST * limit, _HIGHEST * limit)
    if not heights.any():
        return made
    places = np.argsort(random.random((len(heights), size)), axis=0)[:count]
    return without_spikes(made + heights[places], limit)


def _rearranged(fresh: Array, count: int, size: int, random: np.random.Generator) -> Array:
    """Return the sessions in blocks of random order and sign. A block of a short series is a session: longer
    ones would leave too few; long series have room for what else correlates.
    """
    total = len(fresh)
    length = max(1, round(math.sqrt(total / _SESSIONS_A_BLOCK)))
    blocks = -(-total // length)
    order = np.argsort(random.random((blocks, size)), axis=0)
    signs = random.choice(np.array([-1.0, 1.0]), (blocks, size))
    if length == 1:
        made: Array = fresh[order[:count]] * signs[:count]
        return made
    inside = np.arange(length)[None, :, None]
    places = (order[:, None, :] * length + inside).reshape(-1, size)[:count] % total
    joined: Array = fresh[places] * np.repeat(signs, length, axis=0)[:count]
    return joined
