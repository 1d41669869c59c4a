"""Files of engine outputs as text, and the engines that understand the runs in it."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from iogate import engines
from iogate.engines import ReadsReports, TellsJobsApart
from iogate.errors import ApartError, OutputError, Position
from iogate.formats.reading import read_input
from iogate.model import Output, Part
from iogate.units import printable

LARGEST = 256 * 2**20
_ENCODINGS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_SAMPLE = 4096


@dataclass(frozen=True)
class Understood:
    """A run as its engine understands it: the jobs that it tells apart (`parts`), and all of them together
    (`whole`; None if they do not add up, for the reason `apart`).

    It begins at `line` of its file. `refused` says why it must not be judged as a whole; `parts` are then the
    jobs that are sound all the same.
    """

    engine: str
    parts: tuple[Part, ...]
    whole: Output | None
    apart: str = ""
    line: int = 1
    refused: OutputError | None = None


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes. Raises InputError if it cannot be read, or is larger than any output."""
    return read_input(path, LARGEST)


def text_of(data: bytes) -> str:
    """Return the text of a file, whatever is in it: UTF-8, or UTF-16 as PowerShell writes it.

    NULs, which a file has where it was truncated while somebody wrote to it, are left out.
    """
    text = data.decode(_encoding(data), errors="replace")
    for old, new in (("\ufeff", ""), ("\0", ""), ("\r\n", "\n")):
        text = text.replace(old, new)
    return text


def _encoding(data: bytes) -> str:
    """Return UTF-16 if a file begins with its mark, or has the zero bytes of ASCII in it; else UTF-8."""
    for mark, encoding in _ENCODINGS:
        if data.startswith(mark):
            return encoding
    sample = data[:_SAMPLE]
    even, odd = sample[::2], sample[1::2]
    if even and odd.count(0) > 0.9 * len(odd) and even.count(0) < 0.1 * len(even):
        return "utf-16-le"
    if odd and even.count(0) > 0.9 * len(even) and odd.count(0) < 0.1 * len(odd):
        return "utf-16-be"
    return "utf-8"


def understood(text: str, name: str) -> list[Understood]:
    """Return what each engine whose marks a text has makes of the runs in it; `name` is what messages call
    it.

    Raises OutputError for a text that is no engine's output, and for one with a run that its engine refuses.
    """
    found = []
    for run in runs(text, name):
        if run.refused:
            raise run.refused
        found.append(run)
    return found


def runs(text: str, name: str) -> Iterator[Understood]:
    """Yield the runs in a text one by one, refused ones too. Raises OutputError for a text without any."""
    found = engines.recognise(text)
    if not found:
        what = "is empty" if not text.strip() else "is no output of an engine that is known here"
        known = ", ".join(engines.names())
        raise OutputError(printable(f"{name}: {what}"), remedy=f"outputs of these can be read: {known}")
    for engine in found:
        for line, block in blocks(engine, text):
            yield understood_by(engine, block, name, line)


def blocks(engine: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the runs of an engine in a text, each with the number of its first line; at least one."""
    known = engines.load(engine)
    some = False
    for line, block in known.blocks(text) if isinstance(known, ReadsReports) else ():
        some = True
        yield line, block
    if not some:
        yield 1, text


def understood_by(name_of_engine: str, text: str, name: str, line: int = 1) -> Understood:
    """Return what an engine makes of a run that begins at a line of the file `name`."""
    engine = engines.load(name_of_engine)
    parts: tuple[Part, ...] = ()
    try:
        if isinstance(engine, TellsJobsApart):
            found = engine.parts(text, name=name)
            parts = tuple(replace(part, line=part.line + line - 1) for part in found)
        return Understood(name_of_engine, parts, engine.parse(text, name=name), line=line)
    except ApartError as error:
        return Understood(name_of_engine, parts, None, str(error), line)
    except OutputError as error:
        return Understood(name_of_engine, parts, None, line=line, refused=locate_run(error, name, line))


def locate_run(error: OutputError, name: str, line: int) -> OutputError:
    """Give an error about a run that begins at a line its place in the file."""
    position = error.below(line - 1).position or (Position(name, line) if line > 1 else None)
    message = error.message.removeprefix(f"{name}: ") if position else error.message
    return OutputError(message, position=position, remedy=error.remedy)
