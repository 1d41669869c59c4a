"""Which raw files come home: outputs and logs, and nothing that a program takes for its own by its name."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_FILE = re.compile(
    r"stdout|stderr"
    r"|[A-Za-z0-9][\w.:@%+=,-]*\.(?:json|fio|log|txt|csv|tsv|xls|xml|out|err|dat|state)"
    r"|log_\w+\.\d+\.log\.[\w.:@%+=,-]+",  # of fio's clients
    re.ASCII,
)


def is_raw(name: PurePosixPath) -> bool:
    """Return whether a file below a repetition's folder is called as an output or a log is.

    A host may be a stranger's, and in the folder of its files somebody works later: `conftest.py` would be
    run by pytest there, the `config` of what git takes for a repository by git, even by a prompt.
    """
    return _FILE.fullmatch(name.name) is not None and not any(part.startswith(".") for part in name.parts)
