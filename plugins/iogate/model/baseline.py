"""What is known of a workload on a device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from iogate.model.device import Environment

UpdateMode = Literal["replace", "append", "force"]


@dataclass(frozen=True)
class Baseline:
    """What is known of one workload on one device.

    `metrics` maps a name to replicate values `[session][repetition]`, or to a single number where the
    baseline is a published one; `sessions` are the identifiers of those sessions, `source` says where
    published figures come from. `environment` is that of the newest session that says on which machine it
    was, with what those before it tell of that machine. `devices` are those of a fleet,
    one a session: what differs between sessions is then what differs between devices. `partial` has the
    sessions of the metrics that were not measured in all of them. `runtime` is how many seconds a repetition
    lasted, where `runtime: auto` chose them (None: declared, or not known). `worked` is for how many seconds
    each session that tells it had measured before each repetition.
    """

    workload: str
    definition: Mapping[str, Any]
    metrics: Mapping[str, float | tuple[tuple[float, ...], ...]]
    sessions: tuple[str, ...] = ()
    source: str = ""
    environment: Environment = field(default_factory=Environment)
    devices: tuple[str, ...] = ()
    partial: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    runtime: float | None = None
    worked: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def published(self) -> bool:
        return not self.sessions

    @property
    def dated(self) -> tuple[str, ...]:
        """The sessions whose names begin with their time, as those of imported ones do not."""
        return tuple(name for name in self.sessions if name[:1].isdigit())

    @property
    def newest(self) -> str:
        """The newest session of which the time is known (empty if there is none)."""
        return max(self.dated, default="")

    @property
    def first_run(self) -> bool:
        """Whether a first run came before its repetitions, as `runtime: auto` makes one: not before imported
        ones.
        """
        return self.runtime is not None and bool(self.newest)

    def by_session(self, name: str) -> dict[str, tuple[float, ...]]:
        """Return a metric's values by session; none if it is a published one, or is not known."""
        known = self.metrics.get(name)
        if not isinstance(known, tuple):
            return {}
        return dict(zip(self.partial.get(name, self.sessions), known, strict=False))
