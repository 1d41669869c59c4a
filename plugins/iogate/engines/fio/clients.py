"""fio on many clients at once: a server on each, and one fio that drives them (fio(1), CLIENT / SERVER).

A sum of rates stands for the time when all were at work. fio's bandwidth logs (`write_bw_log`, averaged over
short windows, on the clock of the day) tell when that was, and what each moved then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from iogate.engines.fio import output
from iogate.engines.fio.job_file import arguments
from iogate.engines.fio.jobs import DIRECTIONS
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import ClientOutputs, Output, Span
from iogate.units import parse_size

_LOG = re.compile(r"log_bw\.\d+\.log\.(?P<client>.+)")
_ENTRY = re.compile(r"(\d{1,16}), (\d{1,15}), ([012])(?:, \d+)*")
_SHORTEST, _LONGEST = 10, 200
"""Milliseconds of a window of the log."""
_WINDOWS = 100
_FAST = 2**30
"""Bytes/s of a device on which a run by size should still have as many windows."""


def clients(options: Mapping[str, Any]) -> tuple[int, ...] | Literal["all"] | None:
    """Return how many clients options ask for; see `iogate.engines.protocol.RunsOnClients`."""
    asked = options.get("clients")
    if asked is None or asked == "all":
        return "all" if asked else None
    return tuple(asked) if isinstance(asked, list) else (int(asked),)


def on_clients(options: Mapping[str, Any], counts: Sequence[int] | None) -> dict[str, Any]:
    """Return options for so many clients; see `iogate.engines.protocol.RunsOnClients`."""
    rest = {key: value for key, value in options.items() if key != "clients"}
    if not counts:
        return rest
    return {**rest, "clients": counts[0] if len(counts) == 1 else list(counts)}


def alone(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of what one client does, with a log of when it did it."""
    rest = on_clients(options, None)
    if "jobs" in rest:
        return {"jobs": {name: alone(each) for name, each in rest["jobs"].items()}}
    seconds = float(rest["runtime"]) if rest["time_based"] else parse_size(rest["size"]) / _FAST
    window = max(_SHORTEST, min(_LONGEST, round(seconds * 1000 / _WINDOWS)))
    log = {"write_bw_log": "log", "log_avg_msec": str(window), "log_unix_epoch": "1"}
    return {**rest, "fio": {**rest.get("fio", {}), **log}}


def conducted(jobs: Mapping[str, str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return fio's arguments, and the files that they name, for clients that each have a job file; a client's
    name is that of the socket by which it is reached.
    """
    each = [part for name in jobs for part in (f"--client=sock:{name}", f"{name}.fio")]
    return (*arguments(writes=True), *each), {f"{name}.fio": text for name, text in jobs.items()}


@dataclass(frozen=True)
class _Window:
    """What a job moved in a window of its log: `rate` in KiB/s, from `start` to `end` in seconds."""

    start: float
    end: float
    rate: float

    def within(self, span: Span) -> float:
        """Return the KiB that it moved within a span."""
        return self.rate * max(0.0, min(self.end, span.end) - max(self.start, span.start))


def outputs(
    text: str,
    logs: Mapping[str, str],
    offsets: Mapping[str, float],
    *,
    name: str,
    completed: Completed | None = None,
) -> ClientOutputs:
    """Return what clients did together; see `iogate.engines.protocol.RunsOnClients`. Raises OutputError."""
    found = output.by_client(text, name=name, completed=completed)
    missing = [client for client in offsets if client not in found.each]
    if missing or len(found.each) != len(offsets):
        said = ", ".join(missing) or ", ".join(client for client in found.each if client not in offsets)
        raise OutputError(f"{name}: not just the clients asked for are in it: {said}")
    windows = {client: _windows(client, logs, offset, name) for client, offset in offsets.items()}
    silent = [client for client, each in windows.items() if not each]
    if silent and len(offsets) > 1:  # of one alone it need not be known
        raise OutputError(
            f"{name}: {silent[0]} has no log of its bandwidth: nothing tells when it ran",
            remedy="a longer run: say runtime, and time_based",
        )
    spans = {client: _span(each, found.each[client]) for client, each in windows.items()}
    common = Span(max(span.start for span in spans.values()), min(span.end for span in spans.values()))
    metrics = dict(found.whole.metrics)
    if common.seconds > 0:
        for rate in found.whole.metrics:
            of, _, figure = rate.rpartition(".")
            direction = of.rpartition(".")[2]  # what is before it is a job
            if figure in ("iops", "bandwidth"):
                metrics[rate] = sum(
                    found.each[client].metrics.get(rate, 0.0)
                    * _share(windows[client].get(direction, []), spans[client], common)
                    for client in offsets
                )
    for client, own in found.each.items():
        told = {
            f"{client}.{direction}.{figure}": own.metrics[f"{direction}.{figure}"]
            for direction in own.traffic
            for figure in output.OF_EACH
            if f"{direction}.{figure}" in own.metrics
        }
        metrics = told | metrics  # where a section is called as a client is, its figures gate
    jobs = sum(own.jobs for own in found.each.values())
    return ClientOutputs(replace(found.whole, metrics=metrics, jobs=jobs), found.each, spans)


def _windows(client: str, logs: Mapping[str, str], offset: float, name: str) -> dict[str, list[_Window]]:
    """Return the windows of a client's logs by direction, on our clock; none of one too short for any. Raises
    OutputError.
    """
    found: dict[str, list[_Window]] = {}
    for file, text in logs.items():
        match = _LOG.fullmatch(file)
        if match and match["client"] == client:
            for direction, windows in _read_log(text, offset, f"{name}: {file}").items():
                found.setdefault(direction, []).extend(windows)
    return found


def _read_log(text: str, offset: float, where: str) -> dict[str, list[_Window]]:
    """Return the windows of one job's log by direction. Raises OutputError with the line."""
    found: dict[str, list[_Window]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _ENTRY.fullmatch(line.strip())
        if not match:
            raise OutputError(f"{where}:{number}: is no line of a log of fio: {line[:80]!r}")
        windows = found.setdefault(DIRECTIONS[int(match[3])], [])
        end = int(match[1]) / 1000 - offset
        start = windows[-1].end if windows else None
        if start is not None and end < start:
            raise OutputError(f"{where}:{number}: the clock of the client went back in the run")
        windows.append(_Window(end if start is None else start, end, float(match[2])))
    return {direction: _first_filled(windows) for direction, windows in found.items()}


def _first_filled(windows: list[_Window]) -> list[_Window]:
    """Return windows whose first is as long as they are usually: nothing says when it began."""
    lengths = sorted(window.end - window.start for window in windows[1:])
    usual = lengths[len(lengths) // 2] if lengths else _SHORTEST / 1000
    first = windows[0]
    return [replace(first, start=first.end - usual), *windows[1:]]


def _span(windows: Mapping[str, list[_Window]], own: Output) -> Span:
    """Return when a client ran: since its first window, for as long as it says, or until its last window."""
    each = [window for one in windows.values() for window in one]
    start = min((window.start for window in each), default=0.0)
    seconds = max(traffic.seconds for traffic in own.traffic.values())
    return Span(start, max([start + seconds, *(window.end for window in each)]))


def _share(windows: Sequence[_Window], span: Span, common: Span) -> float:
    """Return a client's rate in the time when all ran, as a share of its rate in all of its time; 1 where
    these differ by no more than a window.
    """
    longest = max((window.end - window.start for window in windows), default=0.0)
    whole = sum(window.within(span) for window in windows)
    if span.seconds - common.seconds <= longest or not whole:
        return 1.0
    return (sum(window.within(common) for window in windows) / common.seconds) / (whole / span.seconds)
