"""fio, the flexible I/O tester: https://fio.readthedocs.io."""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from iogate.engines.fio import alternation, reading, stated
from iogate.engines.fio import check as _fio_check
from iogate.engines.fio import clients as _clients
from iogate.engines.fio.conversation import FioConversation
from iogate.engines.fio.job_file import OUTPUT, arguments, job_file, section_names
from iogate.engines.fio.job_file_reader import declared_phases, left_out
from iogate.engines.fio.jobs import (
    ELSEWHERE,
    MIXED,
    jobs,
    part_name,
    unlike,
)
from iogate.engines.fio.places import astray, read_by
from iogate.engines.fio.refusals import commands
from iogate.engines.fio.sizes import blocks, extent, most_written, volume
from iogate.engines.sections import Description, Section
from iogate.errors import EngineError, InputError, OptionError
from iogate.host.process import Completed, find_program
from iogate.model import ClientOutputs, Command, Needs, Output, Part, Place, Reads, Workload
from iogate.units import parse_size, size_text

OLDEST = (3, 0)
_PATIENCE = 60.0
_SLOWEST_BANDWIDTH = 10 * 2**20
_LARGE = 64 * 1024
_SLOWEST_IOPS = {"sequential": 1000, "random": 100}
_PAST_THE_CACHE: Mapping[str, Any] = {"ioengine": "libaio", "direct": True}
_FILL: Mapping[str, Any] = {"rw": "write", "bs": "128k", "iodepth": 32, **_PAST_THE_CACHE}
"""SNIA PTS: workload-independent preconditioning."""
_OVERWRITE: Mapping[str, Any] = {
    "rw": "randwrite", "bs": "4k", "iodepth": 32, "runtime": 60, "time_based": True, **_PAST_THE_CACHE,
}  # fmt: skip


class Fio:
    """The engine `fio`, see `iogate.engines.Engine`."""

    name = "fio"
    program = "fio"
    package = "fio"
    attachments = ("jobfile",)
    flags = stated.FLAGS

    def options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        from iogate.engines.fio.options import normalise_options

        return normalise_options(given)

    def phases(self, given: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        return declared_phases(given["jobfile"], given)

    def left_out(self, given: Mapping[str, Any]) -> list[str]:
        return left_out(given["jobfile"], given)

    def commands(self, options: Mapping[str, Any]) -> list[OptionError]:
        return commands(options)

    def schema(self) -> dict[str, Any]:
        from iogate.engines.fio.options import FioOptions

        return FioOptions.model_json_schema()

    def check(self, workloads: Sequence[Workload]) -> list[InputError]:
        return _fio_check.check(workloads)

    def gating(self, workload: Workload) -> tuple[str, ...]:
        """Return throughput in each direction; mean latency where a rate limit fixes the throughput.

        With a fixed number of I/Os in flight throughput and mean latency are one figure (Little's law), and
        at a fixed block size bandwidth and IOPS are: to gate on both would only pay for two tests.
        """
        gating = _gating(jobs(workload.options))
        counts = _clients.clients(workload.options) or ()
        if len(counts) < 2 or counts == "all":
            return gating
        return tuple(f"clients_{count}.{name}" for count in counts for name in gating)

    def needs(self, workload: Workload) -> Needs:
        each = list(jobs(workload.options).values())
        here = [job for job in each if job["ioengine"] not in ELSEWHERE]
        directions = _all_directions(each)
        written = [most_written(job) for job in here]
        counts = _clients.clients(workload.options) or ()
        return Needs(
            size=max(map(extent, here), default=0),
            reads="read" in directions,
            writes="write" in directions or "trim" in directions,
            direct=all(job["direct"] for job in each),
            block=min(blocks(job)[0] for job in each),
            seconds=_together(each) * max(1, 0 if counts == "all" else len(counts)),
            written=None if None in written else sum(filter(None, written)),
            target=bool(here),
            files=max((job.get("nrfiles", 1) for job in here), default=1),
            cached=any(job.get("cached", False) for job in here),
            clients=1 if counts == "all" else max(counts, default=1),
            trims="trim" in directions,
            own=workload.own_data,
            astray=next(filter(None, map(astray, here)), ""),
        )

    def reads(self, workload: Workload) -> tuple[Reads, ...]:
        return tuple(
            read_by(job, part_name(name) if name else "")
            for name, job in jobs(workload.options).items()
            if job["ioengine"] not in ELSEWHERE and "read" in _directions(job)
        )

    def prepare(self) -> None:
        """Ask fio for its version. Raises EngineError if it is missing or too old."""
        found = version(find_program(self.program, self.package))
        if found < OLDEST:
            raise EngineError(
                f"fio {'.'.join(map(str, found))} is too old: its figures are not comparable",
                remedy=f"install fio {'.'.join(map(str, OLDEST))} or newer",
            )

    def command(self, workload: Workload, place: Place) -> Command:
        """Return the call of fio on a job file that can be run again by hand.

        Raises EngineError if fio is missing, or if the target's path cannot be said in a job file.
        """
        needs = self.needs(workload)
        through_cache = 0 if needs.direct else needs.size / _SLOWEST_BANDWIDTH  # to flush it, or to fill it
        timed = all("runtime" in job for job in jobs(workload.options).values())
        return Command(
            argv=(
                find_program(self.program, self.package),
                *arguments(writes=needs.writes),
                "job.fio",
            ),
            timeout=needs.seconds * 1.1 + through_cache + _PATIENCE,
            files={"job.fio": job_file(workload, place)},
            output=OUTPUT,
            by_size=through_cache + (0 if timed else needs.seconds),
        )

    def parse(self, text: str, *, name: str, completed: Completed | None = None) -> Output:
        return reading.parse(text, name=name, completed=completed)

    def parts(self, text: str, *, name: str) -> Sequence[Part]:
        return reading.parts(text, name=name)

    def recognises(self, text: str) -> bool:
        return reading.recognises(text)

    def blocks(self, text: str) -> Iterator[tuple[int, str]]:
        return reading.blocks(text)

    def sections(self, text: str, *, name: str) -> Sequence[Section]:
        return reading.sections(text, name=name)

    def descriptions(self, lines: Sequence[str]) -> list[Description]:
        return reading.descriptions(lines)

    def stated_options(self, output: Output) -> dict[str, Any]:
        return stated.stated_options(output.options, whole=output.complete)

    def effective(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return stated.effective(options)

    def gating_of(self, output: Output) -> tuple[str, ...]:
        """Return what gates a workload of each direction's block size."""
        options = self.stated_options(output)
        names: list[str] = []
        for direction, traffic in output.traffic.items():
            block = _stated_block(options) or size_text(round(traffic.bytes / max(1, traffic.operations)))
            names.append(f"{direction}.{_figure({'bs': block, 'fio': options.get('fio', {})})}")
        return tuple(names)

    def indivisible(self, options: Mapping[str, Any], gating: Sequence[str]) -> str:
        return alternation.indivisible(options, gating)

    def lasting(self, options: Mapping[str, Any], seconds: float, seed: int) -> dict[str, Any]:
        return alternation.lasting(options, seconds, seed)

    def shortened(self, options: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        return alternation.shortened(options, seconds)

    def processes(self, options: Mapping[str, Any]) -> int:
        return alternation.processes(options)

    def processors(self, options: Mapping[str, Any]) -> int:
        return alternation.processors(options)

    def clients(self, options: Mapping[str, Any]) -> tuple[int, ...] | Literal["all"] | None:
        return _clients.clients(options)

    def on_clients(self, options: Mapping[str, Any], counts: Sequence[int] | None) -> dict[str, Any]:
        return _clients.on_clients(options, counts)

    def alone(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return _clients.alone(options)

    def version(self) -> str:
        return f"fio-{'.'.join(map(str, version(find_program(self.program, self.package))))}"

    def server(self, socket: str) -> tuple[str, ...]:
        return find_program(self.program, self.package), f"--server=sock:{socket}"

    def conductor(self, commands: Mapping[str, Command]) -> Command:
        given, files = _clients.conducted(
            {name: command.files["job.fio"] for name, command in commands.items()}
        )
        timeout = max(command.timeout for command in commands.values())
        by_size = max(command.by_size for command in commands.values())
        return Command((find_program(self.program, self.package), *given), timeout, files, OUTPUT, by_size)

    def conversation(self, command: Command) -> FioConversation:
        return FioConversation(command.files["job.fio"])

    def outputs(
        self,
        text: str,
        logs: Mapping[str, str],
        offsets: Mapping[str, float],
        *,
        name: str,
        completed: Completed | None = None,
    ) -> ClientOutputs:
        return _clients.outputs(text, logs, offsets, name=name, completed=completed)

    def fill(self, options: Mapping[str, Any]) -> dict[str, Any]:
        return self.options({**_FILL, **_spread(options)})

    def overwrite(self, options: Mapping[str, Any]) -> dict[str, Any]:
        seconds = min(float(_OVERWRITE["runtime"]), float(options.get("runtime") or math.inf))
        return self.options({**_OVERWRITE, **_spread(options), "runtime": seconds})


def _spread(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that say where all data of a workload are: how much, from where on, and on how many
    clients.
    """
    counts = _clients.clients(options)
    most = {"clients": counts if counts == "all" else max(counts)} if counts else {}
    if "numjobs" not in options:  # of another engine, which begins at the beginning
        return {"size": options["size"], **most}
    regions = read_by({**options, "fio": {**options.get("fio", {}), "random_distribution": ""}}).regions
    first = min(region.begin for region in regions)
    behind = max(region.begin + region.length for region in regions)
    offset = {"fio": {"offset": size_text(first)}} if first else {}
    return {"size": size_text(behind - first) if len(regions) > 1 else options["size"], **offset, **most}


def _stated_block(options: Mapping[str, Any]) -> str:
    """Return the block size that an output states; empty if it states none, or what is none."""
    text = str(options.get("bs", ""))
    try:
        return text if all(parse_size(part) for part in text.split(",")) else ""
    except ValueError:
        return ""


def _gating(each: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the gating metrics of jobs by name: in each direction what they do together, and what each does
    by itself if they are unlike, as half of a small one's speed is next to nothing of a sum.

    The sum stays, as jobs that compete share a device out now so, now so, and all of it is more even.
    """
    found: list[str] = []
    parts = dict(zip(each, map(part_name, section_names(each)), strict=True))
    for direction in _all_directions(each.values()):
        own = {name: job for name, job in each.items() if direction in _directions(job)}
        if not unlike(own.values()):
            found.append(f"{direction}.{_figure(next(iter(own.values())))}")
            continue
        free = [job for job in own.values() if not _is_limited(job)]
        if free:
            found.append(f"{direction}.{_rate(min(blocks(job)[0] for job in free))}")
        for name, job in own.items():
            found.append(f"{parts[name]}.{direction}.{_figure(job)}")
    return tuple(dict.fromkeys(found))


def _figure(job: Mapping[str, Any]) -> str:
    """Return what tells how fast a job is: its rate, or the mean latency where a limit fixes that."""
    return "lat.mean" if _is_limited(job) else _rate(blocks(job)[0])


def _rate(block: int) -> str:
    return "bandwidth" if block >= _LARGE else "iops"


def _is_limited(job: Mapping[str, Any]) -> bool:
    return any(key in job.get("fio", {}) for key in ("rate", "rate_iops", "thinktime"))


@cache
def version(program: str) -> tuple[int, ...]:
    """Return the version of a fio program, such as (3, 33). Raises EngineError if it does not say."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EngineError(f"{program} does not say its version: {error}") from error
    match = re.match(rb"fio-(\d+(?:\.\d+)*)", done.stdout)
    if not match:
        raise EngineError(f"{program} does not say its version", remedy="is it the flexible I/O tester?")
    return tuple(int(part) for part in match[1].split(b"."))


def _directions(options: Mapping[str, Any]) -> tuple[str, ...]:
    kind = str(options["rw"]).partition(":")[0]
    if kind in MIXED:
        return ("read", "write")
    if kind.endswith("trimwrite"):
        return ("write", "trim")
    return (kind.removeprefix("rand"),)


def _all_directions(each: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(direction for job in each for direction in _directions(job)))


def _together(each: Sequence[Mapping[str, Any]]) -> float:
    """Return the longest that jobs should take side by side: those that end by size share the device."""
    timed = [_seconds(job) for job in each if "runtime" in job]
    return max([sum(_seconds(job) for job in each if "runtime" not in job), *timed])


def _seconds(options: Mapping[str, Any]) -> float:
    """Return the longest that a run should take. One that ends by size alone is estimated from a slow device:
    10 MiB/s, 100 random or 1000 sequential IOPS.
    """
    before = float(options["startdelay"] + options["ramp_time"])
    if "runtime" in options:
        return before + float(options["runtime"])
    kind = "random" if options["rw"].startswith("rand") else "sequential"
    moved = volume(options)
    operations = moved / blocks(options)[0]
    return before + math.ceil(max(moved / _SLOWEST_BANDWIDTH, operations / _SLOWEST_IOPS[kind]))


engine = Fio()
