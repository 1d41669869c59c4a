"""fio's outputs that exist already, in JSON or text, alone or within other text.

The text's parser is imported when it is needed: no run needs it, and it has much to compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType

from iogate.engines.fio import json_reader, output
from iogate.engines.sections import Description, Section
from iogate.errors import OutputError
from iogate.host.process import Completed
from iogate.model import Output, Part
from iogate.units import plural


def recognises(text: str) -> bool:
    """Return whether a text has marks that only fio's output has, be it cut, damaged, or amid others."""
    return json_reader.recognises(text) or _recognises_text(text)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the runs in a text, each with the number of its first line (from 1)."""
    from iogate.engines.fio import runs

    return runs.blocks(text)


def parse(text: str, *, name: str, completed: Completed | None = None) -> Output:
    """Return the metrics of a run, all its jobs together. Raises OutputError; ApartError for jobs that are
    sound and do not add up.
    """
    if completed is None and _is_text(text):
        found: Output = _text().whole(text, name=name)
        return found
    return output.parse(text, name=name, completed=completed)


def parts(text: str, *, name: str) -> list[Part]:
    """Return the sound jobs of a run, numbered where a name comes again. Raises OutputError if none is."""
    found = _text().read(text, name=name).parts if _is_text(text) else output.parts(text, name=name)
    return _with_unique_names(found)


def sections(text: str, *, name: str) -> list[Section]:
    """Return what a run consists of: of JSON all jobs together, or each if they do not add up; of text each
    job or group. Raises OutputError.
    """
    found = parts(text, name=name)
    if _is_text(text):
        return [
            Section(f"fio text, {part.name} ({_count(part.output.jobs)})", part.name, part.output, part.line)
            for part in found
        ]
    try:
        whole = output.parse(text, name=name)
    except OutputError:
        return [Section(f"fio JSON, {part.name}", part.name, part.output, part.line) for part in found]
    label = found[0].name if len(found) == 1 else "all jobs"
    return [Section(f"fio JSON, {label}", label, whole, found[0].line)]


def descriptions(lines: Sequence[str]) -> list[Description]:
    """Return all job files and command lines of fio in a text."""
    from iogate.engines.fio import descriptions as described

    return described.descriptions(lines)


def _count(jobs: int) -> str:
    return plural(jobs, "job")


def _is_text(text: str) -> bool:
    """Return whether this is fio's text for people, perhaps within other text."""
    return not json_reader.is_json(text) and _recognises_text(text)


def _recognises_text(text: str) -> bool:
    from iogate.engines.fio import runs

    return runs.recognises(text)


def _text() -> ModuleType:
    from iogate.engines.fio import text

    return text


def _with_unique_names(parts: Sequence[Part]) -> list[Part]:
    taken: set[str] = set()
    last: dict[str, int] = {}
    found = []
    for part in parts:
        label, count = part.name, last.get(part.name, 1)
        while label in taken:
            count += 1
            label = f"{part.name} #{count}"
        last[part.name] = count
        taken.add(label)
        found.append(replace(part, name=label))
    return found
