"""What the layers hand to each other: frozen values without behaviour of their own."""

from iogate.model.baseline import Baseline, UpdateMode
from iogate.model.device import Device, Environment
from iogate.model.measured import (
    ARMS,
    ClientOutputs,
    Finding,
    Histogram,
    Output,
    Part,
    Repetition,
    Severity,
    Slice,
    Span,
    Traffic,
)
from iogate.model.metrics import (
    MOST,
    Direction,
    Metric,
    Tolerance,
    is_measured,
    is_rate,
    is_tolerance,
    metric,
)
from iogate.model.verdict import PASSED, MetricVerdict, PairFacts, Verdict, VerdictName, WorkloadResult
from iogate.model.workload import Command, Needs, Place, Workload, hash_of

__all__ = [
    "ARMS",
    "MOST",
    "PASSED",
    "Baseline",
    "ClientOutputs",
    "Command",
    "Device",
    "Direction",
    "Environment",
    "Finding",
    "Histogram",
    "Metric",
    "MetricVerdict",
    "Needs",
    "Output",
    "PairFacts",
    "Part",
    "Place",
    "Repetition",
    "Severity",
    "Slice",
    "Span",
    "Tolerance",
    "Traffic",
    "UpdateMode",
    "Verdict",
    "VerdictName",
    "Workload",
    "WorkloadResult",
    "hash_of",
    "is_measured",
    "is_rate",
    "is_tolerance",
    "metric",
]
