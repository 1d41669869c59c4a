"""Strong scaling: what times of a fixed amount of work say, by how many did it together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from iogate.model import Output, Traffic


def scaling(seconds: Mapping[int, float], each: str) -> dict[str, float]:
    """Return what times by the number of those who shared the work say of strong scaling; `each` is what they
    are called in the names of metrics: `threads`, `clients`.

    With n0 the fewest: speed-up T(n0)/T(n), efficiency n0 T(n0) / (n T(n)), and the serial fraction s of
    Amdahl's law, T(n) = T(1) (s + (1 - s)/n) (AFIPS 1967), by least squares of T on 1/n, within 0 to 1.
    """
    first = min(seconds)
    found: dict[str, float] = {}
    for count in sorted(seconds)[1:]:
        gain = seconds[first] / seconds[count]
        found[f"{each}_{count}.speedup"] = gain
        found[f"{each}_{count}.efficiency"] = gain * first / count
    found["serial_fraction"] = serial_fraction(seconds)
    return found


def curve(outputs: Mapping[int, Output], each: str) -> Output:
    """Return outputs by the number of those at work as one, whose metrics begin with that (`clients_4.`).

    The time of a fixed amount of work is the inverse of the rate: bytes/s, reads and writes together.
    """
    rates = {
        count: sum(output.metrics[f"{direction}.bandwidth"] for direction in output.traffic)
        for count, output in outputs.items()
    }
    metrics = {
        f"{each}_{count}.{name}": value
        for count, output in outputs.items()
        for name, value in output.metrics.items()
    }
    if all(rates.values()):
        metrics |= scaling({count: 1 / rate for count, rate in rates.items()}, each)
    directions = dict.fromkeys(direction for output in outputs.values() for direction in output.traffic)
    return replace(
        outputs[max(outputs)],
        metrics=metrics,
        traffic={
            direction: _added(
                [output.traffic[direction] for output in outputs.values() if direction in output.traffic]
            )
            for direction in directions
        },
        histograms={
            f"{each}_{count}.{name}": histogram
            for count, output in outputs.items()
            for name, histogram in output.histograms.items()
        },
    )


def _added(parts: Sequence[Traffic]) -> Traffic:
    """Return what was done one after another."""
    return Traffic(
        sum(part.bytes for part in parts),
        sum(part.operations for part in parts),
        sum(part.seconds for part in parts),
        sum(part.short for part in parts),
        sum(part.rounding for part in parts),
    )


def serial_fraction(seconds: Mapping[int, float]) -> float:
    """Return the serial fraction of Amdahl's law that fits times of two or more numbers of workers best."""
    shares = {count: 1 / count for count in seconds}
    x_mean, y_mean = (sum(values.values()) / len(seconds) for values in (shares, seconds))
    spread = sum((x - x_mean) ** 2 for x in shares.values())
    slope = sum((shares[n] - x_mean) * (time - y_mean) for n, time in seconds.items()) / spread
    constant = y_mean - slope * x_mean
    whole = constant + slope  # T(1); above 0 unless the times grow beyond any model
    return min(1.0, max(0.0, constant / whole)) if whole > 0 else 1.0
