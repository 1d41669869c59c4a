"""What Intel's Memory Latency Checker prints, 3.x, read into metrics.

Its MB/s are 10^6 bytes/s, as it says itself. Read are the loaded latencies, the idle latency of one node and
those between nodes, the bandwidths between nodes, the highest bandwidths, and the latencies from cache to
cache; one output may hold several of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from iogate.engines.common.loaded_latency import Point, figures
from iogate.errors import ApartError, OutputError, Position
from iogate.host.process import Completed
from iogate.model import Output, Part
from iogate.units import printable

_VERSION = re.compile(r"Intel\(R\) Memory Latency Checker\b.* - v(\S+)")
_ARGUMENTS = re.compile(r"Command line parameters:\s*(.*)")
_TITLES = {
    "latencies": re.compile(r"Measuring idle latencies\b.*\(in ns\)"),
    "highest": re.compile(r"Measuring (?:Maximum|Peak(?: Injection)?) Memory Bandwidths for the system"),
    "between": re.compile(r"Measuring Memory Bandwidths between nodes within system"),
    "loaded": re.compile(r"Measuring Loaded Latencies for the system"),
    "caches": re.compile(r"Measuring cache-to-cache transfer latency\b.*\(in ns\)"),
    "idle": re.compile(r"Each iteration took \S+ .*clocks \("),  # --idle_latency prints no title above it
}
_ANY_TITLE = re.compile(r"Measuring |Each iteration took ")
_IDLE = re.compile(r"Each iteration took \S+ (?:[a-z]+ )*clocks \(\s*(\S+)\s+ns\)")
_LOCAL_CACHE = re.compile(r"Local Socket \S+ (HITM?)\s+latency\s*(\S*)")
_REMOTE_CACHE = re.compile(
    r"Remote Socket \S+ HITM\s+latency(?: \(data address homed in (reader|writer) socket\))?"
)
_MARKS = ("Intel(R) Memory Latency Checker", "Measuring ", "Each iteration took ")
_MIX = re.compile(r"(ALL Reads|(\d+):(\d+) Reads-Writes|Stream-triad like)\s*:\s*(\S+)")
_NUMBER = re.compile(r"\d+\.\d+")  # whole numbers are what is left of a line that was cut
_RULE = re.compile(r"=+")
_MEGA = 1e6
_MOST_NS, _MOST_BANDWIDTH = 1e6, 1e14
_REMARK = "***"
_FENCES = ("```", "~~~")
MIXES = {"2:1": 2, "3:1": 3, "3:2": 4, "1:1": 5, "4:1": 12}
"""The number of each mix of reads and writes, for the option -W; reads alone have none."""
_MIX_OF = {str(number): mix for mix, number in MIXES.items()}

_Lines = Sequence["tuple[int, str]"]
"""Lines with their numbers, from 1."""


def recognises(text: str) -> bool:
    """Return whether a text has a line that only mlc prints: its name and version, or the title of a
    table.
    """
    if not any(mark in text for mark in _MARKS):
        return False
    patterns = (_VERSION, *_TITLES.values())
    marked = (line for line in map(str.strip, text.splitlines()) if line.startswith(_MARKS))
    return any(pattern.match(line) for line in marked for pattern in patterns)


def parse(text: str, *, name: str, completed: Completed | None) -> Output:
    """Return the metrics of an output.

    Loaded: `latency.delay_N`, `bandwidth.delay_N`, peak and knee. Idle: `latency.idle`. Between nodes:
    `latency.from_0.to_1`, the worst of a node to its own memory `latency.local` and to another's
    `latency.remote`; bandwidths alike. Highest: `bandwidth.mix_3_1`, `bandwidth.stream_triad`. Caches:
    `latency.cache_hit`, `latency.cache_hitm`, and from the writer's node to the reader's
    `latency.cache_homed_in_writer.from_0.to_1`. Raises OutputError with file:line:column.
    """
    if completed and completed.timed_out:
        raise OutputError(f"{name}: mlc was ended after {completed.seconds:.0f} s without an end in sight")
    if completed and completed.status:
        raise OutputError(
            f"{name}: mlc ended with status {completed.status}: {_last_message(text, completed)}"
        )
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    versions = [(number, match[1]) for number, line in lines if (match := _VERSION.match(line))]
    if not versions:
        message = "this is no output of mlc: it does not begin with Intel(R) Memory Latency Checker"
        raise OutputError(message, position=Position(name))
    if len(versions) > 1:
        message = f"mlc's first line comes twice: the file holds {len(versions)} runs"
        remedy = "look at them one by one: iogate show FILE"
        raise ApartError(message, position=Position(name, versions[1][0]), remedy=remedy)
    sections = _sections(lines, name)
    if not sections:
        message = f"mlc measured nothing: {_last_message(text, completed)}"
        raise OutputError(message, position=Position(name, len(lines)))
    metrics: dict[str, float] = {}
    for title, section in sections.items():
        metrics.update(_READERS[title](section, name))
    options = _read_options(lines)
    remarks = [printable(line.strip("* ")) for _, line in lines if line.startswith(_REMARK)]
    version = f"mlc {printable(versions[0][1])}"
    return Output(metrics, {}, engine_version=version, options=options, remarks=tuple(filter(None, remarks)))


def parts(text: str, *, name: str) -> list[Part]:
    """Return the runs in a text one by one. Raises OutputError."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _VERSION.match(line.strip())]
    found = []
    for start, end in pairwise([*starts, len(lines)]):
        try:
            output = parse("\n".join(lines[start:end]), name=name, completed=None)
        except OutputError as error:
            raise error.below(start) from None
        found.append(Part(f"run in line {start + 1}", output, start + 1, group=str(start)))
    return found


def _last_message(text: str, completed: Completed | None) -> str:
    """Return the last that it said, on stderr if there."""
    for said in ((completed.stderr if completed else ""), text):
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        if lines:
            return printable(lines[-1][:500])
    return "it said nothing"


def _sections(lines: _Lines, name: str) -> dict[str, list[tuple[int, str]]]:
    """Return the lines of each part that is known, from its title on. Raises OutputError for a part that
    comes twice.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    current: list[tuple[int, str]] = []
    for number, line in lines:
        if _ANY_TITLE.match(line):
            title = next((key for key, pattern in _TITLES.items() if pattern.match(line)), "")
            current = []
            if title in found:
                message = f"{line!r} comes twice: outputs of several runs are mixed"
                raise OutputError(printable(message), position=Position(name, number))
            if title:
                found[title] = current
        current.append((number, line))
    return found


def _read_loaded(lines: _Lines, name: str) -> dict[str, float]:
    """Return the rows below the rule: delay, latency in ns, bandwidth in MB/s."""
    heading = " ".join(line for _, line in lines)
    if "(ns)" not in heading or "MB/sec" not in heading:
        message = "the loaded latencies have no heading that names ns and MB/sec"
        raise OutputError(message, position=Position(name, lines[0][0]))
    points: dict[int, Point] = {}
    for number, line in _rows(lines):
        words = line.split()
        if len(words) != 3 or not words[0].isdecimal() or len(words[0]) > 9:
            message = f"{line!r} is not a delay, a latency and a bandwidth"
            raise OutputError(printable(message), position=Position(name, number))
        delay = int(words[0])
        if delay in points:
            raise OutputError(f"the delay {delay} comes twice", position=Position(name, number))
        points[delay] = Point(
            delay,
            _figure(words[1], _MOST_NS, name, number),
            _figure(words[2], _MOST_BANDWIDTH / _MEGA, name, number) * _MEGA,
        )
    if not points:
        raise OutputError("the table of loaded latencies is empty", position=Position(name, lines[0][0]))
    return figures([points[delay] for delay in sorted(points)])


def _rows(lines: _Lines) -> list[tuple[int, str]]:
    """Return what stands below the rule, up to an empty line, or to what ends a block of code in Markdown."""
    rows: list[tuple[int, str]] = []
    below = False
    for number, line in lines:
        if below and (not line or line.startswith(_FENCES)):
            break
        if below and not line.startswith(_REMARK):
            rows.append((number, line))
        below = below or bool(_RULE.fullmatch(line))
    return rows


def _matrix(lines: _Lines, name: str) -> dict[tuple[int, int], float]:
    """Return a table of nodes by nodes; what could not be measured (`-`) is left out."""
    columns: list[int] = []
    found: dict[tuple[int, int], float] = {}
    for number, line in lines[1:]:
        match = re.match(r"(?:Numa node|Socket|Writer Numa Node)\b(.*)", line)
        words = (match[1] if match else line).split()
        if match:
            columns = [int(word) for word in words if word.isdecimal()] or columns
        elif columns and words and words[0].isdecimal():
            if len(words) != len(columns) + 1:
                message = f"{line!r} has not one figure for each of {len(columns)} nodes"
                raise OutputError(printable(message), position=Position(name, number))
            for column, word in zip(columns, words[1:], strict=True):
                if word != "-":
                    found[int(words[0]), column] = _figure(word, _MOST_BANDWIDTH / _MEGA, name, number)
        elif columns and found and line:
            break
    if not found:
        message = "there is no table of nodes below this"
        raise OutputError(message, position=Position(name, lines[0][0]))
    return found


def _read_latencies(lines: _Lines, name: str) -> dict[str, float]:
    table = _matrix(lines, name)
    found = {f"latency.from_{source}.to_{to}": value for (source, to), value in table.items()}
    local = [value for (source, to), value in table.items() if source == to]
    remote = [value for (source, to), value in table.items() if source != to]
    if local:
        found["latency.local"] = max(local)
    if remote:
        found["latency.remote"] = max(remote)
    return found


def _read_between(lines: _Lines, name: str) -> dict[str, float]:
    table = _matrix(lines, name)
    return {f"bandwidth.from_{source}.to_{to}": value * _MEGA for (source, to), value in table.items()}


def _read_highest(lines: _Lines, name: str) -> dict[str, float]:
    """Return the highest bandwidth of each mix of reads and writes."""
    found: dict[str, float] = {}
    for number, line in lines:
        match = _MIX.match(line)
        if match:
            mix = "mix_1_0" if match[1] == "ALL Reads" else f"mix_{match[2]}_{match[3]}"
            key = "stream_triad" if match[1].startswith("Stream") else mix
            found[f"bandwidth.{key}"] = _figure(match[4], _MOST_BANDWIDTH / _MEGA, name, number) * _MEGA
    if not found:
        message = "there is no bandwidth of any mix of reads and writes below this"
        raise OutputError(message, position=Position(name, lines[0][0]))
    return found


def _read_idle(lines: _Lines, name: str) -> dict[str, float]:
    number, line = lines[0]
    match = _IDLE.match(line)
    if not match:
        message = f"{line!r} does not say a latency in ns"
        raise OutputError(printable(message), position=Position(name, number))
    return {"latency.idle": _figure(match[1], _MOST_NS, name, number)}


def _read_caches(lines: _Lines, name: str) -> dict[str, float]:
    """Return the latencies from one cache to another: within a socket, and of nodes by nodes."""
    found: dict[str, float] = {}
    for index, (number, line) in enumerate(lines):
        if local := _LOCAL_CACHE.match(line):
            found[f"latency.cache_{local[1].lower()}"] = _figure(local[2], _MOST_NS, name, number)
        elif remote := _REMOTE_CACHE.match(line):
            key = f"latency.cache_homed_in_{remote[1]}" if remote[1] else "latency.cache_remote"
            table = _matrix(lines[index:], name)
            found.update({f"{key}.from_{source}.to_{to}": value for (source, to), value in table.items()})
    if not found:
        message = "there is no latency from cache to cache below this"
        raise OutputError(message, position=Position(name, lines[0][0]))
    return found


_READERS = {
    "idle": _read_idle,
    "caches": _read_caches,
    "loaded": _read_loaded,
    "latencies": _read_latencies,
    "between": _read_between,
    "highest": _read_highest,
}


def _figure(word: str, most: float, name: str, number: int) -> float:
    """Return a figure above 0 and not beyond belief. Raises OutputError."""
    value = float(word) if _NUMBER.fullmatch(word) else math.nan
    if not 0 < value <= most:
        message = f"{word[:40]!r} is not a figure that mlc could have measured"
        raise OutputError(printable(message), position=Position(name, number))
    return value


def _read_options(lines: _Lines) -> Mapping[str, object]:
    """Return the options that the output states, in the spelling of a workload."""
    arguments = next((match[1] for _, line in lines if (match := _ARGUMENTS.match(line))), "")
    found: dict[str, object] = {}
    for word in arguments.split():
        if word.startswith("--") and word[2:] in ("loaded_latency", "latency_matrix", "max_bandwidth"):
            found["test"] = word[2:]
        elif match := re.fullmatch(r"-l(\d+)", word):
            found["stride"] = match[1]
        elif (match := re.fullmatch(r"-W(\d+)", word)) and match[1] in _MIX_OF:
            found["mix"] = _MIX_OF[match[1]]
    return found
