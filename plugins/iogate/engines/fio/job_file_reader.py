"""fio's job files as workloads: `jobfile: x.fio`, each section a job, `[global]` honoured.

fio's own defaults hold for what a file leaves out (buffered, psync). What a workload may not say, a job file
may not either, but for what says where a job works and what it reports: that is left out, and told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from iogate.engines.fio.job_file_sections import (
    MOST_MISTAKES,
    JobSection,
    Option,
    choose,
    error_at,
    phases,
    substitute,
)
from iogate.engines.fio.jobs import SPLITS
from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.attachment import Attachment
from iogate.units import parse_size, printable

_DEFAULTS: Mapping[str, Any] = {"rw": "read", "ioengine": "psync", "direct": False}
_FIELDS = frozenset(
    {
        *("rw", "size", "bs", "iodepth", "numjobs", "rwmixread", "ioengine", "direct", "nrfiles"),
        *("runtime", "ramp_time", "startdelay", "time_based", "group_reporting"),
    }
)
_ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "timeout": "runtime", "start_delay": "startdelay",
    "nr_files": "nrfiles",
}  # fmt: skip
_MOST_NOTES, _LONGEST_NOTED = 20, 80
_COUNTS = frozenset({"iodepth", "numjobs", "rwmixread", "nrfiles"})
_SWITCHES = frozenset({"direct", "time_based", "group_reporting"})
_TRUTHS = {"": True, "1": True, "true": True, "0": False, "false": False}
_OF_THE_DATA = frozenset({"size", "io_size", "io_limit", "offset", "offset_increment"})
"""What may be a share of the data: `size=100%`."""
_OF_ONE_THING = (
    frozenset({"bs", *SPLITS}),
    frozenset({"io_size", "io_limit"}),
    frozenset({"offset", "fileoffset"}),
)
"""Options that say the same thing in several ways."""
_SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?)%")
_STEP = 4096
_SAY_SIZE = "say beside jobfile how much there is: size: 4G, or --io-size=4G"
_LEFT_OUT: Mapping[str, str] = {
    "filename": "what is read and written is the target's",
    "directory": "what is read and written is the target's",
    "allow_file_create": "the data are laid out before",
    "unlink": "the data are removed at the end of the session",
    "name": "a workload is called as the suite says",
    "description": "",
    **dict.fromkeys(("write_*_log", "log_*", "per_job_logs"), "iogate keeps bandwidth and latencies itself"),
}
"""What a job file may say without effect, as shell patterns, each with the reason that is told."""

SectionOptions = dict[str, Any]
Normalise = Callable[[Mapping[str, Any]], SectionOptions]


def sections(
    file: Attachment, replaced: Mapping[str, Any], normalise: Normalise
) -> dict[str, SectionOptions]:
    """Return the options of each section, checked by `normalise` as those of any workload; `replaced` are the
    keys beside `jobfile`, which hold instead of the file's, but for those that yield to it. A `section` among
    them chooses some sections.

    Raises InputErrors of OptionError at `jobfile`, whose messages name the line of the job file.
    """
    replaced, wanted = dict(replaced), _wanted(replaced)
    replaced.pop("section", None)
    found: dict[str, SectionOptions] = {}
    chosen, mistakes = choose(file, wanted)
    for section in chosen:
        try:
            found[section.name] = _normal(file, section, replaced, normalise)
        except InputErrors as errors:
            mistakes += errors.errors
        if len(mistakes) > MOST_MISTAKES:
            break
    if mistakes:
        raise InputErrors(list({str(mistake): mistake for mistake in mistakes}.values()))
    return found


def declared_phases(file: Attachment, beside: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the workloads that a job file stands for, each with its label and the keys that make it: those
    parts of it that `stonewall` keeps apart, as rates of jobs that ran one after another do not add up.

    Raises InputErrors of OptionError.
    """
    parts = phases(choose(file, _wanted(beside))[0])
    if len(parts) == 1:
        return [("", {})]
    return [("+".join(names), {"section": names}) for names in parts]


def left_out(file: Attachment, beside: Mapping[str, Any]) -> list[str]:
    """Return what the chosen sections say without effect, with the reason, for people: the first of them, as
    each workload of a matrix has all.
    """
    found: dict[str, None] = {}
    for section in choose(file, _wanted(beside))[0]:
        for key, option in section.options.items():
            reason = _reason(key)
            if reason:
                said = f"{key}={option.text}" if option.text else key
                said = said if len(said) <= _LONGEST_NOTED else f"{said[:_LONGEST_NOTED]}..."
                found[printable(f"{file.name}:{option.line}: {said} has no effect here: {reason}")] = None
    more = len(found) - _MOST_NOTES
    return [*list(found)[:_MOST_NOTES], *([f"{file.name}: and {more} more like these"] if more > 0 else [])]


def _reason(key: str) -> str | None:
    """Return why an option is left out; None if it is not."""
    found = (reason for pattern, reason in _LEFT_OUT.items() if fnmatchcase(key, pattern))
    return next(found, None)


def _wanted(beside: Mapping[str, Any]) -> Sequence[str] | None:
    """Return the sections that `section` names; None without it. Raises InputErrors of OptionError."""
    given = beside.get("section")
    names = [given] if isinstance(given, str) else given
    if names is None:
        return None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        message = "section: the name of a section of the job file, or a list of such names"
        raise InputErrors([OptionError(message, ("section",))])
    return names


def _normal(
    file: Attachment, section: JobSection, replaced: Mapping[str, Any], normalise: Normalise
) -> SectionOptions:
    given: SectionOptions = dict(_DEFAULTS)
    passed: dict[str, str] = {}
    where: dict[str, int] = {}
    mistakes: list[InputError] = []
    replaced = _insisting(file, section, replaced)
    data = _data_size(file, section, replaced)
    for key, option in section.options.items():
        if len(mistakes) > MOST_MISTAKES:
            break
        name, share = _name(key), _share(file, key, option)
        if _reason(key) is not None or (name in replaced and share is None):
            continue
        if name in SPLITS and "bs" in replaced:  # by which fio would pass over it
            continue
        where[name] = option.line
        if share is not None:
            replaced = {each: said for each, said in replaced.items() if each != name}
        try:
            part = share is not None
            value = _part(file, key, option, share or 0.0, data) if part else _value(file, key, option)
        except InputErrors as errors:
            mistakes += errors.errors
            continue
        (given if name in _FIELDS else passed)[name] = value
    several = section.options.get("filename", Option(0, "")).text
    if names := len(re.findall(r"(?<!\\):", several)):
        given["nrfiles"] = names + 1
    if "size" not in {**given, **replaced}:
        message = f"{file.name}: [{section.name}] has no size"
        mistakes.append(OptionError(printable(message), ("jobfile",), remedy=_SAY_SIZE))
        given["size"] = "1G"  # so that what else is wrong can be found
    both = replaced.get("fio", {})
    if passed or both:
        given["fio"] = {**passed, **(both if isinstance(both, Mapping) else {})}
    try:
        found = normalise({**given, **{key: value for key, value in replaced.items() if key != "fio"}})
    except InputErrors as errors:
        mistakes += [_locate(error, file, where, replaced) for error in errors.errors]
    if mistakes:
        raise InputErrors(mistakes)
    return found


def _insisting(file: Attachment, section: JobSection, replaced: Mapping[str, Any]) -> dict[str, Any]:
    """Return what holds whatever a section says: not what yields to it. A share of the data (`size=100%`)
    says nothing else than how much there are.
    """
    said = {_name(key) for key, option in section.options.items() if _share(file, key, option) is None}
    yielding = file.yielding & said.union(*(names for names in _OF_ONE_THING if said & names))
    found = {key: value for key, value in replaced.items() if key not in yielding}
    if isinstance(both := found.get("fio"), Mapping):
        found["fio"] = {key: value for key, value in both.items() if key not in yielding}
    return found


def _name(key: str) -> str:
    """Return the name that a workload has for an option."""
    return {"buffered": "direct", "rwmixwrite": "rwmixread"}.get(key, _ALIASES.get(key, key))


def _value(file: Attachment, key: str, option: Option) -> Any:
    """Return the value of an option in the type that a workload says it in."""
    name, text = _name(key), substitute(file, option)
    if name in _SWITCHES:
        value = _TRUTHS.get(text.lower())
        if value is None:
            raise error_at(file, option.line, f"{key}: {text[:40]!r} is neither 1 nor 0")
        return value != (key == "buffered")
    if name in _COUNTS and text.isdecimal():
        return 100 - int(text) if key == "rwmixwrite" else int(text)
    return text


def _share(file: Attachment, key: str, option: Option) -> float | None:
    """Return the per cent of the data that an option says; None if it says something else."""
    match = _SHARE.fullmatch(substitute(file, option, strict=False)) if key in _OF_THE_DATA else None
    return float(match[1]) if match else None


def _part(file: Attachment, key: str, option: Option, share: float, data: int | None) -> str:
    """Return bytes of a share of the data. Raises InputErrors where nobody says how much there are."""
    if data is None:
        message = f"{key}: {share:g}% of the data, but nobody says how much there are"
        raise error_at(file, option.line, message, _SAY_SIZE)
    return str(data if share == 100 else int(data * share / 100) // _STEP * _STEP)


def _data_size(file: Attachment, section: JobSection, replaced: Mapping[str, Any]) -> int | None:
    """Return how much data there are: what is said beside the job file, else in its section."""
    own = section.options.get("size")
    text = replaced.get("size", substitute(file, own, strict=False) if own else None)
    try:
        return None if text is None else parse_size(text)
    except ValueError:
        return None


def _locate(
    error: Exception, file: Attachment, where: Mapping[str, int], replaced: Mapping[str, Any]
) -> OptionError:
    """Return the same error at the line of the job file, or at the key beside it."""
    assert isinstance(error, OptionError)
    key = str(error.path[-1] if error.path[:1] == ("fio",) else error.path[0]) if error.path else ""
    if key in replaced:
        return error
    line = f":{where[key]}" if key in where else ""
    return OptionError(printable(f"{file.name}{line}: {error.message}"), ("jobfile",), remedy=error.remedy)
