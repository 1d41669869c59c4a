"""Files that another file names, which lie below its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from iogate.errors import InputError
from iogate.formats.reading import held, is_hidden, read_at_once
from iogate.units import printable

_LARGEST_ATTACHMENT = 2**17  # of a job file, which fio parses, and has 4096 jobs at most


@dataclass(frozen=True)
class Attachment:
    """A text that another file names: `name` is its path as it stands there, `variables` are what the other
    file has to put into it. What that says beside it holds instead of its own words, but for what is
    `yielding`: options that hold where it says nothing else.
    """

    name: str
    text: str = field(repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    yielding: frozenset[str] = frozenset()


def read_attachment(folder: Path, name: str) -> Attachment:
    """Return the file that a file in `folder` names by a path relative to itself; `folder` is where that one
    really lies. Raises InputError if that would leave the folder, is hidden there, or is no text of at most
    128 KiB.
    """
    shown = printable(name)
    relative = PurePosixPath(name)
    leaves = InputError(
        f"{shown!r} is refused: it would leave the folder", remedy="name a file below that folder"
    )
    if not name or relative.is_absolute() or ".." in relative.parts:
        raise leaves
    hidden = InputError(
        f"{shown!r} is refused: it is hidden, as what git and others keep for themselves",
        remedy="give it a name without a dot before it",
    )
    if is_hidden(relative):
        raise hidden
    try:
        with held(folder / relative) as file:
            if not file.real.is_relative_to(folder):
                raise leaves
            if is_hidden(file.real.relative_to(folder)):  # behind a link
                raise hidden
            if not file.path.is_file():
                raise InputError(f"{shown!r} is no file below {printable(str(folder))}")
            data = read_at_once(file.path, _LARGEST_ATTACHMENT + 1)
        if len(data) > _LARGEST_ATTACHMENT:
            raise InputError(
                f"{shown!r} is larger than {_LARGEST_ATTACHMENT >> 10} KiB",
                remedy="split it into several files",
            )
        return Attachment(shown, data.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{shown!r} is no file below {printable(str(folder))}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{shown!r} cannot be read: {printable(str(error))}") from None
