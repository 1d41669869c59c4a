"""What clients reported at each `--status-interval`: fio's client writes one document, in which an entry of
each job stands for each interval, and its sum over all clients amid them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from iogate.engines.fio.jobs import ALL_CLIENTS, SIDES, stated_count

_MOST = 2**64  # of fio's counters
_GREW = 1.05
"""By how much the last of several reports of one job runs longer than the first, at least: several jobs of
one name and of the same options, which run side by side, do not differ by that.
"""


def last_reports(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document with the last report of each client's jobs alone; as it is where none is repeated."""
    entries = document.get("client_stats")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return document
    reports: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        if entry.get("jobname") != ALL_CLIENTS:
            reports.setdefault(_job(entry), []).append(entry)
    common = document.get("global options")
    last = [entry for each in reports.values() for entry in _last(each, common)]
    if sum(map(len, reports.values())) == len(last):
        return document
    kept = {id(entry) for entry in last}
    summed = entries[-1:] if entries[-1].get("jobname") == ALL_CLIENTS else []
    return {**document, "client_stats": [entry for entry in entries if id(entry) in kept] + summed}


def _job(entry: Mapping[str, Any]) -> str:
    keys = ("jobname", "groupid", "hostname", "port", "job options")
    return json.dumps([entry.get(key) for key in keys], default=str)


def _last(entries: Sequence[Mapping[str, Any]], common: object) -> Sequence[Mapping[str, Any]]:
    """Return the last of several reports of the `numjobs` jobs of one name (of a group: of all together); all
    entries if they are one. Jobs that are ramped up begin to count anew after that. What their own options do
    not say, `common` ones may.
    """
    own = entries[0].get("job options")
    options = {**(common if isinstance(common, dict) else {}), **(own if isinstance(own, dict) else {})}
    grouped, ramped = (_is_said(options.get(name)) for name in ("group_reporting", "ramp_time"))
    jobs = 1 if grouped else stated_count(str(options.get("numjobs", "1")).strip()) or 1
    if len(entries) <= jobs or len(entries) % jobs:
        return entries
    for number in range(jobs):
        each = entries[number::jobs]
        anew = sum(not _is_later(one, other) for one, other in pairwise(each))
        seconds = [_seconds(entry) for entry in each]
        if anew > ramped or (not ramped and max(seconds) < _GREW * min(seconds)):
            return entries
    return entries[-jobs:]


def _is_said(value: object) -> bool:
    return value is not None and str(value).strip() != "0"


def _is_later(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    before, after = _counters(one), _counters(other)
    return len(before) == len(after) and all(old <= new for old, new in zip(before, after, strict=True))


def _counters(entry: Mapping[str, Any]) -> list[float]:
    return [_figure(entry, side, key) for side in SIDES for key in ("io_bytes", "total_ios", "runtime")]


def _seconds(entry: Mapping[str, Any]) -> float:
    return max(_figure(entry, side, "runtime") for side in SIDES) / 1000


def _figure(entry: Mapping[str, Any], side: str, key: str) -> float:
    of_side = entry.get(side)
    value = of_side.get(key) if isinstance(of_side, dict) else None
    if not isinstance(value, int | float):
        return 0.0
    return float(value) if abs(value) < _MOST else math.inf
