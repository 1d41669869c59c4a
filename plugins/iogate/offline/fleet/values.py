"""What is known of a fleet: frozen values, for tables and other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from iogate.judge.fleet import Spread
from iogate.model import Direction
from iogate.report.history.sessions import Measured
from iogate.report.history.values import LeftOut

Word = Literal["", "slower", "within tolerance", "may be chance", "beyond tolerance"]
"""How a device stands: `slower` than the others beyond chance and by more than the tolerance, or by less; by
more, but it `may be chance`; `beyond tolerance` where there are too few devices to speak of chance."""


@dataclass(frozen=True)
class DeviceStanding:
    """A metric on one device: its `value` (the mean of its sessions) against the mean of the other devices.

    `change` is relative and signed as the number moved; `error` is its standard error as the others let
    expect it, in logarithms, and `degrees` its degrees of freedom (0: too few devices). `sessions` are the
    values of its sessions by their names.
    """

    device: str
    value: float
    others: float
    change: float
    sessions: Mapping[str, float]
    error: float = 0.0
    degrees: float = 0.0
    word: Word = ""


@dataclass(frozen=True)
class FleetMetric:
    """A metric of a workload on the devices of a fleet. `tolerance` is the smallest change that matters."""

    suite: str
    workload: str
    metric: str
    unit: str
    direction: Direction
    tolerance: float
    spread: Spread
    devices: tuple[DeviceStanding, ...]

    @property
    def slowest(self) -> DeviceStanding:
        """The device that is worst off against the others."""
        sign = 1 if self.direction == "higher" else -1
        return min(self.devices, key=lambda one: sign * one.change)


@dataclass(frozen=True)
class DeviceEvidence:
    """How a device stands in all metrics, and what is different about it.

    `loss` is the mean of its losses against the others (a logarithm), over `metrics` of them, in `named` of
    which it stands out. `facts` are sentences.
    """

    device: str
    loss: float
    metrics: int
    named: int
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Fleet:
    """Devices of one model: how each metric spreads, and which of them stand out.

    `model` are the facts that they have in common, `evidence` tells of the slowest device first, then of the
    others that stand out. `kept` is what was measured, by suite and workload, then by device, in the order of
    time. `left_out` is what does not count, and why; `unreadable` how many files that is.
    """

    metrics: tuple[FleetMetric, ...]
    devices: tuple[str, ...]
    sessions: int
    period: tuple[str, str]
    model: Mapping[str, str]
    evidence: tuple[DeviceEvidence, ...]
    alpha: float
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    unreadable: int = 0
    kept: Mapping[tuple[str, str], Mapping[str, tuple[Measured, ...]]] = field(default_factory=dict)

    def standing_out(self, *words: Word) -> list[str]:
        """Return the devices that are so in any metric."""
        found = [one.device for item in self.metrics for one in item.devices if one.word in words]
        return [name for name in self.devices if name in found]
