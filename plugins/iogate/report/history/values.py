"""What a history is made of: frozen values, for tables, pages and other programs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

from iogate.model import Direction, Environment


@dataclass(frozen=True)
class KnownSession:
    """A session that was stored: its name, which begins with its time, the file that it was read from, and
    where it ran. `options` are those of the command line that change what is measured.
    """

    device: str
    id: str
    file: str
    environment: Environment
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def date(self) -> str:
        """The day and minute of its beginning, UTC: `2026-11-21 02:11`."""
        return f"{self.id[:10]} {self.id[11:16]}"


@dataclass(frozen=True)
class LeftOut:
    """What does not stand beside the others, and why: a workload in a session of this date, of a file, on a
    device. What is not said is all of them.
    """

    why: str
    workload: str = ""
    date: str = ""
    file: str = ""
    device: str = ""


@dataclass(frozen=True)
class SessionValue:
    """A metric in one session: its value, the relative standard error of that by the repetitions alone, and
    how many those were. A `spike` stands out alone: it is no change, and weighs little.
    """

    session: str
    date: str
    value: float
    error: float
    repetitions: int
    file: str
    spike: bool = False


@dataclass(frozen=True)
class LevelChange:
    """A step of a metric: from the point `index` on it is `after`, where it was `before`.

    `change` and its 95% `interval` are relative and signed as the number moved; `worse` says whether that is
    bad. `chance` is how often a series without a change is said to have one at a look at it. `around` is what
    changed in the machine, its software or the options from the session before to this one, or where else
    the change may lie: from `earliest` to `latest`.
    """

    index: int
    session: str
    date: str
    before: float
    after: float
    change: float
    interval: tuple[float, float]
    worse: bool
    chance: float
    earliest: str
    latest: str
    around: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drift:
    """Changes for the worse that add up to a loss: `change`, with its 95% interval, from the best level that
    was held to the last one, over `steps` changes since `since`. The `largest` of them is within the
    tolerance, but where it goes one way all the time. Together they are beyond chance; each by itself need
    not be.
    """

    since: str
    before: float
    after: float
    change: float
    interval: tuple[float, float]
    steps: int
    largest: float
    tolerance: float


@dataclass(frozen=True)
class MetricHistory:
    """A metric of a workload on a device, session by session, the oldest first.

    `noise` is the relative standard deviation of a session around the levels that it held, `correlation` an
    upper bound of that of neighbouring sessions. `tolerance` is the smallest change that matters, as the last
    session that says so had it.
    """

    device: str
    suite: str
    workload: str
    metric: str
    unit: str
    direction: Direction
    points: tuple[SessionValue, ...]
    changes: tuple[LevelChange, ...] = ()
    drift: Drift | None = None
    noise: float = 0.0
    correlation: float = 0.0
    tolerance: float | None = None

    @property
    def levels(self) -> tuple[float, ...]:
        """The values that it held, the oldest first."""
        first = [change.before for change in self.changes[:1]]
        return (*first, *(change.after for change in self.changes)) or (self.typical,)

    @property
    def first(self) -> float:
        """The value that it held at first; of what goes one way all the time the best that it held."""
        return self.drift.before if self.drift and not self.changes else self.levels[0]

    @property
    def last(self) -> float:
        """The value that it holds now."""
        return self.drift.after if self.drift and not self.changes else self.levels[-1]

    @property
    def typical(self) -> float:
        """The median of the sessions."""
        return statistics.median(point.value for point in self.points)
