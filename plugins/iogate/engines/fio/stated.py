"""The options that a fio output states, in the spelling of a workload.

fio's JSON repeats the options that were given, without their defaults and (before 3.42) without options that
stand alone such as `time_based`; its text states the pattern, block size, ioengine and depth only.
Defaults: fio(1), on Linux.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from iogate.engines.fio.jobs import MIXED, of_one_kind
from iogate.units import parse_duration, parse_size, size_text

FLAGS = frozenset({"time_based", "group_reporting"})
"""Options that an output may leave out although they were given."""

_DEFAULTS: Mapping[str, Any] = {
    "rw": "read",
    "bs": "4k",
    "iodepth": 1,
    "numjobs": 1,
    "ioengine": "psync",
    "direct": False,
    "ramp_time": 0,
    "startdelay": 0,
}
_ALIASES = {"blocksize": "bs", "readwrite": "rw", "timeout": "runtime", "start_delay": "startdelay"}
_WITHOUT_EFFECT = (
    *("name", "description", "filename", "filename_format", "directory", "unlink", "group_reporting"),
    "allow_file_create",
    *("stonewall", "wait_for_previous", "new_group", "percentile_list", "*lat_percentiles"),
    *("write_*_log", "log_*", "per_job_logs", "cached", "randseed", "randrepeat"),
)
"""Where a job works, when it runs and what it reports, as shell patterns: not what it does. `cached`, a word
of iogate's own, stands for options that do it; the last two are other ones in each repetition on a device.
"""


def effective(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that tell what is done, as it is done: without those that leave the figures as they
    are, a place, an order, or a way of reporting.
    """
    return {key: value for key, value in of_one_kind(options).items() if not _is_without_effect(key)}


def _is_without_effect(key: str) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in _WITHOUT_EFFECT)


def stated_options(options: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """Return options as an output states them, in the types and spelling of a workload's.

    `whole`: the output states all that were given, so that fio's defaults hold for the others. Options that a
    workload passes through stand under `fio`. A value that is no such quantity stays as text.
    """
    found: dict[str, Any] = dict(_DEFAULTS) if whole else {}
    passed: dict[str, str] = {}
    for name, value in options.items():
        key, text = _ALIASES.get(name, name), str(value).strip()
        if key == "buffered":
            key, text = "direct", str(int(not _truth(text)))
        elif key == "rwmixwrite" and text.isdecimal():
            key, text = "rwmixread", str(100 - int(text))
        if key in (*_DEFAULTS, "rwmixread", "runtime", "size", "time_based"):
            found[key] = _spell(key, text)
        elif not _is_without_effect(key):
            passed[key] = text
    if str(found.get("rw", "")).partition(":")[0] in MIXED and whole:
        found.setdefault("rwmixread", 50)
    elif "rw" in found and str(found["rw"]).partition(":")[0] not in MIXED:
        found.pop("rwmixread", None)
    return {**found, "fio": passed} if passed else found


def _spell(key: str, text: str) -> Any:
    try:
        if key in ("bs", "size"):
            return ",".join(size_text(parse_size(part)) for part in text.split(","))
        if key in ("runtime", "ramp_time", "startdelay"):
            seconds = parse_duration(text)
            return int(seconds) if seconds == int(seconds) else seconds
        if key in ("iodepth", "numjobs", "rwmixread"):
            return int(text)
    except (ValueError, OverflowError):
        return text
    if key in ("direct", "time_based"):
        return _truth(text)
    kind, colon, modifier = text.partition(":")
    return ("rw" if kind == "readwrite" else kind) + colon + modifier if key == "rw" else text


def _truth(text: str) -> bool:
    return text.lower() not in ("0", "false")
