"""The columns in which a published fio report of the Jetson AGX Orin shows bandwidths and latencies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iogate.report.markdown_text import cell
from iogate.report.results import Results, WorkloadRecord
from iogate.units import format_quantity, parse_size, printable

_MIB = 2.0**20
_MICROSECOND = 1e3  # in ns
_SPREAD = (("min", "Min"), ("mean", "Avg"), ("max", "Max"))
_PERCENTILES = ("95", "99", "99.99")
_HEADERS = (
    *("IO Pattern", "Test description", "Size of file", "Block Size", "Explanation"),
    *("Min BW", "Avg BW", "Max BW"),
    *(f"{word} SLAT" for _, word in _SPREAD),
    *(f"{word} CLAT" for _, word in _SPREAD),
    *(f"{percentile}th percentile of CLAT" for percentile in _PERCENTILES),
    *(f"{word} TLAT" for _, word in _SPREAD),
)
_TEXTS = 5
_SEVERAL_SIZES = ("bssplit", "bsrange", "blocksize_range")
_NOTATION = (
    ("Abbreviation", "Meaning", "Measurement"),
    ("BW", "bandwidth", "MiB/s"),
    ("SLAT", "submission latency: the time it took to submit the I/O", "usec"),
    ("CLAT", "completion latency: from submission to completion", "usec"),
    ("TLAT", "total latency: from when the I/O was created to its completion", "usec"),
)
_ZEROS = re.compile(r"\.0+ ")
_WORDS = {"read": "reads", "write": "writes", "trim": "trims"}


def latency_table(sessions: Sequence[Results]) -> str:
    """Return the table of sessions, as Markdown: a row for each direction of each workload, with the medians
    of its repetitions; `-` where nothing was measured. Below it stands what has no row, and what is not to
    be believed.
    """
    workloads = [workload for results in sessions for workload in results.workloads]
    rows = [row for workload in workloads for row in _rows(workload)]
    lines = [
        _line(_NOTATION[0]),
        _line(["---"] * 3),
        *map(_line, _NOTATION[1:]),
        "",
    ]
    if rows:
        ruler = ["---"] * _TEXTS + ["---:"] * (len(_HEADERS) - _TEXTS)
        lines += [_line(_HEADERS), _line(ruler), *map(_line, rows), ""]
    lines += _remarks(workloads)
    return printable("\n".join(lines).rstrip("\n"))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rows(workload: WorkloadRecord) -> Iterator[tuple[str, ...]]:
    for direction in _directions(workload):
        yield (
            direction.capitalize(),
            cell(_described(workload, direction)),
            cell(_size(workload.definition.get("size"))),
            cell(_size(_of_direction(_block_sizes(workload.definition), direction))),
            cell(workload.description) or "-",
            *_figures(workload, direction),
        )


def _directions(workload: WorkloadRecord) -> list[str]:
    """Return the directions in which a workload has a bandwidth or a latency."""
    measured = {name.partition(".")[0] for name, item in workload.metrics.items() if item.value is not None}
    return [direction for direction in _WORDS if direction in measured]


def _described(workload: WorkloadRecord, direction: str) -> str:
    """Return `Random reads`; the workload's name where the engine does not say in which order."""
    pattern = str(workload.definition.get("rw", ""))
    if not pattern:
        return workload.workload
    order = "Random" if pattern.startswith("rand") else "Sequential"
    mixed = " of a mix" if len(_directions(workload)) > 1 else ""
    return f"{order} {_WORDS[direction]}{mixed}"


def _block_sizes(definition: Mapping[str, Any]) -> object:
    """Return what a definition says of block sizes: a split or a range (fio's) has more than one."""
    passed = definition.get("fio")
    given = passed if isinstance(passed, Mapping) else {}
    return next((given[name] for name in _SEVERAL_SIZES if given.get(name)), definition.get("bs"))


def _of_direction(value: object, direction: str) -> object:
    """Return the part of a value as fio means `4k,64k`, for reads and writes."""
    parts = str(value).split(",") if value is not None else [None]
    return parts[min(list(_WORDS).index(direction), len(parts) - 1)] or parts[0]


def _size(value: object) -> str:
    """Return a size such as 16 GiB; `-` if there is none, and what is no size as it is."""
    try:
        text = "-" if value is None else format_quantity(parse_size(str(value)), "B")
    except ValueError:
        text = str(value)
    return _ZEROS.sub(" ", text)


def _figures(workload: WorkloadRecord, direction: str) -> Iterator[str]:
    """Yield the figures of a direction in the order of the columns: those that each repetition has, as the
    median of a few is that of others than the mean beside it.
    """
    repetitions = max((len(item.values) for item in workload.metrics.values()), default=0)
    values: Mapping[str, float | None] = {
        name: item.value for name, item in workload.metrics.items() if len(item.values) == repetitions
    }

    def figure(name: str, unit: float) -> str:
        value = values.get(f"{direction}.{name}")
        return "-" if value is None else f"{value / unit:.2f}".removesuffix(".00")

    for name in ("bandwidth.min", "bandwidth", "bandwidth.max"):
        yield figure(name, _MIB)
    for kind in ("slat", "clat"):
        yield from (figure(f"{kind}.{part}", _MICROSECOND) for part, _ in _SPREAD)
    yield from (figure(f"clat.p{percentile}", _MICROSECOND) for percentile in _PERCENTILES)
    yield from (figure(f"lat.{part}", _MICROSECOND) for part, _ in _SPREAD)


def _remarks(workloads: Sequence[WorkloadRecord]) -> Iterator[str]:
    for workload in workloads:
        name = cell(workload.workload)
        if not _directions(workload):
            yield f"no row: {name} has no figures of reads or writes ({workload.verdict})"
        elif workload.verdict == "invalid":
            yield f"not to be believed: {name} is invalid"
