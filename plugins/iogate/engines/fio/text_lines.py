"""The lines of fio's text output, of fio 2 and 3, one by one.

fio 3: `read: IOPS=1999, BW=7998KiB/s (8190kB/s)(15.6MiB/2001msec)`; fio 2 has one unit, KB for 1024 bytes:
`read : io=1024.0MB, bw=36492KB/s, iops=9122, runt= 28734msec`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import NamedTuple

from iogate.units import format_quantity

_TIMES = {"nsec": 1.0, "usec": 1e3, "msec": 1e6}
_POWERS = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5}
_NUMBER = r"\d+(?:\.\d+)?"
_VALUE = rf"\s*({_NUMBER}[kKMG]?)\s*"
_SIDE = r"(?P<direction>read|write|trim|mixed)\s*:"

HEAD = re.compile(r"(?P<name>.+?): \(g=(?P<group>\d+)\): rw=(?P<rw>\w+), (?P<rest>.*)")
JOB = re.compile(
    r"(?P<name>.+?): \(groupid=(?P<group>\d+), jobs=(?P<jobs>\d+)\): "
    r"err=\s*(?P<error>-?\d+)(?P<why>.*?): pid=(?P<pid>\d*)"
    r"(?:: (?P<date>\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}))?"
)
STATUS = re.compile(r"Run status group (\d+) \(all jobs\):")
SUMMARY = re.compile(r"(?:READ|WRITE|TRIM|MIXED): (?:bw|io)=")
VERSION = re.compile(r"fio-\d+\.[\w.-]+")
ABORTED = re.compile(r"fio: terminating on signal (\d+)")
CLIENT = re.compile(
    r"hostname=(?P<known>[^\s,]+), be=.*, fio=(?P<version>fio-[^\s,]+)|"
    r"<(?P<host>[^<>\s]+)>(?: (?P<rest>.*))?$"
)
TERSE = re.compile(r"(?P<format>[2-9]);(?P<version>fio-[^;]+);(?P<name>[^;]*);\d+;")
CHATTER = re.compile(
    r"Starting \d+ (?:process|thread)|Jobs: \d+ \(f=\d+\)|.*: Laying out IO file|hostname=\S+, be=|\.\.\.$|"
    r"Disk stats \(|\S+: ios=\d|IO depths\s*:|(?:submit|complete|latency)\s+: |<\S+> ?(?:$|Starting )"
)
"""What fio prints beside figures and notes: its progress, and lines that say what it is about to do."""

_HEAD_REST = re.compile(r"bs=(?P<bs>.+), ioengine=(?P<ioengine>\S+), iodepth=(?P<iodepth>\d+)")
_BLOCK = re.compile(r"([\d.]{1,20}[KMG]?(?:i?B)?)-([\d.]{1,20}[KMG]?(?:i?B)?)")
_DONE = re.compile(
    rf"{_SIDE} IOPS=(?P<iops>{_NUMBER}[kMG]?), "
    rf"BW=(?P<binary>{_NUMBER}[KMGTP]?)i?(?:B/s)? \((?P<decimal>{_NUMBER}[kMGTP]?)(?:B/s)?\)"
    rf"\((?P<size>{_NUMBER}[KMGTP]?)i?B/(?P<time>\d+)msec\)(?:;.*)?"
)
_DONE_2 = re.compile(
    rf"{_SIDE} io=(?P<size>{_NUMBER}[KMGTP]?) ?i?B, bw=(?P<binary>{_NUMBER}[KMGTP]?) ?i?B/s, "
    rf"iops=(?P<iops>{_NUMBER}[kKMG]?)\s*, runt=\s*(?P<time>\d+)msec"
)
_LATENCY = re.compile(
    rf"(?P<kind>slat|clat|lat|sync) \((?P<unit>[num]sec)\)\s*: min={_VALUE}, max={_VALUE}, avg={_VALUE}, "
    rf"stdev={_VALUE}"
)
_PERCENTILES = re.compile(r"(?P<kind>slat|clat|lat|sync) percentiles \((?P<unit>[num]sec)\)\s*:")
_OF_PRIORITY = re.compile(r"(?=.{0,60}\bprio\b).{1,100} percentiles \([num]sec\)\s*:")
"""Their heading for some I/Os: `clat prio 0/0 (80% of IOs)` or, before fio 3.31, `high prio (20%) clat`."""
_PERCENTILE_ROW = re.compile(r"\|(?:\s*\d+(?:\.\d+)?th=\[\s*\d+\],?)+")
_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)th=\[\s*(\d+)\]")
_SAMPLED = re.compile(
    rf"(?P<kind>bw|iops)\s*(?:\(\s*(?P<unit>[KMG]?i?)B\s*/s\))?\s*: min={_VALUE}, max={_VALUE}, "
    rf"(?:per=.*?%, )?avg={_VALUE}, stdev={_VALUE}(?:, samples=\s*\d+)?"
)
_SHARES = re.compile(rf"lat \([num]sec\)\s*:(?P<shares>(?:\s*(?:>=)?\d+={_NUMBER}%,?)+)")
_CPU = re.compile(rf"cpu\s*: usr=({_NUMBER})%, sys=({_NUMBER})%, ctx=\d+, majf=\d+, minf=\d+")
_ISSUED = re.compile(
    r"issued rwts?\s*: total=(\d+),(\d+),(\d+)(?:,\d+)?,? short=(\d+),(\d+),(\d+)(?:,\d+)?,? "
    r"dropped=\d+,\d+,\d+(?:,\d+)?"
)
_ISSUED_2 = re.compile(
    r"issued\s*: total=r=(\d+)/w=(\d+)/d=(\d+), short=r=(\d+)/w=(\d+)/d=(\d+)(?:, drop=r=\d+/w=\d+/d=\d+)?"
)
_FIGURES = re.compile(
    r"(?:read|write|trim|mixed)\s*: |[sc]?lat \(|(?:slat|clat|lat|sync) perc|"
    r"(?:[sc]?lat|high|low|sync) prio [^:]{1,60} perc|sync \(|\|\s*\d+(?:\.\d+)?th|"
    r"bw \(|iops\s*:|cpu\s*:|issued"
)
"""How a line begins that has figures: it must be understood whole, or the output is refused."""
_LONGEST = 4096  # characters of a line
_TOO_LONG = re.compile(r"\d{19}")


class Printed(NamedTuple):
    """A number as printed: its value, the step of its last digit, and the carry that it may have lost.

    fio before 3.26 prints 24968 as `24.0k`: num2str (lib/num2str.c) formats the fraction 0.968 as `1.0` and
    drops the 1. Before 2.20 a fraction is the first digits of a count of thousandths, or of 1024ths, without
    the zeros that it begins with: 3999.98 is printed as `3999.2`, and 12.05 as `12.6`.
    """

    value: float
    step: float
    carry: float = 0.0

    def agrees(self, exact: float) -> bool:
        """Return whether an exact number may be printed so."""
        return any(abs(exact - self.value - carry) <= self.step for carry in {0.0, self.carry})


@dataclass(frozen=True)
class Done:
    """What was done in a direction: `iops` as printed; bytes, which may be off by `rounding`; seconds."""

    iops: Printed
    size: int
    rounding: int
    seconds: float


@dataclass
class Draft:
    """A job while its lines are read. One that `failed` has no figures, whatever it prints."""

    name: str
    line: int
    group: str
    pid: str
    jobs: int
    options: Mapping[str, str]
    failed: str = ""
    misprints: bool = False
    """Whether its fractions say nothing, as those of fio before 2.20."""
    metrics: dict[str, float] = field(default_factory=dict)
    done: dict[str, Done] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)
    direction: str = ""
    scale: tuple[str, float] | None = None
    """The series of percentiles that was begun, empty if they are not of all I/Os, and their unit."""
    step: float = 0.0
    """The coarsest unit of latencies, in ns: the least and the largest are whole ones."""
    shares: float | None = None
    user: float | None = None
    system: float | None = None
    issued: tuple[int, ...] = ()

    def set(self, metric: str, value: float) -> None:
        self.metrics[intern(metric)] = value


def content(line: str) -> str:
    """Return what a line says: what a terminal shows of it, without the mark of a quotation, and no more of
    it than fio would print.
    """
    return line.rstrip("\r").rpartition("\r")[2].strip().lstrip(">").strip()[:_LONGEST]


def has_figures(line: str) -> bool:
    """Return whether a line must be understood whole."""
    return _FIGURES.match(line) is not None


def of_report(line: str) -> bool:
    """Return whether a line is one of fio's report, and not words of fio or of people."""
    marked = (HEAD, JOB, STATUS, SUMMARY, VERSION, TERSE, CHATTER, _FIGURES)
    return any(pattern.match(line) for pattern in marked)


def options_of(rw: str, rest: str) -> dict[str, str]:
    """Return the options that the line before the run states."""
    found = {"rw": rw}
    match = _HEAD_REST.fullmatch(rest)
    if match:
        found.update(ioengine=match["ioengine"], iodepth=match["iodepth"])
        sizes = {size for pair in _BLOCK.findall(match["bs"]) for size in pair}
        if len(sizes) == 1:
            found["bs"] = sizes.pop()
    return found


def read_line(draft: Draft, line: str) -> str:
    """Take the figures of a line that has some. Return what is wrong with it, empty if nothing is."""
    reader = _READERS["|" if line[0] == "|" else line[:2]]
    if not draft.direction and reader in _OF_DIRECTION and not line.startswith(("sync", "lat (")):
        return f"is of no direction, as no line before it says one: {line[:80]!r}"
    if _TOO_LONG.search(line):
        return "has a number too long to be a figure of fio"
    return "" if reader(draft, line) else f"cannot be read: {line[:80]!r}"


def _read_done(draft: Draft, line: str) -> bool:
    match = _DONE.fullmatch(line) or _DONE_2.fullmatch(line)
    if not match:
        return False
    direction = draft.direction = match["direction"]
    misprints = draft.misprints or match.re is _DONE_2
    size = _printed(match["size"], 1024.0, misprints=misprints)
    seconds = int(match["time"]) / 1000
    binary = _printed(match["binary"], 1024.0, misprints=misprints)
    text = match.groupdict().get("decimal")
    decimal = _printed(text, 1000.0, misprints=misprints) if text else binary
    derived = Printed(size.value / seconds, size.step / seconds) if seconds else binary
    rates = sorted((binary, decimal, derived))
    bandwidth = min(rates, key=lambda rate: rate.step) if misprints else rates[1]
    draft.set(f"{direction}.bandwidth", bandwidth.value)
    # The size as printed, unless it lost its carry; then what the rate moved in the time.
    sound = abs(derived.value - bandwidth.value) <= derived.step + bandwidth.step
    told = derived if sound else bandwidth
    rounding = told.step * seconds / 2
    draft.done[direction] = Done(
        _printed(match["iops"], 1000.0, misprints=misprints),
        round(told.value * seconds),
        round(rounding + 0.5),
        seconds,
    )
    if abs(binary.value - decimal.value) > binary.step + decimal.step:
        printed = {f"{match['binary']}iB/s": binary, f"{match['decimal']}B/s": decimal}
        moved = f"{match['size']}iB in {match['time']} ms"
        draft.contradictions.append(f"{direction} BW={_contradiction(printed, derived, moved)}")
    return True


def _contradiction(rates: Mapping[str, Printed], derived: Printed, moved: str) -> str:
    """Return which of two printed rates is wrong: the one that is not what was moved in the time."""
    wrong = [
        text for text, rate in rates.items() if abs(rate.value - derived.value) > rate.step + derived.step
    ]
    first, second = rates
    blamed = f"{wrong[0]} is wrong" if len(wrong) == 1 else "which is wrong cannot be told"
    return f"{first} is not {second}; {moved} are {format_quantity(derived.value, 'B/s')}: {blamed}"


def _read_latency(draft: Draft, line: str) -> bool:
    if match := _LATENCY.fullmatch(line):
        series, factor = _series(draft, match["kind"]), _TIMES[match["unit"]]
        draft.step = max(draft.step, factor)
        for part, text in zip(("min", "max", "mean", "stddev"), match.groups()[2:], strict=True):
            draft.set(f"{series}.{part}", _unscale(text) * factor)
    elif match := _PERCENTILES.fullmatch(line):
        draft.scale = _series(draft, match["kind"]), _TIMES[match["unit"]]
    elif match := _OF_PRIORITY.fullmatch(line):
        draft.scale = "", 0.0
    elif match := _SHARES.fullmatch(line):
        shares = sum(float(share) for share in re.findall(r"=([\d.]+)%", match["shares"])) / 100
        draft.shares = (draft.shares or 0.0) + shares
    return match is not None


def _read_percentiles(draft: Draft, line: str) -> bool:
    if draft.scale is None or not _PERCENTILE_ROW.fullmatch(line):
        return False
    series, factor = draft.scale
    found = {f"{series}.p{float(percent):g}": int(value) for percent, value in _PERCENTILE.findall(line)}
    if draft.metrics.keys() & found.keys():  # of another heading, which was not understood
        return False
    for metric, value in found.items() if series else ():
        draft.set(metric, value * factor)
    return True


def _read_sampled(draft: Draft, line: str) -> bool:
    match = _SAMPLED.fullmatch(line)
    if not match:
        return False
    unit = (match["unit"] or "").rstrip("i")
    factor = 1024.0 ** _POWERS[unit] if match["kind"] == "bw" else 1.0
    figure = "bandwidth" if match["kind"] == "bw" else "iops"
    for part, text in zip(("min", "max", "mean", "stddev"), match.groups()[2:], strict=True):
        if part != "mean":
            draft.set(f"{draft.direction}.{figure}.{part}", _unscale(text) * factor)
    return True


def _read_cpu(draft: Draft, line: str) -> bool:
    if match := _CPU.fullmatch(line):
        draft.user, draft.system = float(match[1]) / 100, float(match[2]) / 100
    return match is not None


def _read_issued(draft: Draft, line: str) -> bool:
    if match := _ISSUED.fullmatch(line) or _ISSUED_2.fullmatch(line):
        draft.issued = tuple(int(count) for count in match.groups())
    return match is not None


_READERS: Mapping[str, Callable[[Draft, str], bool]] = {
    **dict.fromkeys(("re", "wr", "tr", "mi"), _read_done),
    **dict.fromkeys(("sl", "cl", "la", "sy", "hi", "lo"), _read_latency),
    "|": _read_percentiles,
    **dict.fromkeys(("bw", "io"), _read_sampled),
    "cp": _read_cpu,
    "is": _read_issued,
}
"""What reads a line, by how it begins."""
_OF_DIRECTION = (_read_latency, _read_sampled)


def _series(draft: Draft, kind: str) -> str:
    return "sync.lat" if kind == "sync" else f"{draft.direction}.{kind}"


def _printed(text: str, thousand: float, *, misprints: bool) -> Printed:
    """Return a printed number such as `13.0k`; its suffix is a power of a `thousand`."""
    digits = text.rstrip("kKMGTP")
    factor = thousand ** _POWERS[text[len(digits) :]]
    whole, _, decimals = digits.partition(".")
    if misprints and decimals.strip("0"):
        return Printed((int(whole) + 0.5) * factor, factor)
    carry = factor if decimals and not decimals.strip("0") and not misprints else 0.0
    return Printed(float(digits) * factor, 10.0 ** -len(decimals) * factor, carry)


def _unscale(text: str) -> float:
    """Return a latency with fio's suffix for thousands: `4565.1k`."""
    digits = text.rstrip("kKMG")
    return float(digits) * 1000.0 ** _POWERS[text[len(digits) :]]
