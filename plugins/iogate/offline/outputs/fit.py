"""Whether an output can be one of a workload: by the options that it states, and by what was done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from iogate import engines
from iogate.model import Workload
from iogate.offline.outputs.jobs import OutputJob
from iogate.units import parse_size, printable

_MIX = 5  # per cent by which the share of reads may miss what was asked for


def contradictions(job: OutputJob, workload: Workload) -> list[str]:
    """Return how the options that an output states contradict those of a workload; empty if they fit.

    What the output does not state contradicts nothing.
    """
    flags = flags_of(job.engine)
    declared, said = _flat(workload.options, workload.engine), _flat(job.options, job.engine)
    found = [
        f"{key} is {_show(said[key])}, and {_show(declared[key]) if key in declared else 'not given'} in "
        f"{workload.name}"
        for key in said
        if (key in declared or job.whole) and not _same(said[key], declared.get(key))
    ]
    found += [
        f"{key} is not given, and {_show(declared[key])} in {workload.name}"
        for key in declared
        if job.whole and key not in said and key not in ("size", *flags) and declared[key] not in ("", False)
    ]
    return [printable(text) for text in (*found, *_done_otherwise(job, workload))]


def runs_several(workload: Workload) -> bool:
    """Return whether a workload is several sections of a job file at once, whose output is not of one job."""
    return len(_sections(workload.options)) > 1


def flags_of(engine: str) -> frozenset[str]:
    """Return the options that outputs of an engine may leave out although they were given.

    Of an engine that is not known here, as of one whose package is not installed, none are known.
    """
    if engine not in engines.names():
        return frozenset()
    known = engines.load(engine)
    return known.flags if isinstance(known, engines.StatesOptions) else frozenset()


def _done_otherwise(job: OutputJob, workload: Workload) -> Iterator[str]:
    """Yield how what was done contradicts a workload, whatever the output states."""
    declared, done = _flat(workload.options, workload.engine), job.output.traffic
    limit, share = declared.get("runtime"), declared.get("rwmixread")
    longest = max((traffic.seconds for traffic in done.values()), default=0.0)
    if isinstance(limit, (int, float)) and longest > 1.1 * limit + 1:
        yield f"runtime was {longest:.0f} s, and is {limit} s in {workload.name}"
    needs = engines.load(workload.engine).needs(workload)
    if "read" in done and not needs.reads and "verify" not in declared:
        yield f"it read, and {workload.name} does not"
    if not {"write", "trim"}.isdisjoint(done) and not needs.writes:
        yield f"it wrote, and {workload.name} does not"
    if isinstance(share, int) and {"read", "write"} <= set(done):
        reads, writes = done["read"].operations, done["write"].operations
        found = 100 * reads / (reads + writes)
        if abs(found - share) > _MIX:
            yield f"{found:.0f}% of it were reads, and rwmixread is {share} in {workload.name}"


def unstated_options(job: OutputJob, workload: Workload) -> list[str]:
    """Return the options of a workload of which an output says nothing."""
    said = _flat(job.options, job.engine)
    return [
        key
        for key in _flat(workload.options, workload.engine)
        if key not in said and (not job.whole or key == "size")
    ]


def _sections(options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the options of each section of the job file that a workload is made of; none of another one."""
    found = options.get("jobs")
    return list(found.values()) if isinstance(found, Mapping) else []


def _flat(options: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """Return options by name, those passed through to the engine beside the others, and those of the only
    section of a job file as those of any workload; without those that only say what is reported.
    """
    found: dict[str, Any] = {}
    if len(sections := _sections(options)) == 1:
        options = {**{key: value for key, value in options.items() if key != "jobs"}, **sections[0]}
    for key, value in options.items():
        found.update(value if isinstance(value, Mapping) else {key: value})
    known = engines.load(engine)
    return known.effective(found) if isinstance(known, engines.StatesOptions) else found


def _same(stated: Any, declared: Any) -> bool:
    if declared is None:
        return not stated and isinstance(stated, (bool, int, float))
    return bool(_canonical(stated) == _canonical(declared))


def _canonical(value: Any) -> Any:
    """Return a value apart from its spelling: sizes in bytes, truths as numbers."""
    try:
        return parse_size(int(value) if isinstance(value, bool) else value)
    except ValueError:
        return str(value).lower()


def _show(value: Any) -> str:
    return ("1" if value else "0") if isinstance(value, bool) else str(value)
