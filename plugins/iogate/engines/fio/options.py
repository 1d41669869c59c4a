"""fio's options as a suite gives them: checked, in one spelling, without those that would leave the target.

Names and meanings are fio's (fio(1), HOWTO). Whatever has no field of its own here goes through `fio:`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from iogate.engines.fio.job_file_reader import sections
from iogate.engines.fio.jobs import ELSEWHERE, MIXED, SEEDED, block_sizes, region
from iogate.engines.fio.refusals import refusal
from iogate.engines.fio.sizes import mistakes, share_before
from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.attachment import Attachment
from iogate.formats.schema import MOST, Duration, Schema, Size, check
from iogate.formats.words import value_text
from iogate.units import parse_size, size_text

Value: TypeAlias = "str | int | float | bool | None"

_PATTERNS = (
    "read", "write", "trim", "randread", "randwrite", "randtrim",
    "rw", "readwrite", "randrw", "trimwrite", "randtrimwrite",
)  # fmt: skip
_KEY = re.compile(r"[a-z][a-z0-9_-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


_INSTEAD = {
    "readwrite": "rw", "blocksize": "bs", "buffered": "direct", "rwmixwrite": "rwmixread",
    "timeout": "runtime", "start_delay": "startdelay", "nr_files": "nrfiles",
}  # fmt: skip

IOENGINES = (
    "libaio", "io_uring", "io_uring_cmd", "posixaio", "psync", "sync", "vsync", "pvsync", "pvsync2",
    "mmap", "splice", "mtd", "dev-dax", "libpmem", "nbd", "null",
)  # fmt: skip
_THROUGH_PAGE_CACHE = frozenset(
    {"libaio", "io_uring", "posixaio", "psync", "sync", "vsync", "pvsync", "pvsync2", "mmap", "splice"}
)
"""The ioengines that go through the page cache unless told to go past it."""

_SECTOR = 512
_MOST_CLIENTS = 1024
_LONGEST_VALUE = 1024
_UNTIMED = ("rate", "rate_iops", "rate_process", "thinktime", "flow", "latency_target")
"""Options that slow a job down, so that its size says nothing about how long it takes."""


def _pattern(value: Any) -> str:
    text = str(value)
    kind, colon, modifier = text.partition(":")
    if kind not in _PATTERNS:
        raise ValueError(f"{value_text(value)} is not one of {', '.join(_PATTERNS)}")
    if colon:
        modifier = _scalar(modifier.strip())
        size_text(parse_size(modifier.removeprefix("-")))
    return ("rw" if kind == "readwrite" else kind) + (f":{modifier}" if colon else "")


def _block(value: Any) -> str:
    """Return one block size, or those of reads, writes and trims: `8k`, `4k,64k`."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ValueError(f"{value_text(value)} is not a block size")
    sizes = block_sizes(str(value))
    if len(sizes) > 3 or not all(sizes):
        raise ValueError(f"{value!r} is not a block size such as 4k, or 4k,64k for reads and writes")
    return ",".join(size_text(size) for size in sizes)


def _ioengine(value: Any) -> str:
    text = str(value)
    if text == "exec" or text.startswith("external:"):
        return str(_scalar(text))  # whether that may be is for `commands` to say
    if text == "sg":  # of a partition, too, to which it means no consent
        raise ValueError("ioengine sg sends SCSI commands to the whole disk, which nothing counts")
    if text not in IOENGINES:
        known = ", ".join(IOENGINES)
        raise ValueError(f"ioengine {value_text(value)} does no I/O on the target; use one of {known}")
    return text


def _pass_through(value: Any) -> Any:
    """Return a value of the pass-through as job files state it: text, or a list of texts for a repeated
    option.
    """
    if isinstance(value, list):
        if not value or any(isinstance(item, (list, dict)) for item in value):
            raise ValueError("a repeated option is a list of plain values")
        return [_scalar(item) for item in value]
    return _scalar(value)


def _scalar(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, int)):
        return str(int(value))
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a value of fio's")
        return f"{value:.9f}".rstrip("0").rstrip(".")
    if not isinstance(value, str):
        raise ValueError("an option is text, a number, true, false, empty, or a list of these")
    if len(value.encode(errors="replace")) > _LONGEST_VALUE:
        raise ValueError(f"more than {_LONGEST_VALUE} bytes are refused: fio cuts long lines in two")
    if _CONTROL.search(value):
        raise ValueError("line breaks and control characters are refused: they could start another option")
    for character, meaning in {";": "a comment", "#": "a comment", "$": "a variable", "'": "a file"}.items():
        if character in value:
            raise ValueError(f"{character!r} is refused: to fio it begins {meaning}")
    if value != value.strip():
        raise ValueError("blanks around a value are refused: fio drops them")
    if re.match("mmap.*:", value):  # fio ends the word at a comma, too; the file is behind the colon
        raise ValueError(f"{value!r} is refused: it writes to a file outside of the target")
    return value


def _clients(value: Any) -> Any:
    """Read how many clients: a number, a list of them for a curve, or all."""
    if value is None or value == "all":
        return value
    counts = value if isinstance(value, list) else [value]
    if not counts or not all(type(count) is int and 1 <= count <= _MOST_CLIENTS for count in counts):
        raise ValueError(f"{value_text(value)} is not a number of clients, a list of such numbers, or all")
    if len(set(counts)) != len(counts):
        raise ValueError("a number of clients comes twice")
    return sorted(counts) if len(counts) > 1 else counts[0]


class Mix(Schema):
    """Jobs that read and jobs that write, each on a region of its own."""

    readers: int = Field(0, ge=0, le=4096, description="jobs that only read")
    writers: int = Field(0, ge=0, le=4096, description="jobs that only write")


class FioOptions(Schema):
    """fio's options by fio's names."""

    rw: Annotated[str, BeforeValidator(_pattern)] = Field(
        description="I/O pattern: read, write, randread, randwrite, rw, randrw, trim, randtrim, trimwrite"
    )
    size: Size = Field(description="how much of the target each job works on")
    bs: Annotated[str, BeforeValidator(_block)] = Field("4k", description="block size")
    iodepth: int = Field(1, ge=1, le=2**20, description="I/Os that each job keeps in flight")
    numjobs: int = Field(1, ge=1, le=4096, description="jobs of the same kind, all on the same data")
    nrfiles: int = Field(1, ge=1, le=1024, description="files that share size out among them")
    rwmixread: int | None = Field(None, ge=0, le=100, description="per cent of reads in a mixed pattern")
    mix: Mix | None = Field(
        None, description="instead of one kind of job: readers and writers that share size out among them"
    )
    jobfile: str | None = Field(
        None, description="a job file of fio below the suite's folder; keys beside it hold instead of its own"
    )
    section: str | list[str] | None = Field(
        None, description="of a jobfile: the section to run, or several; without it all of them"
    )
    ioengine: Annotated[str, BeforeValidator(_ioengine)] = Field("libaio", description="how I/O is issued")
    direct: bool = Field(True, description="past the page cache (O_DIRECT)")
    cached: bool = Field(
        False,
        description="with direct: false: the page cache is meant. What is read is brought into it before, "
        "and writes do not count their flush",
    )
    runtime: Duration | None = Field(None, gt=0, description="end after this time")
    ramp_time: Duration = Field(0.0, ge=0, description="time before figures are taken")
    startdelay: Duration = Field(0.0, ge=0, description="rest before the job starts")
    time_based: bool = Field(
        False, description="go on until runtime has passed, over the data again if need be"
    )
    group_reporting: bool = Field(True, description="let fio merge the figures of the jobs")
    clients: Annotated[int | list[int] | Literal["all"] | None, BeforeValidator(_clients)] = Field(
        None,
        description="how many of the device's `hosts` run it at once: a number, or all; a list makes a "
        "scaling curve in each repetition",
    )
    fio: dict[str, Annotated[Any, BeforeValidator(_pass_through)]] = Field(
        default_factory=dict, description="further options of fio, by fio's names"
    )


def normalise_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with their defaults, one spelling for one meaning; those of each job of a job file
    under `jobs`. Raises InputErrors of OptionError.
    """
    if isinstance(given.get("jobfile"), Attachment):
        if "mix" in given:
            refusal = "mix: a job file says itself who reads and who writes, each in a section; leave mix out"
            raise InputErrors([OptionError(refusal, ("mix",))])
        beside = {key: value for key, value in given.items() if key not in ("jobfile", "clients")}
        jobs = {"jobs": sections(given["jobfile"], beside, normalise_options)}
        asked = _asked_clients(given)
        return jobs if asked is None else {**jobs, "clients": asked}
    if isinstance(given.get("fio"), Mapping):
        given = {**given, "fio": dict(given["fio"])}
    try:
        options = check(FioOptions, dict(given))
    except InputErrors as errors:
        passed = given["fio"] if isinstance(given.get("fio"), Mapping) else {}
        refused = _refusals([key for key in passed if isinstance(key, str)])
        raise InputErrors([*map(_with_advice, errors.errors), *refused]) from None
    problems = [*_refusals(options.fio), *_contradictions(options)]
    if problems:
        raise InputErrors(problems)
    found = options.model_dump(exclude_none=True)
    for key in ("runtime", "ramp_time", "startdelay"):
        if key in found and found[key] == int(found[key]):
            found[key] = int(found[key])
    if options.rw.partition(":")[0] in MIXED and not options.mix:
        found.setdefault("rwmixread", 50)
    else:
        found.pop("rwmixread", None)
    if not options.cached:
        del found["cached"]
    if options.nrfiles == 1:
        del found["nrfiles"]
    found["fio"] = {**_page_cache(options), **found["fio"]}
    if not found["fio"]:
        del found["fio"]
    return found


def _asked_clients(given: Mapping[str, Any]) -> Any:
    """Return how many clients are to run a job file. Raises InputErrors of OptionError."""
    try:
        return _clients(given.get("clients"))
    except ValueError as error:
        raise InputErrors([OptionError(str(error), ("clients",))]) from None


def _page_cache(options: FioOptions) -> dict[str, str]:
    """Return what buffered I/O is given: the data to read where the page cache is meant, else the flush of
    what was written, without which the figures are those of memory.
    """
    if not _is_buffered(options):
        return {}
    kind = options.rw.partition(":")[0]
    if options.cached:
        return {"pre_read": "1"} if "read" in kind or kind in MIXED else {}
    return {"end_fsync": "1"} if "write" in kind or kind in MIXED else {}


def _is_buffered(options: FioOptions) -> bool:
    return not options.direct and options.ioengine in _THROUGH_PAGE_CACHE


def _with_advice(error: InputError) -> InputError:
    """Return the same error; where it is about an unknown key, with the way to give fio any option."""
    if not isinstance(error, OptionError) or not error.key or len(error.path) != 1:
        return error
    key = str(error.path[0])
    if key in _INSTEAD:
        message, remedy = f"{key!r} is said by {_INSTEAD[key]!r} here", error.remedy
    else:
        message, remedy = error.message, "options of fio that are not named here go under `fio:`"
    return OptionError(message, error.path, key=True, position=error.position, remedy=remedy)


def _refusals(passed: Iterable[str]) -> list[OptionError]:
    problems: list[OptionError] = []
    for key in passed:
        if len(problems) == MOST:
            break
        path = ("fio", key)
        rule = refusal(key)
        if not _KEY.fullmatch(key):
            problems.append(OptionError(f"{key!r} is not the name of an option of fio", path, key=True))
        elif key in _INSTEAD or key in FioOptions.model_fields:
            name = _INSTEAD.get(key, key)
            problems.append(
                OptionError(f"fio's {key!r} is said by {name!r} of the workload itself", path, key=True)
            )
        elif rule and not rule.allowable:
            problems.append(OptionError(f"fio's {key!r} is refused: {rule.reason}", path, key=True))
    return problems


def _mix_problems(options: FioOptions, mix: Mapping[str, int]) -> list[OptionError]:
    problems = []
    if options.rw not in MIXED:
        problems.append(OptionError("mix is of a mixed pattern: rw: randrw, or rw: rw", ("rw",)))
    if options.rwmixread is not None:
        problems.append(OptionError("rwmixread: mix says who reads and who writes", ("rwmixread",)))
    if options.nrfiles != 1:
        problems.append(OptionError("nrfiles: mix shares one file out", ("nrfiles",)))
    if options.numjobs != 1:
        problems.append(OptionError("numjobs: mix says how many jobs there are", ("numjobs",)))
    problems += [
        OptionError(f"fio's {key!r} is said by mix: each job has a region of its own", ("fio", key), key=True)
        for key in options.fio
        if key in ("offset", "offset_increment", "offset_align", "fileoffset")
    ]
    jobs, block = sum(mix.values()), max(block_sizes(options.bs))
    if not jobs:
        problems.append(OptionError("mix: no readers and no writers", ("mix",)))
    elif region(parse_size(options.size), mix) < block:
        message = f"mix: {options.size} for {jobs} jobs leave each less than one block of {options.bs}"
        problems.append(OptionError(message, ("mix",)))
    return problems


def _contradictions(options: FioOptions) -> list[OptionError]:
    problems = []
    if options.time_based and options.runtime is None:
        problems.append(OptionError("time_based needs runtime", ("time_based",)))
    if options.runtime is None:
        problems += [
            OptionError(f"{key} makes a job slower without an end in sight: add runtime", ("fio", key))
            for key in options.fio
            if key in _UNTIMED
        ]
    problems += mistakes(options.fio)
    problems += [
        OptionError(
            f"{key}: where a workload trims is drawn anew each time, as mixes of its size would find just "
            "those blocks empty: leave it out",
            ("fio", key),
            key=True,
        )
        for key in SEEDED
        if "trim" in options.rw and key in options.fio
    ]
    if share_before(options.fio, options.numjobs) >= 1:
        key = "offset_increment" if "offset_increment" in options.fio else "offset"
        message = f"{key}: the last job would begin where the data end, or behind that"
        problems.append(OptionError(message, ("fio", key), key=True))
    if options.ioengine == "nbd" and "uri" not in options.fio:
        problems.append(OptionError("ioengine nbd needs its uri, under fio", ("ioengine",)))
    if options.direct and options.cached:
        problems.append(OptionError("cached: true is the page cache, direct: true goes past it", ("cached",)))
    if _is_buffered(options) and not options.cached and options.fio.get("end_fsync", "1") != "1":
        message = "end_fsync: buffered writes count their flush; if the page cache is meant, say cached: true"
        problems.append(OptionError(message, ("fio", "end_fsync"), key=True))
    if options.jobfile is not None:
        problems.append(OptionError("jobfile is for suites: it is a path below their folder", ("jobfile",)))
    if options.section is not None:
        problems.append(OptionError("section is one of a jobfile, which is not here", ("section",)))
    if options.mix:
        problems += _mix_problems(options, options.mix.model_dump())
    if options.direct and options.ioengine not in ELSEWHERE:
        problems += [
            OptionError(
                f"bs: direct I/O takes multiples of a sector, at least {_SECTOR} bytes, not {size}", ("bs",)
            )
            for size in block_sizes(options.bs)
            if size % _SECTOR
        ]
    if max(block_sizes(options.bs)) > parse_size(options.size) // options.nrfiles:
        each = "" if options.nrfiles == 1 else f" for each of {options.nrfiles} files"
        message = f"size: {options.size} is less than one block of {options.bs}{each}"
        problems.append(OptionError(message, ("size",)))
    return problems
