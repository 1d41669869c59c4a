"""iozone's options as a suite gives them: checked, in one spelling, without those that leave the target.

The letters are iozone's (iozone(1)); whatever has no field of its own here goes through `iozone:`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from iogate.engines.iozone.tests import TESTS
from iogate.errors import InputErrors, OptionError
from iogate.formats.schema import Duration, Schema, Size, check
from iogate.formats.words import nearest, value_text
from iogate.units import parse_size, printable, size_text

_NAMES = {number: name for name, number in TESTS.items()}
_THROUGHPUT_ONLY = frozenset({"mixed", "pwrite", "pread"})
_TABLE_ONLY = frozenset({"record_rewrite"})
_NEEDS = {"fread": "fwrite"}
_KIB = 1024
_LARGEST_RECORD = 16 * 2**20
_SECTOR = 512

_SWITCHES = {
    "-B": "mmap() files", "-c": "count close()", "-D": "msync(MS_ASYNC)", "-G": "msync(MS_SYNC)",
    "-K": "jitter between reads", "-m": "several buffers", "-o": "O_SYNC", "-p": "purge the CPU's cache",
    "-W": "lock the file", "-x": "no stonewalling", "-Z": "mix mmap and file I/O", "-+D": "O_DSYNC",
    "-+r": "O_RSYNC", "-+J": "count think time", "-+k": "constant size of all files together",
    "-+B": "sequential mixed workload", "-+N": "do not truncate on sequential writes",
}  # fmt: skip
_COUNTS = {
    "-d": "µs out of the barrier", "-H": "POSIX async I/Os", "-j": "stride in records",
    "-J": "ms of computing before each I/O", "-k": "POSIX async I/Os, no copy", "-L": "cache line in bytes",
    "-P": "first processor to bind to", "-S": "processor cache in kB", "-V": "verify this pattern",
    "-+A": "madvise", "-+a": "per cent of zeros", "-+p": "per cent of reads in mixed",
    "-+w": "per cent that dedup", "-+y": "per cent that dedup in all files",
    "-+C": "per cent that dedup within a file", "-+q": "s between tests",
}  # fmt: skip
_SAID_BY = {
    "-s": "size", "-g": "size", "-n": "minimum_size", "-r": "record_size", "-q": "record_size",
    "-y": "minimum_record_size", "-i": "tests", "-t": "processes", "-l": "processes", "-u": "processes",
    "-T": "threads", "-I": "direct", "-e": "flush", "-N": "report", "-O": "report", "-+n": "retest",
    "-a": "processes (automatic mode is without)", "-A": "minimum_size", "-z": "minimum_record_size",
}  # fmt: skip
_REFUSED = {
    "-b": "it writes a file of its own", "-R": "it changes what is printed",
    "-f": "files belong into the scratch folder", "-F": "files belong into the scratch folder",
    "-+R": "files belong into the scratch folder", "-+E": "it reads a file that is not the target's",
    "-w": "it leaves its files behind", "-U": "it mounts and unmounts a file system",
    "-Q": "it writes files of its own", "-X": "it writes files of its own",
    "-Y": "it reads a file that is not the target's", "-+z": "it writes files of its own",
    "-+m": "it runs commands on other hosts", "-+t": "it runs commands on other hosts",
    "-+c": "it runs commands on other hosts", "-+s": "it runs commands on other hosts",
    "-+H": "it talks to another host", "-+P": "it talks to another host",
    "-+X": "its results are not valid", "-+Z": "it makes results bogus", "-+u": "it changes what is printed",
    "-+d": "it measures its own checking", "-+x": "sizes double here", "-C": "it is always given",
    "-h": "it prints help", "-v": "it prints the version", "-M": "it changes what is printed",
}  # fmt: skip


def _test(value: Any) -> str:
    """Return a test by its name, or by iozone's number."""
    if isinstance(value, int) and not isinstance(value, bool) and value in _NAMES:
        return _NAMES[value]
    if isinstance(value, str) and value in TESTS:
        return value
    known = ", ".join(f"{name} ({number})" for name, number in TESTS.items())
    raise ValueError(f"{value_text(value)} is not a test of iozone's; there are {known}")


class IozoneOptions(Schema):
    """iozone's options in words."""

    size: Size = Field(
        description="file size (-s), of each process; without `processes` the largest of the table (-g)"
    )
    minimum_size: Size | None = Field(None, description="the smallest file size of the table (-n)")
    record_size: Size = Field("4k", description="bytes of one I/O (-r); of the table the largest (-q)")
    minimum_record_size: Size | None = Field(None, description="the smallest record of the table (-y)")
    tests: Annotated[list[Annotated[str, BeforeValidator(_test)]], Field(min_length=1)] = Field(
        ["write", "read"], description="what to run, by name or by iozone's number (-i)"
    )
    processes: int | None = Field(
        None, ge=1, le=256, description="throughput mode (-t): processes with a file each; without, a table"
    )
    threads: bool = Field(False, description="threads instead of processes (-T)")
    direct: bool = Field(True, description="past the page cache (-I, O_DIRECT)")
    cached: bool = Field(False, description="the page cache is meant: without flush, with direct: false")
    flush: bool | None = Field(
        None, description="count the time of fsync (-e); the default of buffered I/O unless cached is said"
    )
    retest: bool = Field(True, description="rewrite and reread as well (not -+n)")
    report: Literal["bandwidth", "iops", "latency"] = Field(
        "bandwidth", description="kB/s, operations/s (-O), or µs per operation (-N)"
    )
    timeout: Duration | None = Field(
        None, gt=0, description="a run that takes longer has hung; else estimated from a slow device"
    )
    iozone: dict[str, Any] = Field(
        default_factory=dict, description="further options of iozone, by its letters: {-o: true, -j: 17}"
    )


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with their defaults, one spelling for one meaning. Raises InputErrors of
    OptionError.
    """
    if isinstance(given.get("iozone"), Mapping):
        given = {**given, "iozone": dict(given["iozone"])}
    options = check(IozoneOptions, dict(given))
    problems = [*_passed_problems(options.iozone), *_problems(options)]
    if problems:
        raise InputErrors(problems)
    found = options.model_dump(exclude_none=True)
    found.setdefault("flush", _buffered_to_device(options))
    if not options.cached:
        del found["cached"]
    found["tests"] = sorted(set(options.tests), key=lambda name: TESTS[name])
    if options.processes is None:
        found.setdefault("minimum_size", options.size)
        found.setdefault("minimum_record_size", options.record_size)
    if not found["iozone"]:
        del found["iozone"]
    return found


def _passed_problems(passed: Mapping[str, Any]) -> Iterator[OptionError]:
    for letter, value in passed.items():
        path = ("iozone", letter)
        shown = printable(str(letter))
        if letter in _SWITCHES:
            if value is not True:
                yield OptionError(f"iozone's {letter} ({_SWITCHES[letter]}) is a switch: say true", path)
        elif letter in _COUNTS:
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
                yield OptionError(f"iozone's {letter} ({_COUNTS[letter]}) takes a whole number", path)
        elif letter in _SAID_BY:
            yield OptionError(f"iozone's {letter} is said by {_SAID_BY[letter]!r} here", path, key=True)
        elif letter in _REFUSED:
            yield OptionError(f"iozone's {letter} is refused: {_REFUSED[letter]}", path, key=True)
        else:
            known = [*_SWITCHES, *_COUNTS]
            hint = nearest(shown, known)
            remedy = "" if hint else f"known are {', '.join(sorted(known))}"
            yield OptionError(f"unknown option {shown!r} of iozone{hint}", path, key=True, remedy=remedy)


def _buffered_to_device(options: IozoneOptions) -> bool:
    return not options.direct and not options.cached


def _problems(options: IozoneOptions) -> Iterator[OptionError]:
    if options.direct and options.cached:
        yield OptionError("cached: true is the page cache, direct: true goes past it", ("cached",))
    if options.flush is False and _buffered_to_device(options):
        message = "flush: buffered writes count it; if the page cache is meant, say cached: true"
        yield OptionError(message, ("flush",))
    yield from _size_problems(options)
    yield from _test_problems(options)
    if options.threads and options.processes is None:
        yield OptionError("threads: only throughput mode has them: say how many processes", ("threads",))
    if options.report == "latency" and options.processes is not None:
        yield OptionError("report: iozone gives µs per operation in automatic mode only", ("report",))


def _size_problems(options: IozoneOptions) -> Iterator[OptionError]:
    sizes = {key: parse_size(value) for key, value in _sizes(options).items()}
    for key, size in sizes.items():
        if size % _KIB or not size:
            yield OptionError(f"{key}: {size_text(size)} is not a whole number of kB, iozone's unit", (key,))
        if options.processes is not None and key.startswith("minimum"):
            yield OptionError(f"{key}: throughput mode has one size: leave it out", (key,))
    record, size = sizes["record_size"], sizes["size"]
    if record > _LARGEST_RECORD:
        yield OptionError(f"record_size: iozone takes at most {size_text(_LARGEST_RECORD)}", ("record_size",))
    if record > size:
        message = f"size: {options.size} is less than one record of {options.record_size}"
        yield OptionError(message, ("size",))
    elif record and size % record:
        message = f"size: {options.size} is not a whole number of records of {options.record_size}"
        yield OptionError(message, ("size",))
    for key in ("size", "record_size"):
        if sizes.get(f"minimum_{key}", 0) > sizes[key]:
            message = f"minimum_{key}: {size_text(sizes[f'minimum_{key}'])} is more than {key}"
            yield OptionError(message, (f"minimum_{key}",))


def _sizes(options: IozoneOptions) -> dict[str, str]:
    found = {"size": options.size, "record_size": options.record_size}
    for key in ("minimum_size", "minimum_record_size"):
        value = getattr(options, key)
        if value is not None:
            found[key] = value
    return found


def _test_problems(options: IozoneOptions) -> Iterator[OptionError]:
    path = ("tests",)
    if "write" not in options.tests:
        yield OptionError("tests: iozone reads what its write test wrote: add write (0)", path)
    for test, before in _NEEDS.items():
        if test in options.tests and before not in options.tests:
            message = f"tests: {test} reads what {before} wrote: add {before} ({TESTS[before]})"
            yield OptionError(message, path)
    only = _THROUGHPUT_ONLY if options.processes is None else _TABLE_ONLY
    mode = "throughput mode (processes)" if options.processes is None else "automatic mode"
    for test in options.tests:
        if test in only:
            yield OptionError(f"tests: {test} is there in {mode} only", path)
        if options.direct and test in ("fwrite", "fread"):
            yield OptionError(f"tests: {test} goes through stdio and the page cache: say direct: false", path)
