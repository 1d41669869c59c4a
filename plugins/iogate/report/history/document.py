"""Histories for other programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from iogate.report.history.values import LeftOut, MetricHistory
from iogate.units import harmless_json


def history_json(histories: Sequence[MetricHistory], left_out: Sequence[LeftOut]) -> str:
    """Return histories as JSON: bytes/s, IOPS, ns, s, and fractions for what is relative."""
    document = {
        "schema": 1,
        "metrics": [asdict(one) for one in histories],
        "left_out": [asdict(one) for one in left_out],
    }
    return harmless_json(json.dumps(document, indent=1, allow_nan=False))
