"""Many sessions side by side: each gating metric by session, where it changed, and what changed around it."""

from iogate.report.history.series import series
from iogate.report.history.sessions import Collection, collect
from iogate.report.history.values import Drift, LeftOut, LevelChange, MetricHistory, SessionValue

__all__ = [
    "Collection",
    "Drift",
    "LeftOut",
    "LevelChange",
    "MetricHistory",
    "SessionValue",
    "collect",
    "series",
]
