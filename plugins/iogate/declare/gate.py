"""The gate of a workload: which of its metrics decide, and with which tolerances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iogate import engines
from iogate.errors import InputErrors, OptionError
from iogate.formats.words import nearest, value_text
from iogate.model import Direction, Tolerance, Workload, is_tolerance, metric
from iogate.units import parse_fraction

_LATENCIES = ("slat", "clat", "lat")
_COMMON_METRICS = [
    f"{direction}.{kind}"
    for direction in ("read", "write", "trim")
    for kind in (
        "iops",
        "bandwidth",
        *(f"{lat}.{stat}" for lat in _LATENCIES for stat in ("mean", "p99")),
    )
] + ["wall_time", "speedup", "efficiency"]


CHOSEN = "default"
"""What stands in a gate for the metrics that the engine chooses where none is named."""


def _tolerance(value: Any, direction: Direction) -> Tolerance | Mapping[str, float | None]:
    """Read `5%`, `0.05`, null (from the data), or ReFrame's pair of a lower and an upper bound."""
    if value is None:
        return Tolerance()
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError("a pair of tolerances is [lower, upper], as in [-5%, 10%]")
        lower, upper = (None if bound is None else parse_fraction(bound) for bound in value)
        if (lower is not None and not -1 < lower <= 0) or (upper is not None and upper < 0):
            raise ValueError(
                "a pair of tolerances is [lower, upper] with lower <= 0 <= upper, as in [-5%, 10%]"
            )
        return {"lower": lower, "upper": upper}
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise ValueError("a tolerance is 5%, 0.05, a pair [lower, upper], or empty to take it from the data")
    tolerance = parse_fraction(value)
    if not is_tolerance(tolerance, direction):
        raise ValueError("a tolerance is above 0%" + (" and below 100%" if direction == "higher" else ""))
    return Tolerance(worse=tolerance)


def as_mapping(value: Any) -> Any:
    """Return a gate as metrics with their tolerances: of a list of metrics, or of one tolerance, too."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return dict.fromkeys(value)
    is_tolerance = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return {CHOSEN: value} if is_tolerance else value


def read_gate(value: Any) -> dict[str, Tolerance]:
    """Return metrics with their tolerances, of a mapping of them, of a list of metrics (tolerance from the
    data), or of one tolerance for what the engine chooses, which goes by the name CHOSEN.
    """
    if isinstance(value, list):
        value = [name if isinstance(name, str) else value_text(name) for name in value]
    value = as_mapping(value)
    if not isinstance(value, Mapping):
        raise ValueError("gate is one tolerance, a mapping of metrics to tolerances, or a list of metrics")
    found: dict[str, Tolerance] = {}
    for name, written in value.items():
        try:
            direction = "higher" if name == CHOSEN else metric(str(name)).direction
        except KeyError:
            hint = nearest(str(name), _COMMON_METRICS)
            raise ValueError(f"unknown metric {value_text(name)}{hint}") from None
        if str(name).rpartition(".")[2] == "serial_fraction":
            raise ValueError(
                f"{name} is 0 where scaling is perfect, and no change is relative to that: gate "
                "an efficiency, such as threads_8.efficiency or clients_4.efficiency"
            )
        if str(name).rpartition(".")[2] in _LATENCIES:
            raise ValueError(f"{name} is many figures: say which, such as {name}.mean or {name}.p99")
        try:
            tolerance = _tolerance(written, direction)
        except ValueError as error:
            hint = f"; a list of metrics is written [{written}]" if str(written) in _COMMON_METRICS else ""
            raise ValueError(f"{error}{hint}" if name == CHOSEN else f"{name}: {error}") from None
        if isinstance(tolerance, Mapping):
            if name == CHOSEN:  # of which some may be better when they are lower
                raise ValueError(f"{name} is one tolerance; a pair needs the name of its metric")
            lower, upper = tolerance["lower"], tolerance["upper"]
            worse, better = (lower, upper) if direction == "higher" else (upper, lower)
            if worse == 0:
                side = "lower" if direction == "higher" else "upper"
                raise ValueError(
                    f"{name}: 0 as the {side} bound tolerates no loss at all; ~ leaves it to the data"
                )
            tolerance = Tolerance(_magnitude(worse), _magnitude(better))
        found[str(name)] = tolerance
    return found


def _magnitude(bound: float | None) -> float | None:
    return None if bound is None else abs(bound)


def chosen(engine: engines.Engine, workload: Workload) -> dict[str, Tolerance]:
    """Return the gate of a workload with the metrics that its engine chooses in the place of CHOSEN."""
    gate = dict(workload.gate)
    if CHOSEN not in gate:
        return gate
    tolerance = gate.pop(CHOSEN)
    return {**dict.fromkeys(engine.gating(workload), tolerance), **gate}


def check_directions(engine: engines.Engine, workload: Workload) -> None:
    """Raise InputErrors of OptionError, at `gate`, if figures are to decide of what the workload does not do:
    it would be invalid once it has measured, and written.
    """
    needs = engine.needs(workload)
    done = {"read": needs.reads, "write": needs.writes, "trim": needs.writes}
    if not any(done.values()):  # it says nothing of them
        return
    of_no_use = [name for name in workload.gate if not done.get(name.partition(".")[0], True)]
    if of_no_use:
        verb = "reads" if needs.reads else "writes"
        raise InputErrors(
            [
                OptionError(
                    f"{name} cannot decide on {workload.name}, which only {verb}",
                    ("gate", name),
                    remedy=f"name it in the gate of those that {name.partition('.')[0]}; a workload without "
                    "a gate is judged by what it does",
                )
                for name in of_no_use
            ]
        )
