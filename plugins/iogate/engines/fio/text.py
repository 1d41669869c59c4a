"""fio's text output (normal, not terse), of fio 3, as metrics.

The figures are rounded, and some are wrong: fio 3.25 prints 70.99 MiB/s as `70.0MiB/s`. What is said twice is
compared, and the more precise of what agrees is taken. Fields: fio(1), section INTERPRETING THE OUTPUT.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, NoReturn

from iogate.errors import OutputError, Position
from iogate.model import Output, Part, Traffic
from iogate.units import format_quantity, printable

_DIRECTIONS = ("read", "write", "trim")
_TIMES = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_NUMBER = r"\d+(?:\.\d+)?"
_VALUE = rf"\s*({_NUMBER}[kMG]?)"

_HEAD = re.compile(r"(?P<name>.+?): \(g=(?P<group>\d+)\): rw=(?P<rw>\w+), (?P<rest>.*)")
_HEAD_REST = re.compile(r"bs=(?P<bs>.+), ioengine=(?P<ioengine>\S+), iodepth=(?P<iodepth>\d+)")
_BLOCK = re.compile(r"\((?P<which>[RWT])\) (?P<low>[\d.]+[KMG]?i?B)-(?P<high>[\d.]+[KMG]?i?B)")
_JOB = re.compile(
    r"(?P<name>.+?): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): "
    r"err=\s*(?P<error>\d+)(?P<why>[^:]*): pid="
)
_DONE = re.compile(
    rf"(?P<direction>read|write|trim)\s*: IOPS=(?P<iops>{_NUMBER})(?P<scale>[kMG]?), "
    rf"BW=(?P<binary>{_NUMBER})(?P<bunit>[KMGTP]?)i?B/s \((?P<decimal>{_NUMBER})(?P<dunit>[kMGTP]?)B/s\)"
    rf"\((?P<size>{_NUMBER})(?P<sunit>[KMGTP]?)i?B/(?P<time>\d+)msec\)(?:;.*)?"
)
_LATENCY = re.compile(
    rf"(?P<kind>slat|clat|lat|sync) \((?P<unit>[num]sec)\)\s*: min={_VALUE}, max={_VALUE}, avg={_VALUE}, "
    rf"stdev={_VALUE}"
)
_PERCENTILES = re.compile(r"(?P<kind>slat|clat|lat|sync) percentiles \((?P<unit>[num]sec)\):")
_PERCENTILE_ROW = re.compile(r"\|(?:\s*\d+\.\d+th=\[\s*\d+\],?)+")
_PERCENTILE = re.compile(r"(\d+\.\d+)th=\[\s*(\d+)\]")
_SAMPLED = re.compile(
    rf"(?P<kind>bw|iops)\s*(?:\(\s*(?P<unit>[KMG]?i?)B/s\))?\s*: min={_VALUE}, max={_VALUE}, (?:per=.*?%, )?"
    rf"avg={_VALUE}, stdev={_VALUE}, samples=\s*\d+"
)
_SHARES = re.compile(rf"lat \([num]sec\)\s*:(?P<shares>(?:\s*(?:>=)?\d+={_NUMBER}%,?)+)")
_CPU = re.compile(rf"cpu\s*: usr=({_NUMBER})%, sys=({_NUMBER})%, ctx=\d+, majf=\d+, minf=\d+")
_ISSUED = re.compile(
    r"issued rwts?\s*: total=(\d+),(\d+),(\d+)(?:,\d+)?,? short=(\d+),(\d+),(\d+)(?:,\d+)?,? "
    r"dropped=\d+,\d+,\d+(?:,\d+)?"
)
_STATUS = re.compile(r"Run status group (\d+) \(all jobs\):")
_HEALTHY = 0.005
_TOO_LONG = re.compile(r"\d{19}")
_SUMMARY = re.compile(r"Run status group|(?:READ|WRITE|TRIM|MIXED): bw=")
_FIGURES = re.compile(
    r"(?:read|write|trim)\s*: |[sc]?lat \(|(?:slat|clat|lat|sync) perc|sync \(|\||"
    r"bw \(|iops\s*:|cpu\s*:|issued"
)
"""How a line begins that has figures: it must be understood whole, or the output is refused."""


class _Printed(NamedTuple):
    """A number as printed: its value, and the step of its last digit."""

    value: float
    step: float


@dataclass
class _Draft:
    """A job while its lines are read."""

    name: str
    line: int
    group: str
    jobs: int
    options: Mapping[str, str]
    metrics: dict[str, float] = field(default_factory=dict)
    done: dict[str, tuple[_Printed, int, float]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    direction: str = ""
    scale: tuple[str, float] = ("", 1.0)
    shares: float | None = None
    user: float | None = None
    system: float | None = None
    issued: tuple[int, ...] = ()


def recognises(text: str) -> bool:
    """Return whether a text has any line that only fio prints: a job that is announced or reports, a run
    status.
    """
    lines = [line.strip() for line in text.splitlines()]
    return any(_HEAD.fullmatch(line) or _JOB.match(line) or _STATUS.match(line) for line in lines)


def parse(text: str, *, name: str) -> tuple[Part, ...]:
    """Return all jobs of a text, in its order; a group of them that is reported together is one. Raises
    OutputError with the line for what cannot be read, and for an output that was cut off.
    """
    reader = _TextReader(name)
    for number, line in enumerate(text.splitlines(), 1):
        reader.read(number, line.strip())
    return reader.end()


class _TextReader:
    def __init__(self, name: str) -> None:
        self.name = name
        self.version = ""
        self.last = 1
        self.heads: dict[tuple[str, str], dict[str, str]] = {}
        self.drafts: list[_Draft] = []
        self.groups: set[str] = set()
        self.ended: set[str] = set()

    def read(self, number: int, line: str) -> None:
        self.last = number if line else self.last
        if _TOO_LONG.search(line):
            self._refuse(number, "has a number too long to be a figure of fio")
        if re.fullmatch(r"fio-\d+\.[\w.-]+", line):
            self.version = line
        elif stopped := re.match(r"fio: terminating on signal (\d+)", line):
            self._refuse(number, f"the run was aborted by signal {stopped[1]}; its figures are partial")
        elif head := _HEAD.fullmatch(line):
            self.heads[head["name"], head["group"]] = _options(head["rw"], head["rest"])
        elif job := _JOB.match(line):
            self._begin(number, job)
        elif status := _STATUS.match(line):
            self.ended.add(status[1])
        elif (
            self.drafts and not self.ended and not _read_line(self.drafts[-1], line) and _FIGURES.match(line)
        ):
            self._refuse(number, f"cannot be read: {line[:80]!r}")

    def _begin(self, number: int, job: re.Match[str]) -> None:
        if job["error"] != "0":
            self._refuse(number, f"{job['name']} failed: error {job['error']}{job['why'].rstrip()}")
        if self.ended:
            self._refuse(number, "a second output begins here")
        self.groups.add(job["group"])
        options = self.heads.get((job["name"], job["group"]), {})
        self.drafts.append(_Draft(job["name"], number, job["group"], max(1, int(job["jobs"])), options))

    def end(self) -> tuple[Part, ...]:
        if not self.drafts:
            message = "fio's text output was cut off, or is none: no job reports"
            raise OutputError(message, position=Position(self.name, self.last))
        if self.groups - self.ended:
            raise OutputError(
                "fio's output was cut off: the run status of a group is missing",
                position=Position(self.name, self.last),
            )
        return tuple(self._part(draft) for draft in self.drafts)

    def _part(self, draft: _Draft) -> Part:
        if not draft.issued:
            self._refuse(draft.line, f"{draft.name}: the count of issued I/Os is missing")
        if not draft.done:
            self._refuse(draft.line, f"{draft.name} did no I/O")
        traffic = {}
        for direction, (rate, size, seconds) in draft.done.items():
            index = _DIRECTIONS.index(direction)
            operations = draft.issued[index]
            if not operations or not seconds:
                self._refuse(draft.line, f"{draft.name}: {direction} claims I/O without operations or time")
            exact = operations / seconds
            if abs(exact - rate.value) > rate.step + 0.05 * rate.value:
                self._refuse(
                    draft.line,
                    f"{draft.name}: {direction}: {rate.value:g} IOPS, but {operations} in {seconds:g} s are "
                    f"{exact:.4g}",
                )
            draft.metrics[f"{direction}.iops"] = exact if abs(exact - rate.value) <= rate.step else rate.value
            traffic[direction] = Traffic(size, operations, seconds, draft.issued[3 + index])
        output = Output(
            metrics=draft.metrics,
            traffic=traffic,
            engine_version=self.version,
            jobs=draft.jobs,
            user=draft.user,
            system=draft.system,
            options={**draft.options, "numjobs": str(draft.jobs)},
            remarks=_remarks(draft.shares),
            contradictions=tuple(map(printable, draft.contradictions)),
        )
        return Part(printable(draft.name), output, draft.line, draft.group)

    def _refuse(self, number: int, message: str) -> NoReturn:
        raise OutputError(printable(f"{self.name}:{number}: {message}"))


def _remarks(shares: float | None) -> tuple[str, ...]:
    """Return what the sum of the latency distribution says, which is 1 in a healthy report."""
    if shares is None or abs(shares - 1) <= _HEALTHY:
        return ()
    return (
        f"the latency distribution adds up to {shares:.1%}: I/Os of the ramp are in it, and in the "
        "bandwidth, but not in the IOPS",
    )


def _options(rw: str, rest: str) -> dict[str, str]:
    """Return the options that the line before the run states."""
    found = {"rw": rw}
    match = _HEAD_REST.fullmatch(rest)
    if match:
        found.update(ioengine=match["ioengine"], iodepth=match["iodepth"])
        sizes = {size for block in _BLOCK.finditer(match["bs"]) for size in (block["low"], block["high"])}
        if len(sizes) == 1:
            found["bs"] = sizes.pop()
    return found


def _read_line(draft: _Draft, line: str) -> bool:
    """Take the figures of one line; False if it is none that is known whole."""
    readers = (_read_done, _read_latency, _read_percentiles, _read_sampled, _read_rest)
    return any(reader(draft, line) for reader in readers)


def _read_done(draft: _Draft, line: str) -> bool:
    match = _DONE.fullmatch(line)
    if not match:
        return False
    direction = draft.direction = match["direction"]
    size = _printed(match["size"], 1024.0 ** _POWERS[match["sunit"]])
    seconds = int(match["time"]) / 1000
    rate = _printed(match["iops"], 1000.0 ** _POWERS[match["scale"]])
    draft.done[direction] = rate, round(size.value), seconds
    binary = _printed(match["binary"], 1024.0 ** _POWERS[match["bunit"]])
    decimal = _printed(match["decimal"], 1000.0 ** _POWERS[match["dunit"]])
    derived = _Printed(size.value / seconds, size.step / seconds) if seconds else binary
    draft.metrics[f"{direction}.bandwidth"] = sorted((binary.value, decimal.value, derived.value))[1]
    if abs(binary.value - decimal.value) > binary.step + decimal.step:
        printed = f"{match['binary']}{match['bunit']}iB/s is not {match['decimal']}{match['dunit']}B/s"
        moved = f"{match['size']}{match['sunit']}iB in {match['time']} ms"
        rate_text = format_quantity(derived.value, "B/s")
        draft.contradictions.append(f"{direction} BW={printed}; {moved} are {rate_text}")
    return True


def _read_latency(draft: _Draft, line: str) -> bool:
    match = _LATENCY.fullmatch(line)
    if not match:
        return False
    series = _series(draft, match["kind"])
    factor = _TIMES[match["unit"]]
    for part, text in zip(("min", "max", "mean", "stddev"), match.groups()[2:], strict=True):
        draft.metrics[f"{series}.{part}"] = _unscale(text) * factor
    return True


def _read_percentiles(draft: _Draft, line: str) -> bool:
    if match := _PERCENTILES.fullmatch(line):
        draft.scale = _series(draft, match["kind"]), _TIMES[match["unit"]]
        return True
    if not _PERCENTILE_ROW.fullmatch(line):
        return False
    series, factor = draft.scale
    for percent, value in _PERCENTILE.findall(line):
        draft.metrics[f"{series}.p{float(percent):g}"] = int(value) * factor
    return True


def _read_sampled(draft: _Draft, line: str) -> bool:
    match = _SAMPLED.fullmatch(line)
    if not match:
        return False
    unit = (match["unit"] or "").rstrip("i")
    factor = 1024.0 ** _POWERS[unit] if match["kind"] == "bw" else 1.0
    figure = "bandwidth" if match["kind"] == "bw" else "iops"
    for part, text in zip(("min", "max", "mean", "stddev"), match.groups()[2:], strict=True):
        if part != "mean":
            draft.metrics[f"{draft.direction}.{figure}.{part}"] = _unscale(text) * factor
    return True


def _read_rest(draft: _Draft, line: str) -> bool:
    if match := _SHARES.fullmatch(line):
        shares = sum(float(share) for share in re.findall(r"=([\d.]+)%", match["shares"])) / 100
        draft.shares = (draft.shares or 0.0) + shares
    elif match := _CPU.fullmatch(line):
        draft.user, draft.system = float(match[1]) / 100, float(match[2]) / 100
    elif match := _ISSUED.fullmatch(line):
        draft.issued = tuple(int(count) for count in match.groups())
    else:
        return False
    return True


def _series(draft: _Draft, kind: str) -> str:
    return "sync.lat" if kind == "sync" else f"{draft.direction}.{kind}"


def _printed(text: str, factor: float) -> _Printed:
    decimals = len(text.partition(".")[2])
    return _Printed(float(text) * factor, 10.0**-decimals * factor)


def _unscale(text: str) -> float:
    """Return a latency with fio's suffix for thousands: `4565.1k`."""
    suffix = text[-1] if text[-1].isalpha() else ""
    return float(text.removesuffix(suffix)) * math.pow(1000.0, _POWERS[suffix])


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the outputs in a text that may hold several, each with the number of its first line (from 1).

    One begins at the first of the lines that announce its jobs, and ends with the last run status before the
    next.
    """
    lines = [line.strip() for line in text.splitlines()]
    starts: list[int] = []
    reporting = True
    for index, line in enumerate(lines):
        if _HEAD.fullmatch(line):
            if reporting:
                starts.append(index)
            reporting = False
        elif _JOB.match(line):
            if not starts:
                starts.append(index)
            reporting = True
    for start, limit in pairwise([*starts, len(lines)]):
        status = [index for index in range(start, limit) if _SUMMARY.match(lines[index])]
        stop = status[-1] + 1 if status else limit
        yield start + 1, "\n".join(lines[start:stop]) + "\n"
