"""fio's job files as workloads: `jobfile: x.fio`, each section a job, `[global]` honoured.

The format: fio(1), JOB FILE FORMAT. fio's own defaults hold for what a file leaves out (buffered, psync).
What a workload may not say, a job file may not either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.attachment import Attachment
from iogate.units import printable

_DEFAULTS: Mapping[str, Any] = {"rw": "read", "ioengine": "psync", "direct": False}
_FIELDS = frozenset(
    {
        *(
            "rw",
            "size",
            "bs",
            "iodepth",
            "numjobs",
            "rwmixread",
            "ioengine",
            "direct",
            "runtime",
            "ramp_time",
        ),
        *("startdelay", "time_based", "group_reporting"),
    }
)
_ALIASES = {"readwrite": "rw", "blocksize": "bs", "timeout": "runtime", "start_delay": "startdelay"}
_COUNTS = frozenset({"iodepth", "numjobs", "rwmixread"})
_SWITCHES = frozenset({"direct", "time_based", "group_reporting"})
_TRUTHS = {"": True, "1": True, "true": True, "0": False, "false": False}
_SECTION = re.compile(r"\[(.+)\]")
_MOST_SECTIONS = 256

SectionOptions = dict[str, Any]
Normalise = Callable[[Mapping[str, Any]], SectionOptions]


def sections(
    file: Attachment, replaced: Mapping[str, Any], normalise: Normalise
) -> dict[str, SectionOptions]:
    """Return the options of each section, checked by `normalise` as those of any workload; `replaced` are the
    keys beside `jobfile`, which hold instead of the file's.

    Raises InputErrors of OptionError at `jobfile`, whose messages name the line of the job file: all that is
    wrong with it at once.
    """
    mistakes: list[InputError] = []
    shared: dict[str, tuple[int, str]] = {}
    found: dict[str, dict[str, tuple[int, str]]] = {}
    current: dict[str, tuple[int, str]] | None = None
    for number, raw in enumerate(file.text.splitlines(), 1):
        line = re.split(r"[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if match := _SECTION.fullmatch(line):
            name = match[1].strip()
            if name == "global":
                current = shared
            elif name in found:
                problem = f"a second section {name!r}: give each a name of its own"
                mistakes.append(_error(file, number, problem))
                current = {}
            else:
                current = found[name] = dict(shared)  # [global] holds for what follows it
            continue
        if current is None:
            mistakes.append(_error(file, number, f"{line[:80]!r} stands before the first [section]"))
            continue
        key, _, value = line.partition("=")
        current[key.strip().lower()] = number, value.strip()
    if not found or len(found) > _MOST_SECTIONS:
        problem = f"{len(found) or 'no'} sections: a job file has 1 to {_MOST_SECTIONS}"
        mistakes.append(_error(file, 1, problem))
        raise InputErrors(mistakes)
    jobs: dict[str, SectionOptions] = {}
    for name, lines in found.items():
        try:
            jobs[name] = _normal(file, lines, replaced, normalise)
        except InputErrors as errors:
            mistakes += errors.errors
    if mistakes:
        raise InputErrors(list({str(error): error for error in mistakes}.values()))  # [global]'s once
    return jobs


def _normal(
    file: Attachment, lines: Mapping[str, tuple[int, str]], replaced: Mapping[str, Any], normalise: Normalise
) -> SectionOptions:
    given: SectionOptions = dict(_DEFAULTS)
    passed: dict[str, str] = {}
    where: dict[str, int] = {}
    mistakes: list[InputError] = []
    for key, (number, text) in lines.items():
        try:
            name, value = _option(file, number, key, text)
        except OptionError as error:
            mistakes.append(error)
            continue
        where[name] = number
        if name in _FIELDS:
            given[name] = value
        else:
            passed[name] = value
    both = replaced.get("fio", {})
    if passed or both:
        given["fio"] = {**passed, **(both if isinstance(both, Mapping) else {})}
    try:
        options = normalise({**given, **{key: value for key, value in replaced.items() if key != "fio"}})
    except InputErrors as errors:
        mistakes += [_locate(error, file, where, replaced) for error in errors.errors]
    if mistakes:
        raise InputErrors(mistakes)
    return options


def _option(file: Attachment, number: int, key: str, text: str) -> tuple[str, Any]:
    """Return an option by the name and in the type that a workload says it in."""
    name = _ALIASES.get(key, key)
    if name == "buffered":
        name, text = "direct", str(int(not _truth(file, number, key, text)))
    elif name == "rwmixwrite" and text.isdecimal():
        name, text = "rwmixread", str(100 - int(text))
    if name in _SWITCHES:
        return name, _truth(file, number, key, text)
    if name in _COUNTS and text.isdecimal():
        return name, int(text)
    return name, text


def _truth(file: Attachment, number: int, key: str, text: str) -> bool:
    value = _TRUTHS.get(text.lower())
    if value is None:
        raise _error(file, number, f"{key}: {text[:40]!r} is neither 1 nor 0")
    return value


def _error(file: Attachment, number: int, message: str) -> OptionError:
    return OptionError(printable(f"{file.name}:{number}: {message}"), ("jobfile",))


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
