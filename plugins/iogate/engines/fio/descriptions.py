"""What a text says of how its figures were made: fio's job files and command lines in it."""

from __future__ import annotations

import re
import shlex
from collections import ChainMap
from collections.abc import MutableMapping, Sequence

from iogate.engines.fio.jobs import GLOBAL
from iogate.engines.sections import DescribedJob, Description

_SECTION = re.compile(r"\[([\w .-]+)\]")
_OPTION = re.compile(r"[a-z][a-z0-9_-]*")
_COMMAND = re.compile(r"\s*(?:[$#]\s*)?(sudo )?fio\s+--?[a-z]")
_VALUELESS = frozenset({"time_based", "group_reporting", "stonewall", "thread"})


def descriptions(lines: Sequence[str]) -> list[Description]:
    """Return all job files and command lines of fio in a text."""
    return [*_job_files(lines), *_command_lines(lines)]


def _job_files(lines: Sequence[str]) -> list[Description]:
    found: list[Description] = []
    sections: list[DescribedJob] = []
    shared: MutableMapping[str, str] = {}
    options: MutableMapping[str, str] | None = None

    def close() -> None:
        nonlocal shared, options
        jobs = tuple(
            DescribedJob(job.line, job.options.get("name", job.name), job.options) for job in sections
        )
        if any("rw" in job.options for job in jobs):
            found.append(Description(jobs))
        sections.clear()
        shared, options = {}, None

    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        section = _SECTION.match(text)
        name, given, value = text.partition(";")[0].partition("=")
        name = name.rstrip()
        if section and (len(section[0]) == len(text) or text[len(section[0]) :].lstrip().startswith(";")):
            if section[1].startswith(GLOBAL):
                options = shared = {}
            else:
                options = ChainMap({}, shared)  # a copy for each would be as large as both multiplied
                sections.append(DescribedJob(number, section[1], options))
        elif options is not None and _OPTION.fullmatch(name) and (given or name in _VALUELESS):
            options[name] = value.strip()
        elif options is not None and not text.startswith((";", "#")):
            close()
    close()
    return found


def _command_lines(lines: Sequence[str]) -> list[Description]:
    found = []
    for number, line in enumerate(lines, 1):
        if "fio" not in line or not _COMMAND.match(line):
            continue
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        pairs = [word.lstrip("-").partition("=") for word in words if word.startswith("-")]
        options = {key: value for key, _, value in pairs}  # fio takes one dash for two
        if "rw" in options:
            found.append(Description((DescribedJob(number, options.get("name", "fio"), options),)))
    return found
