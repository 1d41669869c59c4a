"""A fleet for other programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from iogate.offline.fleet.values import Fleet
from iogate.units import harmless_json


def fleet_json(fleet: Fleet) -> str:
    """Return a fleet as JSON: bytes/s, IOPS, ns, s; fractions for what is relative, and standard deviations
    of logarithms for spreads and errors.
    """
    document = {
        "schema": 1,
        "devices": fleet.devices,
        "sessions": fleet.sessions,
        "model": dict(fleet.model),
        "alpha": fleet.alpha,
        "metrics": [asdict(one) for one in fleet.metrics],
        "evidence": [asdict(one) for one in fleet.evidence],
        "notes": fleet.notes,
        "left_out": [asdict(one) for one in fleet.left_out],
    }
    return harmless_json(json.dumps(document, indent=1, allow_nan=False))
