"""What `reader.c` prints, checked and turned into metrics."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from iogate.engines.common.histogram import compact
from iogate.engines.common.json_report import Count, Shape, Some, check_status, read_report
from iogate.engines.common.scaling import scaling
from iogate.engines.reader.passes import prefix
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import Histogram, Output, Traffic
from iogate.units import format_quantity, printable

_PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_CACHED_AT_MOST, _CACHED_AT_LEAST = 0.01, 0.99


class ReaderLatency(Shape):
    """Latencies in ns. `bins` hold the least value of each and a count: 64 an octave, so within 1/64.

    Per `batch`, the times are means of so many operations in a row.
    """

    per: Literal["operation", "batch"]
    batch: Some
    operations: Some
    sum_ns: Some
    min_ns: Count
    max_ns: Count
    bins: list[tuple[Count, Some]]

    @property
    def mean(self) -> float:
        return self.sum_ns / self.operations

    def percentile(self, percent: float) -> float:
        """Return the middle of the first bin whose cumulative count reaches this share of the operations, as
        fio has it (stat.c).
        """
        wanted, seen = percent / 100 * self.operations, 0
        for least, count in self.bins:
            seen += count
            if seen >= wanted * (1 - 1e-12):
                width = 1 << max(0, least.bit_length() - 7)
                return min(max(least + (width - 1) / 2, self.min_ns), self.max_ns)
        return float(self.max_ns)


class ReaderSide(Shape):
    """What all threads did in one direction."""

    bytes: Count
    operations: Count
    short: Count
    latency: ReaderLatency | None


class Thread(Shape):
    """One thread: `after_ns` it began after the first one, `ns` long."""

    after_ns: Count
    ns: Count
    bytes: Count
    operations: Count
    user_ns: Count
    system_ns: Count
    registered: bool


class Failure(Shape):
    """What went wrong in a thread; `errno` 0 for the end of the file."""

    what: str
    errno: Count
    message: str
    offset: Count
    thread: Count


class Pass(Shape):
    """The data once, by so many threads; `pair` are reads each with its write, timed together."""

    threads: Some
    resident_before: Count
    wall_ns: Count
    flush_ns: Count
    read: ReaderSide
    write: ReaderSide | None = None
    pair: ReaderSide | None = None
    per_thread: list[Thread]
    error: Failure | None = None


class ReaderReport(Shape):
    """One repetition."""

    reader: Literal[1]
    compiler: str
    rw: Literal["read", "randread", "rw"]
    bs: Some
    size: Some
    ioengine: Literal["pread", "io_uring"]
    iodepth: Some
    direct: bool
    cached: bool
    seed: Count
    passes: list[Pass] = Field(min_length=1)


def parse(text: str, *, name: str, completed: Completed | None) -> Output:
    """Return the metrics of a repetition; those of a scaling curve begin with `threads_N.`. Raises
    OutputError.
    """
    if completed and completed.timed_out:
        raise OutputError(
            f"{name}: the reader was ended after {completed.seconds:.0f} s without an end in sight",
            remedy="the device is very slow or hangs (see dmesg); a smaller size takes less time",
        )
    report = read_report(ReaderReport, text, name, "reader", completed)
    for item in report.passes:
        _check(report, item, name)
    if len({item.threads for item in report.passes}) < len(report.passes):
        raise OutputError(f"{name}: a number of threads is there twice")
    check_status(name, "reader", completed)
    curve = len(report.passes) > 1
    metrics: dict[str, float] = {}
    histograms: dict[str, Histogram] = {}
    for item in report.passes:
        start = prefix(item.threads) if curve else ""
        metrics.update({f"{start}{key}": value for key, value in _metrics(item).items()})
        histograms.update({f"{start}{key}": value for key, value in _histograms(item).items()})
    if curve:
        metrics.update(scaling({item.threads: item.wall_ns / 1e9 for item in report.passes}, "threads"))
    threads = [thread for item in report.passes for thread in item.per_thread]
    lived = max(1, sum(thread.ns for thread in threads))
    return Output(
        metrics,
        _traffic(report.passes),
        engine_version=f"{report.reader} ({report.compiler})",
        jobs=max(item.threads for item in report.passes),
        user=sum(thread.user_ns for thread in threads) / lived,
        system=sum(thread.system_ns for thread in threads) / lived,
        options=report.model_dump(exclude={"reader", "compiler", "passes"}),
        remarks=_remarks(report),
        histograms=histograms,
    )


def _check(report: ReaderReport, item: Pass, name: str) -> None:
    """Return whether a pass did all that it should, and its figures agree. Raises OutputError."""
    if item.error:
        raise _fail(report, item.error, name)
    _check_cache(report, item, name)
    whole = report.size // report.bs
    full = report.rw == "randread" or not report.size % report.bs
    blocks, size = (whole, whole * report.bs) if full else (whole + 1, report.size)
    sides = [item.read] if report.rw != "rw" else [item.read, item.write or item.read]
    threads = item.per_thread
    agree = {
        "the bytes are not those of all blocks": all(side.bytes == size for side in sides),
        "the operations are not one for each block": all(side.operations == blocks for side in sides),
        "the writes are missing": (item.write is not None) == (report.rw == "rw"),
        "the threads are not all there": len(threads) == item.threads,
        "the threads' bytes are not the bytes of all": sum(one.bytes for one in threads) == size * len(sides),
        "the threads' operations are not those of all": sum(one.operations for one in threads)
        == blocks * len(sides),
        "the wall time ends before the threads do": item.wall_ns
        >= max((one.after_ns + one.ns for one in threads), default=0) + item.flush_ns
        > 0,
    }
    for message, right in (agree | _check_latencies(item, sides, blocks)).items():
        if not right:
            raise OutputError(f"{name}: {item.threads} threads: {message}")


def _check_latencies(item: Pass, sides: Sequence[ReaderSide], blocks: int) -> dict[str, bool]:
    """Return whether all blocks were timed: in each direction, or reads and writes in pairs."""
    timed = {
        direction: side.latency
        for direction, side in (("read", item.read), ("write", item.write), ("pair", item.pair))
        if side and side.latency
    }
    whole = {
        f"{direction}: the histogram does not count each block once": _whole(latency, blocks)
        for direction, latency in timed.items()
    }
    return whole | {
        "there are no latencies": bool(timed),
        "the latencies of a direction are missing": "pair" in timed or all(side.latency for side in sides),
    }


def _whole(latency: ReaderLatency, blocks: int) -> bool:
    values = [least for least, _ in latency.bins]
    return (
        latency.operations == blocks == sum(count for _, count in latency.bins)
        and values == sorted(set(values))
        and latency.min_ns <= latency.mean + 1
        and latency.mean < latency.max_ns + 1
        and values[0] <= latency.min_ns
        and values[-1] <= latency.max_ns
    )


def _check_cache(report: ReaderReport, item: Pass, name: str) -> None:
    """Return whether the page cache was as it was asked for. Raises OutputError."""
    share = item.resident_before / report.size
    found = f"{format_quantity(item.resident_before, 'B')} of {format_quantity(report.size, 'B')}"
    if report.cached and share < _CACHED_AT_LEAST:
        raise OutputError(
            f"{name}: cached is asked for, but only {found} are in the page cache",
            remedy="the memory is too small for all of it: use a smaller size",
        )
    if not report.cached and not report.direct and share > _CACHED_AT_MOST:
        raise OutputError(
            f"{name}: {found} stayed in the page cache after it was dropped",
            remedy="somebody else uses the file, or its file system keeps it in memory: use direct: true",
        )


def _fail(report: ReaderReport, failure: Failure, name: str) -> OutputError:
    number = int(failure.errno)
    code = f" ({errno.errorcode.get(number, number)})" if number else ""
    said = f"{failure.message}{code} at offset {failure.offset}" if number else f"at offset {failure.offset}"
    message = f"{name}: {failure.what}: {said}, thread {failure.thread}"
    remedy = "see what the kernel says of the device: dmesg"
    if failure.what == "io_uring_setup" and number in (errno.ENOSYS, errno.EPERM, errno.EACCES):
        message = f"{name}: io_uring cannot be used here: {failure.message}{code}; nothing was measured"
        remedy = (
            "a container's seccomp profile, /proc/sys/kernel/io_uring_disabled or an old kernel blocks it: "
            "allow it, or use ioengine: pread"
        )
    elif failure.what == "end of file":
        message = f"{name}: the data end at offset {failure.offset}, {report.size} bytes were to be read"
        remedy = "somebody has changed the file"
    elif failure.what == "open" and number == errno.EINVAL and report.direct:
        message = f"{name}: direct I/O was asked for, but this file system has none"
        remedy = "direct: false reads through the page cache, after it was dropped"
    elif number == errno.EINVAL and report.direct:
        remedy = "direct I/O takes multiples of the device's block: check bs and size"
    return OutputError(printable(message), remedy=remedy)


def _metrics(item: Pass) -> dict[str, float]:
    seconds = item.wall_ns / 1e9
    found = {"wall_time": seconds}
    for direction, side in (("read.", item.read), ("write.", item.write), ("", item.pair)):
        if side is None:
            continue
        if side.operations:
            found[f"{direction}bandwidth"] = side.bytes / seconds
            found[f"{direction}iops"] = side.operations / seconds
        if side.latency:
            found.update({f"{direction}lat.{key}": value for key, value in _latencies(side.latency).items()})
    return found


def _histograms(item: Pass) -> dict[str, Histogram]:
    """Return the latencies of single operations; those of batches are means, and hide the slow ones."""
    sides = {"read.lat": item.read, "write.lat": item.write, "lat": item.pair}
    return {
        name: compact([dict(side.latency.bins)])
        for name, side in sides.items()
        if side and side.latency and side.latency.per == "operation"
    }


def _latencies(latency: ReaderLatency) -> dict[str, float]:
    """Return the mean; of single operations also the extremes, and the percentiles that there are enough for.

    Extremes and percentiles of batches would be those of means, and look better than any operation was.
    """
    found = {"mean": latency.mean}
    if latency.per == "operation":
        found |= {"min": float(latency.min_ns), "max": float(latency.max_ns)}
        for percent in _PERCENTILES:
            if latency.operations * (100 - percent) >= 100:
                found[f"p{percent:g}"] = latency.percentile(percent)
    return found


def _traffic(passes: Sequence[Pass]) -> dict[str, Traffic]:
    found = {}
    for direction in ("read", "write"):
        sides: list[Any] = [side for side in (getattr(item, direction) for item in passes) if side]
        if sides:
            found[direction] = Traffic(
                bytes=sum(side.bytes for side in sides),
                operations=sum(side.operations for side in sides),
                seconds=sum(item.wall_ns for item in passes) / 1e9,
                short=sum(side.short for side in sides),
            )
    return found


def _remarks(report: ReaderReport) -> tuple[str, ...]:
    found = []
    if report.cached:
        found.append("cached: the data were in the page cache before, no device was read")
    threads = [thread for item in report.passes for thread in item.per_thread]
    if report.ioengine == "io_uring" and not all(thread.registered for thread in threads):
        found.append("io_uring could not register the buffers: the limit of locked memory is low (ulimit -l)")
    return tuple(found)
