"""Fields of fio's JSON as headings, as tools that make tables of it name them: `read.lat_ns.mean`."""

from __future__ import annotations

import re

_FIELD = re.compile(  # `read_bw` may be of anybody, in any unit
    r"(?:.*[._/])?(?P<direction>read|write)(?P<by>[._/])"
    r"(?:(?P<rate>bw|bw_bytes|iops)(?:_(?P<part>mean|min|max))?"
    r"|(?P<latency>[cs]?lat_ns)[._/](?:(?P<statistic>mean|min|max|stddev)|percentile[._/](?P<level>\d+\.\d+)))"
)
_OPTION = re.compile(r"(?:.*[./])?(?:job|global) options[./](\w+)")
_UNITS = {"bw": "bw (KiB/s)", "bw_bytes": "bw (B/s)", "iops": "IOPS"}


def in_words(header: str) -> str:
    """Return a heading with its unit, which fio's fields do not name: `bw` is in KiB/s, says fio(1), "JSON
    output". Any other heading is returned as it is.
    """
    if option := _OPTION.fullmatch(header):
        return option[1]
    found = _FIELD.fullmatch(header)
    if not found or (found["rate"] in ("bw", "iops") and found["by"] == "_"):
        return header
    if rate := found["rate"]:
        return " ".join(filter(None, [found["direction"], found["part"], _UNITS[rate]]))
    level = found["level"]
    statistic = f"p{float(level):g}" if level else found["statistic"]
    return f"{found['direction']} {found['latency'].removesuffix('_ns')} {statistic} (ns)"
