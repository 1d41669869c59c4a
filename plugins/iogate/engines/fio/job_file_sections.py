"""The sections of fio's job files as they stand there: which there are, and which run side by side.

The format: fio(1), JOB FILE FORMAT. `[global]`, or whatever begins so, holds for the sections behind it,
`stonewall` waits for those before. `${NAME}` is a variable of the suite, never of the environment.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iogate.engines.fio.jobs import GLOBAL, LONGEST_LINE
from iogate.errors import InputError, InputErrors, OptionError
from iogate.formats.attachment import Attachment
from iogate.formats.words import nearest
from iogate.units import printable, some_of

_SECTION = re.compile(r"\[(.+)\]")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAMED = 10
MOST_MISTAKES = 100
"""After which a job file is read no further: nobody makes so many."""
_MOST_SECTIONS = 256
_MOST_OPTIONS = 1000  # fio has some 200
_WALLS = frozenset({"stonewall", "wait_for_previous"})


class Option(NamedTuple):
    """The text of an option, and the line that it stands in."""

    line: int
    text: str


@dataclass(frozen=True)
class JobSection:
    """A section with all options that hold for it, `walled` if it waits for those before it."""

    name: str
    options: Mapping[str, Option]
    walled: bool


def read_sections(file: Attachment) -> tuple[list[JobSection], list[InputError]]:
    """Return all sections of a job file, and mistakes in how it is parted, at `jobfile`."""
    sections, mistakes = _parted(file.name, file.text)
    return list(sections), list(mistakes)


@functools.lru_cache(maxsize=64)  # many workloads may name one file, and a matrix many of them
def _parted(name: str, text: str) -> tuple[list[JobSection], list[InputError]]:
    file = Attachment(name, text)
    mistakes: list[InputError] = []
    shared: dict[str, Option] = {}
    found: dict[str, dict[str, Option]] = {}
    current: dict[str, Option] | None = None
    for number, raw in enumerate(re.split("\r?\n", text), 1):
        if len(mistakes) > MOST_MISTAKES:
            raise InputErrors(mistakes)
        if len(raw.encode(errors="replace")) > LONGEST_LINE or "\0" in raw:
            why = "a NUL ends it" if "\0" in raw else f"more than {LONGEST_LINE} bytes"
            mistakes += error_at(file, number, f"fio does not read this line whole: {why}").errors
            continue
        line = re.split(r"[;#]", raw, maxsplit=1)[0].strip()
        if not line:
            continue
        if match := _SECTION.fullmatch(line):
            section = match[1].strip()
            if section.startswith(GLOBAL):
                current = shared
            elif section in found:
                problem = f"a second section {section!r}: give each a name of its own"
                mistakes += error_at(file, number, problem).errors
                current = {}
            else:
                current = found[section] = dict(shared)
            if len(found) > _MOST_SECTIONS:  # at once: each has a copy of what holds for all
                problem = f"more sections: a job file has 1 to {_MOST_SECTIONS}; split it into several files"
                raise InputErrors([*mistakes, *error_at(file, number, problem).errors])
            continue
        if current is None:
            problem = f"{line[:80]!r} stands before the first [section]"
            mistakes += error_at(file, number, problem).errors
            continue
        key, _, value = line.partition("=")
        current[key.strip().lower()] = Option(number, value.strip())
        if len(current) > _MOST_OPTIONS:
            problem = f"more options of one section: there are at most {_MOST_OPTIONS}"
            raise InputErrors([*mistakes, *error_at(file, number, problem).errors])
    if not found:
        problem = f"no sections: a job file has 1 to {_MOST_SECTIONS}"
        raise InputErrors([*mistakes, *error_at(file, 1, problem).errors])
    return [_section(section, options) for section, options in found.items()], mistakes


def choose(file: Attachment, names: Sequence[str] | None) -> tuple[list[JobSection], list[InputError]]:
    """Return the sections of these names in the file's order, or all; and what is wrong with how the file is
    parted. Raises InputErrors of OptionError.
    """
    sections, mistakes = read_sections(file)
    known = [section.name for section in sections]
    for name in names or ():
        if name not in known:
            hint = nearest(name, known) or f"; there are {', '.join(known)}"
            message = printable(f"{file.name} has no section {name!r}{hint}")
            raise InputErrors([OptionError(message, ("section",))])
    return [section for section in sections if names is None or section.name in names], mistakes


def phases(sections: Iterable[JobSection]) -> list[list[str]]:
    """Return the names of the sections that run side by side, in the order in which fio runs them."""
    found: list[list[str]] = []
    for section in sections:
        if section.walled or not found:
            found.append([])
        found[-1].append(section.name)
    return found


def substitute(file: Attachment, option: Option, *, strict: bool = True) -> str:
    """Return the text of an option with the suite's variables in it.

    Raises InputErrors of OptionError for one that has no value; it stays as it is unless `strict`.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] in file.variables or not strict:
            return file.variables.get(match[1], match[0])
        known = some_of(sorted(file.variables), _NAMED)
        raise error_at(
            file,
            option.line,
            f"the variable {match[0]!r} has no value{nearest(match[1], file.variables)}",
            f"say it in `variables:` of the suite{', which has ' + known if known else ''}; "
            "the environment is not asked",
        )

    length = len(option.text)
    for match in _VARIABLE.finditer(option.text):
        length += len(file.variables.get(match[1], ""))
        if length > LONGEST_LINE:
            problem = f"with its variables this line is longer than {LONGEST_LINE} characters"
            raise error_at(file, option.line, problem)
    return _VARIABLE.sub(value, option.text)


def error_at(file: Attachment, line: int, message: str, remedy: str = "") -> InputErrors:
    """Return a mistake in a line of a job file, as one of the key `jobfile`."""
    text = printable(f"{file.name}:{line}: {message}")
    return InputErrors([OptionError(text, ("jobfile",), remedy=printable(remedy))])


def _section(name: str, options: Mapping[str, Option]) -> JobSection:
    walled = any(key in options and options[key].text != "0" for key in _WALLS)
    own = {key: option for key, option in options.items() if key not in _WALLS}
    return JobSection(name, own, walled)
