"""Files of engine outputs as text, and the engines that understand it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iogate import engines
from iogate.engines import TellsJobsApart
from iogate.errors import InputError, OutputError
from iogate.model import Output, Part
from iogate.units import printable

LARGEST = 256 * 2**20


@dataclass(frozen=True)
class Understood:
    """An output as its engine understands it: the jobs that it tells apart (`parts`), and all of them
    together (`whole`; None if they do not add up, for the reason `apart`).
    """

    engine: str
    parts: tuple[Part, ...]
    whole: Output | None
    apart: str = ""


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes. Raises InputError if it cannot be read, or is larger than any output."""
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise InputError(f"{path}: is larger than {LARGEST >> 20} MiB")
    return data


def text_of(data: bytes) -> str:
    """Return the text of a file, whatever is in it."""
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def understood(text: str, name: str) -> list[Understood]:
    """Return what each engine whose marks a text has makes of it; `name` is what messages call it.

    Raises OutputError for a text that is no engine's output, and for one that its engine refuses.
    """
    found = engines.recognise(text)
    if not found:
        what = "is empty" if not text.strip() else "is no output of an engine that is known here"
        known = ", ".join(engines.names())
        raise OutputError(printable(f"{name}: {what}"), remedy=f"outputs of these can be read: {known}")
    return [understood_by(engine, text, name) for engine in found]


def understood_by(name_of_engine: str, text: str, name: str) -> Understood:
    """Return what an engine makes of a text. Raises OutputError if it refuses it."""
    engine = engines.load(name_of_engine)
    parts = tuple(engine.parts(text, name=name)) if isinstance(engine, TellsJobsApart) else ()
    try:
        return Understood(name_of_engine, parts, engine.parse(text, name=name))
    except OutputError as error:
        if not parts:
            raise
        return Understood(name_of_engine, parts, None, str(error))
