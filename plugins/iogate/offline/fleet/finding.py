"""From sessions of many devices to what the fleet is like."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from iogate.errors import InputError
from iogate.judge.filling import hold_unlike_data, tells_filling
from iogate.judge.fleet import FEWEST, Standing, beyond_chance, spread_of, standings
from iogate.judge.gate.noise import components
from iogate.offline.fleet.alike import by_workload, of_one_definition, of_one_model, once
from iogate.offline.fleet.evidence import ages, differing_facts
from iogate.offline.fleet.members import members, model
from iogate.offline.fleet.values import DeviceEvidence, DeviceStanding, Fleet, FleetMetric, Word
from iogate.report.alike import who
from iogate.report.history import Collection
from iogate.report.history.points import points_of
from iogate.report.history.series import gating_of
from iogate.report.history.sessions import Measured
from iogate.report.history.values import LeftOut
from iogate.units import format_share, printable

ALPHA = 0.01
"""The chance that any of equal devices is said to be slower than the others, in all metrics together."""
_TOLERANCE = 0.05
"""The loss that matters where nothing says which does."""

Kept = Mapping[str, tuple[Measured, ...]]


def fleet_of(
    collection: Collection, *, tolerance: float | None = None, workloads: Sequence[str] = ()
) -> Fleet:
    """Return what sessions of several devices say; `tolerance` goes for each metric, instead of the suites'.

    `workloads` are patterns of those that count (none: all). Raises InputError where fewer than two devices
    can be compared, with what was left out and why.
    """
    said = [
        replace(one, why=f"{printable(one.device)}: {one.why}") if one.device else one
        for one in collection.left_out
    ]
    measured = [one for one in collection.measured if _wanted(one.workload, workloads)]
    items = members(measured, said)
    items = of_one_model(items, said) if items else {}
    kept = dict(_comparable(items, said))
    found = [metric for (_, name), own in kept.items() for metric in _metrics(own, name, tolerance, said)]
    if not found:
        raise _nothing(items, said)
    found = _with_words(found)
    names = tuple(name for name in items if any(name in own for own in kept.values()))
    sessions = {(name, item.session.id) for own in kept.values() for name in own for item in own[name]}
    newest = {name: _newest(name, kept) for name in names}
    dates = sorted(item.session.date for own in kept.values() for each in own.values() for item in each)
    return Fleet(
        tuple(found),
        names,
        len(sessions),
        (dates[0], dates[-1]),
        model(newest[max(names, key=lambda name: newest[name].session.id)].session.environment),
        tuple(_evidence(found, newest)),
        ALPHA,
        tuple(dict.fromkeys(said)),
        (*_lengths(kept), *_notes(found)),
        collection.unreadable,
        kept,
    )


def _wanted(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _comparable(
    items: Mapping[str, Sequence[Measured]], said: list[LeftOut]
) -> Iterator[tuple[tuple[str, str], Kept]]:
    """Yield the workloads that at least two devices measured alike."""
    for (suite, workload), own in by_workload(items).items():
        alike = of_one_definition(own, said)
        kept = {name: tuple(once(each, said)) for name, each in alike.items()}
        if len(kept) < 2:
            why = f"only {next(iter(kept))} measured it, in the suite {suite}"
            said.append(LeftOut(printable(why), workload))
            continue
        missing = [name for name in items if name not in own]
        if missing:
            said.append(LeftOut(printable(f"not measured on {', '.join(missing)}"), workload))
        yield (suite, workload), kept


def _nothing(items: Mapping[str, object], said: Sequence[LeftOut]) -> InputError:
    from iogate.report.history.words import left_out_lines

    what = "no device" if not items else f"one device only, {next(iter(items))}" if len(items) == 1 else ""
    what = what or "no workload that two devices measured alike"
    text = printable(f"a fleet has at least two devices of one model; here is {what}")
    return InputError(
        "\n  ".join([text, *left_out_lines(dict.fromkeys(said))]),
        remedy="name the results of other devices too: files, or folders of sessions",
    )


def _metrics(own: Kept, workload: str, tolerance: float | None, said: list[LeftOut]) -> Iterator[FleetMetric]:
    items = sorted((item for each in own.values() for item in each), key=lambda one: one.session.id)
    for name in filter(tells_filling, dict.fromkeys(name for item in items for name in item.values)):
        shares = [statistics.median(item.values[name]) for item in items if name in item.values]
        if hold_unlike_data(shares):
            parts = f"{format_share(min(shares))} to {format_share(max(shares))}"
            why = f"the devices held data in {parts} of the blocks that were looked at: fill them alike"
            said.append(LeftOut(why, workload))
            return
    for name in gating_of(items):
        kind = next((item.kinds[name] for item in reversed(items) if name in item.kinds), None)
        sound: dict[str, list[Measured]] = {}
        for device, item in ((device, item) for device, each in own.items() for item in each):
            if kind and item.kinds.get(name) == kind:
                sound.setdefault(device, []).append(item)
                continue
            what = "in another unit" if name in item.kinds else "missing, or no positive number"
            said.append(LeftOut(printable(f"{name} of {device} is {what}"), workload, item.session.date))
        if len(sound) > 1:
            declared = next((one.tolerances[name] for one in reversed(items) if name in one.tolerances), None)
            yield _metric(sound, items[-1], name, tolerance or declared or _TOLERANCE)


def _metric(
    own: Mapping[str, Sequence[Measured]], newest: Measured, name: str, tolerance: float
) -> FleetMetric:
    unit, direction = next(iter(own.values()))[0].kinds[name]
    rows = [item for each in own.values() for item in each]
    points = iter(points_of(rows, name))
    values = {device: list(itertools.islice(points, len(each))) for device, each in own.items()}
    sign = -1 if direction == "higher" else 1
    logs = [[sign * math.log(point.value) for point in each] for each in values.values()]
    known = components(tuple(tuple(map(math.log, item.values[name])) for item in rows))
    found = []
    for (device, each), one, own_logs in zip(
        values.items(), standings(logs, known.resolution), logs, strict=True
    ):
        mean = math.fsum(own_logs) / len(own_logs)
        found.append(
            DeviceStanding(
                device,
                math.exp(sign * mean),
                math.exp(sign * (mean - one.worse)),
                math.expm1(sign * one.worse),
                {point.session: point.value for point in each},
                one.error,
                one.degrees,
            )
        )
    return FleetMetric(
        newest.suite, newest.workload, name, unit, direction, tolerance, spread_of(logs), tuple(found)
    )


def _with_words(metrics: Sequence[FleetMetric]) -> list[FleetMetric]:
    """Return metrics with the words on their devices."""
    worse = [[_worse(item, one) for one in item.devices] for item in metrics]
    flat = [
        Standing(worse, one.error, one.degrees)
        for item, row in zip(metrics, worse, strict=True)
        for one, worse in zip(item.devices, row, strict=True)
    ]
    beyond = iter(beyond_chance(flat, ALPHA))
    found = []
    for item, row in zip(metrics, worse, strict=True):
        devices = tuple(
            replace(one, word=_word(item, one, loss, beyond=next(beyond)))
            for one, loss in zip(item.devices, row, strict=True)
        )
        found.append(replace(item, devices=devices))
    return found


def _worse(item: FleetMetric, one: DeviceStanding) -> float:
    """Return how much worse a device is than the others, in logarithms."""
    change = math.log(one.value / one.others)
    return -change if item.direction == "higher" else change


def _word(item: FleetMetric, one: DeviceStanding, worse: float, *, beyond: bool) -> Word:
    margin = math.log1p(item.tolerance) if item.direction == "lower" else -math.log1p(-item.tolerance)
    if not one.degrees:
        return "beyond tolerance" if worse > margin else ""
    if worse > margin:
        return "slower" if beyond else "may be chance"
    return "within tolerance" if beyond else ""


def _newest(name: str, kept: Mapping[tuple[str, str], Kept]) -> Measured:
    own = [item for each in kept.values() for item in each.get(name, ())]
    return max(own, key=lambda item: item.session.id)


def _evidence(metrics: Sequence[FleetMetric], newest: Mapping[str, Measured]) -> Iterator[DeviceEvidence]:
    """Yield what is known of the slowest device, and of those that stand out, the slowest first."""
    losses: dict[str, list[float]] = {name: [] for name in newest}
    named = dict.fromkeys(newest, 0)
    for item in metrics:
        for one in item.devices:
            losses[one.device].append(_worse(item, one))
            named[one.device] += bool(one.word)
    mean = {name: math.fsum(values) / len(values) for name, values in losses.items() if values}
    for place, name in enumerate(sorted(mean, key=lambda one: -mean[one])):
        if place and not named[name]:
            continue
        others = [item.session for device, item in newest.items() if device != name]
        own = newest[name].session
        facts = differing_facts(own.environment, [one.environment for one in others])
        facts = facts or ("nothing that is known of its machine and software differs from the others",)
        age = ages(own.id, [one.id for one in others])
        yield DeviceEvidence(name, mean[name], len(losses[name]), named[name], (*facts, age))


def _lengths(kept: Mapping[tuple[str, str], Kept]) -> Iterator[str]:
    """Yield where `runtime: auto` chose unlike lengths, which speak of unlike things on some devices."""
    unlike = {}
    for (_, workload), own in kept.items():
        by_length: dict[float, list[str]] = {}
        for name, each in own.items():
            for length in {item.runtime for item in each if item.runtime}:
                by_length.setdefault(length, []).append(name)
        if len(by_length) > 1:
            said = (f"{length:g} s on {', '.join(names)}" for length, names in sorted(by_length.items()))
            unlike[workload] = "; ".join(said)
    if unlike:
        first = next(iter(unlike))
        yield (
            f"repetitions of {printable(who(list(unlike)))} did not last as long on each device, as runtime: "
            f"auto chose ({printable(first)}: {printable(unlike[first])}): with a cache that fills, or "
            "credit for bursts, equal devices differ by that alone; give runtime in seconds"
        )


def _notes(metrics: Sequence[FleetMetric]) -> Iterator[str]:
    """Yield what a reader must know of the figures."""
    if any(item.spread.between is None for item in metrics):
        yield (
            "one session a device cannot tell device from noise: what devices differ by, and what their "
            "sessions do, are one figure there; measure each device again, best on another day"
        )
    small = [len(item.devices) for item in metrics if len(item.devices) < FEWEST]
    if small:
        yield (
            f"fewer than {FEWEST} devices (the fewest {min(small)}): they are held against the tolerance "
            "alone, which has no error rates"
        )
    large = sum(len(item.devices) >= FEWEST for item in metrics)
    if large:
        yield (
            f"`slower` is said of any device of a fleet of equal ones at most once in {round(1 / ALPHA)} "
            f"fleets, over all metrics ({large}) and devices together"
        )
