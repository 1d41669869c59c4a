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

SERIES = 7999
"""How many series are made: at a chance of 1/4000 one of them may differ as much."""
_BATCHES = (199, 800, 7000)
_MARGIN = 1.25
"""Standard errors by which the correlation of neighbours is taken to be larger than it was found."""
_CERTAIN = 3.0
"""How many times as far above the usual as the utmost of the first thousand is beyond any doubt."""
_SESSIONS_A_BLOCK = 60
_LEAST = 1e-9
_SEED = 20


@dataclass(frozen=True)
class NoiseModel:
    """The noise of a series: what is `fresh` in each session, of one variance, and the `correlation` of
    neighbours that was allowed for.
    """

    fresh: Array
    correlation: float


def noise_model(noise: Array, levels: int) -> NoiseModel:
    """Return a model of what is left of a series without its levels, of one variance."""
    correlation = _correlation(noise, levels)
    fresh = noise.copy()
    fresh[1:] -= correlation * noise[:-1]
    fresh[0] *= math.sqrt(1 - correlation**2)
    return NoiseModel(fresh, correlation)


def chance_of(values: Array, weights: Array, noise: NoiseModel, level: float) -> tuple[Stretch, float]:
    """Return the most different stretch of a series, and how probable it is without any change.

    Probabilities above `level` are rough: nothing depends on them.
    """
    stretch = most_different(values, weights)
    if stretch.share <= _LEAST:
        return stretch, 1.0
    random = np.random.default_rng(_SEED)
    reached = made = 0
    beyond = stretch.share * (1 - _LEAST)
    for size in _BATCHES:
        series = _without_change(noise, len(values), size, random) / np.sqrt(weights)[:, None]
        shares = largest_shares(series, weights)
        reached += int((shares >= beyond).sum())
        made += size
        if reached > level * (SERIES + 1) - 1:
            break
        if made > _BATCHES[0] and not reached and _certain(stretch.share, shares):
            made = SERIES
            break
    return stretch, (reached + 1) / (made + 1)


def _certain(share: float, shares: Array) -> bool:
    """Return whether a share lies far beyond all that chance made: its logarithm of the likelihood falls
    evenly, as an exponential tail.
    """
    usual, utmost = (-math.log1p(-min(float(x), 1 - 1e-12)) for x in (np.median(shares), shares.max()))
    return -math.log1p(-min(share, 1 - 1e-12)) > usual + _CERTAIN * (utmost - usual)


def _correlation(noise: Array, levels: int) -> float:
    """Return an upper bound of the correlation of neighbours in noise around so many levels.

    Each level that was taken away takes some of it: Marriott & Pope (1954), Biometrika 41.
    """
    squares = float(noise @ noise)
    if squares <= 0:
        return 0.0
    count = len(noise)
    found = float(noise[1:] @ noise[:-1]) / squares
    found += levels * (1 + 3 * max(found, 0.0)) / count
    found += _MARGIN * math.sqrt(max(1 - found**2, 0.1) / count)
    return min(max(found, 0.0), 0.9)


def _without_change(noise: NoiseModel, count: int, size: int, random: np.random.Generator) -> Array:
    """Return series of so many sessions of such noise, [session][series]."""
    made = _rearranged(noise.fresh, count, size, random)
    if noise.correlation:
        made[0] /= math.sqrt(1 - noise.correlation**2)
        for index in range(1, count):
            made[index] += noise.correlation * made[index - 1]
    return made


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
