"""What `memory.c` prints, checked and turned into metrics."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from iogate.engines.common.json_report import Count, Shape, Some, check_status, read_report
from iogate.engines.common.loaded_latency import Point, figures
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import Output
from iogate.units import format_quantity, size_text

_LEAST_SHARE, _LEAST_NS = 0.25, 10e6  # a share of a short runtime, ns of a long one
_IN_HUGE_PAGES = 0.99
_IDLE_NS = (0.1, 10_000.0)  # from the nearest cache to memory behind several switches
_IDLE_AT_MOST = 2.0
_MOST_PER_THREAD = 2e12  # bytes/s: three lines a cycle at 10 GHz


class MemoryLatency(Shape):
    """Dependent reads (`hops`) in `ns` of undisturbed time, for which it took `elapsed` ns."""

    ns: Count
    elapsed: Count
    hops: Count

    @property
    def each(self) -> float:
        return self.ns / self.hops


class Loaded(MemoryLatency):
    """The same under load; `bursts` by thread, in the same time."""

    delay: Count
    bursts: list[Count]


class MemoryReport(Shape):
    """One repetition. A burst of the load moves `burst_read` and `burst_written` bytes."""

    memory: Literal[1]
    compiler: str
    size: Some
    load: Some
    line: Some
    stride: Some
    reads: Some
    writes: Count
    threads: Some
    runtime_ns: Some
    huge_pages: bool
    allocated: Some
    in_huge_pages: Count
    cycle_ns: Annotated[float, Field(gt=0, lt=1000)]
    burst_read: Some
    burst_written: Count
    idle: MemoryLatency
    points: list[Loaded] = Field(min_length=1)

    def bandwidth(self, point: Loaded) -> float:
        """Return bytes/s that the memory moved: what the load read and wrote, and what the latency took."""
        moved = sum(point.bursts) * (self.burst_read + self.burst_written) + point.hops * self.line
        return moved / point.ns * 1e9


def parse(text: str, *, name: str, completed: Completed | None) -> Output:
    """Return the metrics of a repetition: `latency.idle`, and those of the curve. Raises OutputError."""
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: memory was ended after {completed.seconds:.0f} s without an end in sight",
            remedy="the machine is overloaded: see who else runs",
        )
    report = read_report(MemoryReport, text, name, "memory", completed)
    check_status(name, "memory", completed)
    _check(report, name)
    points = [Point(point.delay, point.each, report.bandwidth(point)) for point in report.points]
    return Output(
        {"latency.idle": report.idle.each, **figures(points)},
        {},
        engine_version=f"{report.memory} ({report.compiler})",
        jobs=report.threads,
        options={
            "stride": size_text(report.stride),
            "mix": f"{report.reads}:{report.writes}",
            "delays": [point.delay for point in report.points],
            "runtime": report.runtime_ns / 1e9,
            "threads": report.threads,
        },
        remarks=_remarks(report),
    )


def _check(report: MemoryReport, name: str) -> None:
    """Return whether the figures agree and can be believed. Raises OutputError."""
    delays = [point.delay for point in report.points]
    agree = {
        "a delay is there twice": len(set(delays)) == len(delays),
        "the threads are not all there": all(len(point.bursts) == report.threads for point in report.points),
        "reads and writes are not in the ratio that was asked for": report.burst_read * report.writes
        == report.burst_written * report.reads,
        "time went by faster than it can": all(
            point.ns <= point.elapsed for point in (report.idle, *report.points)
        ),
    }
    for message, right in agree.items():
        if not right:
            raise OutputError(f"{name}: {message}")
    for what, point in (("idle", report.idle), *((f"delay {point.delay}", point) for point in report.points)):
        _check_undisturbed(report, point, f"{name}: {what}")
    _check_pages(report, name)
    _check_latencies(report, name)


def _check_undisturbed(report: MemoryReport, point: MemoryLatency, name: str) -> None:
    if point.ns < min(_LEAST_NS, _LEAST_SHARE * report.runtime_ns) or not point.hops:
        raise OutputError(
            f"{name}: the threads had their processors for themselves in only {point.ns / 1e6:.1f} ms of "
            f"{point.elapsed / 1e6:.0f} ms, {report.runtime_ns / 1e6:.0f} ms were asked for",
            remedy="see who else runs (top); fewer threads leave a processor to others",
        )
    if isinstance(point, Loaded) and not all(point.bursts):
        raise OutputError(f"{name}: a thread of the load did nothing")
    if isinstance(point, Loaded) and report.bandwidth(point) > _MOST_PER_THREAD * (report.threads + 1):
        shown = format_quantity(report.bandwidth(point), "B/s")
        raise OutputError(f"{name}: {shown} are more than processors can ask for")


def _check_pages(report: MemoryReport, name: str) -> None:
    if report.huge_pages and report.in_huge_pages < _IN_HUGE_PAGES * report.allocated:
        share = report.in_huge_pages / report.allocated
        raise OutputError(
            f"{name}: only {share:.0%} of the memory is in huge pages: latencies would not be comparable",
            remedy="the memory is fragmented: echo 1 > /proc/sys/vm/compact_memory, reserve pages "
            "(vm.nr_hugepages), or say huge_pages: false",
        )


def _check_latencies(report: MemoryReport, name: str) -> None:
    idle, least = report.idle.each, min(point.each for point in report.points)
    if not _IDLE_NS[0] <= idle <= _IDLE_NS[1]:
        raise OutputError(f"{name}: an idle latency of {idle:.2f} ns is that of no memory")
    if idle > _IDLE_AT_MOST * least:
        raise OutputError(
            f"{name}: without load the latency was {idle:.1f} ns, with load {least:.1f} ns: the machine was "
            "not idle",
            remedy="see who else uses the memory",
        )


def _remarks(report: MemoryReport) -> tuple[str, ...]:
    return () if report.huge_pages else ("small pages: latencies include misses of the TLB",)
