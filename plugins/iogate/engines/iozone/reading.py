"""iozone's outputs as metrics: of a run that has just ended, or of all runs in a text that exists already."""

from __future__ import annotations

import re
from dataclasses import replace

from iogate.engines.iozone import runs, table, text, throughput
from iogate.errors import ApartError, OutputError, Position
from iogate.host.process import Completed
from iogate.model import Output, Part
from iogate.units import printable

_SHOWN = 400
_COMPLAINT = re.compile(r"error|no space|can ?not|unable|unsupported|not |interrupted", re.IGNORECASE)
_CUT = "iozone did not say `iozone test complete`: figures may be missing"


def parse(output: str, *, name: str, completed: Completed | None = None) -> Output:
    """Return the metrics of an output that holds one run. Raises OutputError."""
    _check_end(output, name, completed)
    if completed is None:
        found = parts(output, name=name)
        if len(found) > 1:
            raise ApartError(
                f"{name}: holds {len(found)} runs of iozone, whose figures do not add up",
                remedy="look at them one by one: iogate show FILE",
            )
        return found[0].output
    if not text.is_complete(output):
        raise _cut_off(output, name)
    if text.is_throughput(output):
        return throughput.output(throughput.read(output, name=name), name=name, completed=completed)
    return table.output(table.read(output, name=name), name=name)


def parts(output: str, *, name: str) -> list[Part]:
    """Return the runs in a text, each under a name of its own. Raises OutputError if there are none, or if
    one of them cannot be read.
    """
    _check_end(output, name, None)
    found = [part for line, block in runs.blocks(output) for part in _run(block, line, name)]
    if not found:
        raise _cut_off(output, name)
    counts: dict[str, int] = {}
    for part in found:
        counts[part.name] = counts.get(part.name, 0) + 1
    return [
        replace(part, name=f"{part.name} in line {part.line}") if counts[part.name] > 1 else part
        for part in found
    ]


def _run(block: str, line: int, name: str) -> list[Part]:
    """Return what a run consists of that begins at a line: its table, or the throughputs of each number of
    processes. An excerpt, without banner, may leave out the last words, too.
    """
    try:
        if text.BANNER in block and not text.is_complete(block):
            raise _cut_off(block, name)
        if not text.is_throughput(block):
            found = table.read(block, name=name)
            return [_part("table", table.output(found, name=name), line, found.complete)]
        report = throughput.read(block, name=name)
        if not report.complete and not report.tests[-1].whole:
            raise _cut_off(block, name)
        return [
            _part(
                _count(one.tests[0].processes),
                throughput.output(one, name=name),
                line + (one.tests[0].line - 1 if number else 0),
                report.complete,
            )
            for number, one in enumerate(report.rounds)
        ]
    except OutputError as error:
        raise error.below(line - 1) from None


def _count(processes: int) -> str:
    return "1 process" if processes == 1 else f"{processes} processes"


def _part(name: str, output: Output, line: int, complete: bool) -> Part:
    if not complete:
        output = replace(output, remarks=(*output.remarks, _CUT))
    return Part(name, output, line, group=str(line))


def _check_end(output: str, name: str, completed: Completed | None) -> None:
    """Refuse a run that did not come to its own end, and a text without figures."""
    if completed and completed.timed_out:
        words = _messages(output, completed)
        raise OutputError(
            f"{name}: iozone hung: it was ended after {completed.seconds:.0f} s{words}",
            remedy="see whether the target is full (df) or stalled (dmesg): iozone waits for its children "
            "even if they died",
        )
    if completed and completed.status:
        how = f"died of signal {-completed.status}" if completed.status < 0 else ""
        how = how or f"ended with status {completed.status}"
        raise OutputError(f"{name}: iozone {how}{_messages(output, completed)}")
    if not text.is_throughput(output) and not text.is_table(output):
        why = "it is empty" if not output.strip() else "no table (-a) and no throughput (-t)"
        raise OutputError(f"{name}: has no figures of iozone: {why}{_messages(output, completed)}")


def _cut_off(output: str, name: str) -> OutputError:
    return OutputError(
        "iozone's output was cut off: it does not say `iozone test complete`",
        position=Position(name, text.line_of(output, len(output.rstrip()))),
    )


def _messages(output: str, completed: Completed | None) -> str:
    """Return what iozone said in words at its end, as a tail for a message."""
    errors = completed.stderr if completed else ""
    lines = [line.strip() for line in [*output.splitlines()[-6:], *errors.splitlines()] if line.strip()]
    words = [line for line in lines if _COMPLAINT.search(line)]
    shown = printable("; ".join(dict.fromkeys(words)))
    return f": {shown[:_SHOWN]}" if shown else ""
