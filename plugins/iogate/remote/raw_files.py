"""Which raw files come home: outputs and logs, and nothing that a program takes for its own by its name."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_FILE = re.compile(
    r"stdout|stderr|delays\.txt|[A-Za-z0-9][\w.:@%+=,-]*\.(?:json|fio|log(?:\.fz)?|csv|tsv|xls|state)",
    re.ASCII,
)
_OF_CLIENT = re.compile(r"log_\w+\.\d+\.log\.[\w.:@%+=,-]+", re.ASCII)
_BEHIND = ".log"


def is_raw(name: PurePosixPath) -> bool:
    """Return whether a file below a repetition's folder is called as an output or a log is.

    A host may be a stranger's, and in the folder of its files somebody works later: `conftest.py` and
    `test_x.txt` would be run by pytest there, the `config` of what git takes for a repository by git, even
    by a prompt.
    """
    called = _FILE.fullmatch(name.name) or _OF_CLIENT.fullmatch(name.name)
    return called is not None and not any(part.startswith(".") for part in name.parts)


def kept_as(name: str) -> str:
    """Return what a raw file is called at home: a log of one of fio's clients, which ends with that client's
    name, and so might end with `.py`, has `.log` behind that.
    """
    return name + _BEHIND if _OF_CLIENT.fullmatch(name) else name


def sent_as(name: str) -> str:
    """Return what a raw file at home was called by fio."""
    known = name.removesuffix(_BEHIND)
    return known if _OF_CLIENT.fullmatch(known) else name
