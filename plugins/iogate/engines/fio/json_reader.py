"""The JSON in a fio output: behind other text, of several documents, with duplicate keys and `nan`.

fio prints notes and progress into the file that `--output` names, one cumulative document after another
with `--status-interval`, and floats by `%f`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from iogate.errors import OutputError, Position

TWICE = object()
"""Stands for a figure that was stated twice, differently: nobody knows which one is true."""

_START = re.compile(r"^\{", re.MULTILINE)
_NAN = re.compile(r"(?<=:)(\s*)[-+]?(?:nan|inf)(?=\s*[,}\n])", re.IGNORECASE)
_VERSION = re.compile(r"fio-(\d+)\.(\d+)")


_MARK = re.compile(r'"fio version"\s*:|"jobname"\s*:\s*"[^"]*",\s*"groupid"\s*:')
_WORDS = re.compile(r"^fio: (?:terminating on signal \d|pid=\d+, (?:err|got signal))", re.MULTILINE)


def is_json(text: str) -> bool:
    """Return whether a text has any mark of fio's JSON."""
    return _MARK.search(text) is not None


def recognises(text: str) -> bool:
    """Return whether a text has any mark of fio's JSON, or of the words around it."""
    return is_json(text) or _WORDS.search(text) is not None


@dataclass(frozen=True)
class FioReport:
    """The last document of an output: `said` is the text around the documents."""

    name: str
    data: dict[str, Any]
    said: str

    @property
    def engine(self) -> str:
        """The version as fio states it, such as `fio-3.33`; empty if it does not."""
        return str(self.data.get("fio version", ""))

    @property
    def version(self) -> tuple[int, int]:
        """The version to compare with; (0, 0) if unknown."""
        match = _VERSION.match(self.engine)
        return (int(match[1]), int(match[2])) if match else (0, 0)


def read_report(text: str, name: str) -> FioReport:
    """Return the last document in the text, as each repeats what came before it.

    Raises OutputError with file:line:column where the text is not JSON, or ends within it.
    """
    text = _NAN.sub(lambda match: f"{match[1]}NaN", text.removeprefix("\ufeff"))
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_pairs)
    said, documents, end = [], [], 0
    try:
        while match := _START.search(text, end):
            said.append(text[end : match.start()])
            document, end = decoder.raw_decode(text, match.start())
            documents.append(document)
    except json.JSONDecodeError as error:
        where = Position(name, error.lineno, error.colno)
        if not text[error.pos :].strip() or "Unterminated" in error.msg:
            raise OutputError(
                "fio's output ends in the middle: fio did not finish it", position=where
            ) from None
        raise OutputError(f"fio's output is not JSON: {error.msg}", position=where) from None
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{name}: fio's output cannot be read: {error}") from None
    if not documents:
        raise OutputError(
            f"{name}: has no output of fio in JSON{': it is empty' if not text.strip() else ''}"
        )
    said.append(text[end:])
    if "fio version" not in documents[-1]:
        raise OutputError(f"{name}: is not fio's output: it does not say its version")
    return FioReport(name, documents[-1], "\n".join(part.strip() for part in said if part.strip()))


def _pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of options given twice the last holds, as in fio; of figures given twice none."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        known = key in found and not (isinstance(value, str) and isinstance(found[key], str))
        found[key] = TWICE if known and found[key] != value else value
    return found
