"""Where the values of a series of sessions change, and by how much.

Values are logarithms, so that 0.05 is about 5%, and each has its own error. A series is split where it
differs most from itself (`scan`) if chance seldom makes as much (`chance`), and so is each of its parts:
binary segmentation, Vostrikova (1981). What lasts less than three sessions is no change (`spikes`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from iogate.errors import InputError
from iogate.judge.history.chance import NoiseModel, Spikes, chance_of, noise_model
from iogate.judge.history.fit import PRICE, best_edges, noise_of, price_to_describe
from iogate.judge.history.levels import Levels, best_place, followed, levels_between, noise_around
from iogate.judge.history.scan import SHORTEST, Array, Stretch
from iogate.judge.history.several import chance_of_several
from iogate.judge.history.spikes import (
    FLOOR,
    scale_of,
    spike_limit,
    without_spikes,
    without_spikes_of_levels,
)
from iogate.judge.history.trend import has_trend

CHANCE = 1 / 4000
"""How often, at most, a series without a change is said to have one, at each look at it."""
_EARLY = 16
"""Sessions from which on there is enough to tell a change by, so that less is left to chance at each further
look: as the square of their number, whose sum is finite however long one goes on looking.
"""
_LEAST = 2 * FLOOR  # changes of less are none of storage's
_DIGITS = 9


def find_levels(values: Sequence[float], errors: Sequence[float] = (), *, chance: float = CHANCE) -> Levels:
    """Return the levels of a series of logarithms, in their order of time.

    `errors` are the standard errors of the values by what they were made of; none: they are all alike. It is
    the same whatever is added to all of it, and for a series read backwards, but that one or two sessions
    behind the last level, of which nothing is known yet, hide nothing of what was told before they came.
    Raises InputError for values or errors that are no numbers.
    """
    given = _checked(values, "value")
    doubts = _checked(errors, "error") if len(errors) else np.zeros(len(given))
    if len(doubts) != len(given) or (doubts < 0).any():
        said = f"{len(given)} values and {len(doubts)} errors: each has one of its own, not below 0"
        raise InputError(said)
    if not len(given):
        return Levels(())
    found, fit = _found(given, doubts, chance)
    for last in _apart(given, doubts) if fit > 1 else ():
        drawn_in = len(given) - last in found.spikes  # and would count so in the mean of its level
        if not (drawn_in or fit > len(found.levels)):
            continue
        before, _ = _found(given[:-last], doubts[:-last], chance)
        more = (len(before.levels), before.trend) > (len(found.levels), found.trend)
        alike = before.change_points == found.change_points and before.trend == found.trend
        if more or (alike and drawn_in):
            found = followed(before, last)
    return found


def _apart(values: Array, errors: Array) -> Iterator[int]:
    """Yield how many sessions there are at the end from one on that lies beyond the three before it by a
    standard deviation: one or two may be all that is seen of another level.
    """
    scale = scale_of(values, errors)
    for last in range(1, SHORTEST):
        before, value = values[-last - SHORTEST : -last], values[-last]
        if not before.min() - scale <= value <= before.max() + scale:
            yield last


def _found(given: Array, doubts: Array, chance: float) -> tuple[Levels, int]:
    """Return the levels of a series, and how many fit it best, whatever chance makes."""
    centre = float(np.median(given))
    plain = np.round(given - centre, _DIGITS)
    scale = scale_of(plain, doubts)
    limit = spike_limit(scale, len(plain))
    calm = without_spikes(plain, limit)
    weights = _weights(doubts, scale)
    # Which way a series is read must matter neither to chance nor where two places are equally good.
    turn = -1 if plain.tolist() > plain[::-1].tolist() else 1
    edges = best_edges(calm[::turn], weights[::turn], PRICE * scale**2)
    left = noise_of(calm[::turn], weights[::turn], edges)
    spikes = Spikes((plain - calm)[::turn], limit)
    noise = noise_model(left * np.sqrt(weights[::turn]), len(edges) - 1, spikes)
    allowed = chance * min(1.0, _EARLY / len(given)) ** 2
    points = _change_points(calm[::turn], weights[::turn], noise, allowed, edges)
    if turn < 0:
        points = {len(calm) - place: points[place] for place in sorted(points, reverse=True)}
    trend = not points and has_trend(calm[::turn], weights[::turn], allowed)
    described = _described(calm[::turn], weights[::turn], scale)[::turn] if points or trend else []
    described = [place if turn > 0 else len(calm) - place for place in described]
    within, of_described = (
        without_spikes_of_levels(plain, calm, inner, limit) for inner in (list(points), described)
    )
    spread = noise_around(*((of_described, weights, described) if trend else (within, weights, list(points))))
    found = Levels(
        levels_between(within + centre, weights, points, spread, noise.correlation),
        levels_between(
            of_described + centre, weights, dict.fromkeys(described, 1.0), spread, noise.correlation
        ),
        spread,
        noise.correlation,
        tuple(int(index) for index in np.flatnonzero(within != plain)),
        trend,
    )
    return found, len(edges) - 1


def _checked(values: Sequence[float], what: str) -> Array:
    found = np.asarray(values, dtype=float)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise InputError(f"a history of what is no number: each {what} must be finite")
    return found


def _weights(errors: Array, scale: float) -> Array:
    """Return the weights of sessions: what they differ by anyhow, and their own errors."""
    between = max(scale**2 - float(np.median(errors**2)), (scale / 3) ** 2)
    weights: Array = scale**2 / (between + errors**2)
    return weights


def _described(values: Array, weights: Array, scale: float) -> list[int]:
    """Return where the levels begin that fit a series best which has changed, but for the first."""
    return best_edges(values, weights, price_to_describe(len(values)) * scale**2)[1:-1]


def _change_points(
    values: Array, weights: Array, noise: NoiseModel, chance: float, edges: Sequence[int]
) -> dict[int, float]:
    """Return the change points of a series with their chances, at their best places; `edges` are those of the
    levels that fit it best.
    """
    found: dict[int, float] = {}
    _split(values, weights, noise, (0, len(values)), chance, edges, found)
    places = sorted(found)
    chances = [found[place] for place in places]
    for number in range(len(places)):
        before, behind = ([0, *places, len(values)][number + offset] for offset in (0, 2))
        part = slice(before, behind)
        places[number] = best_place(values[part], weights[part], places[number] - before) + before
    return dict(zip(places, chances, strict=True))


def _split(
    values: Array,
    weights: Array,
    noise: NoiseModel,
    part: tuple[int, int],
    chance: float,
    edges: Sequence[int],
    found: dict[int, float],
) -> None:
    """Add the change points of a part of a series.

    Where none stands out, several may hide one another, as three losses that came and went: each level that
    fits is then asked for with the next one alone. These are two of all places that a part may begin and end
    at, and as many times less is left to chance.
    """
    start, stop = part
    new = _changes(values, weights, noise, part, chance)
    inner = [edge for edge in edges if start < edge < stop]
    if not new and len(inner) > 1:
        count = stop - start
        rarely = chance / (count * (count + 1) / 2)
        all_edges = [start, *inner, stop]
        for first, behind in zip(all_edges, all_edges[2:], strict=False):
            new |= _changes(values, weights, noise, (first, behind), rarely)
    found.update(new)
    for each in itertools.pairwise([start, *sorted(new), stop]) if new else ():
        _split(values, weights, noise, each, chance, edges, found)


def _changes(
    values: Array, weights: Array, noise: NoiseModel, part: tuple[int, int], chance: float
) -> dict[int, float]:
    """Return where the stretch of a part begins and ends that differs most, with the chance of that; nothing
    if chance makes as much more often than that.
    """
    start, stop = part
    if stop - start < 2 * SHORTEST:
        return {}
    own, weight = values[start:stop], weights[start:stop]
    stretch, probability = chance_of(own, weight, noise)
    if probability > chance:
        return {}
    change = _difference(own, weight, stretch)
    if abs(change) < _LEAST:
        return {}
    place = Stretch(start + stretch.start, start + stretch.stop, stretch.share)
    probability = max(probability, chance_of_several(values + noise.spikes.heights, part, place, change))
    if probability > chance:
        return {}
    inner = {place.start, place.stop} - {start, stop}
    return dict.fromkeys(sorted(inner), probability)


def _difference(values: Array, weights: Array, stretch: Stretch) -> float:
    """Return by how much a stretch differs from the rest."""
    inside = np.zeros(len(values), dtype=bool)
    inside[stretch.start : stretch.stop] = True
    means = [float(np.average(values[part], weights=weights[part])) for part in (inside, ~inside)]
    return means[0] - means[1]
