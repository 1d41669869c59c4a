"""What git knows of a file: who changed it, when and why. Nothing of a repository's configuration is run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.tools import ask
from iogate.units import printable

_SECONDS = 20.0
_SAFE = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")
_QUIET = ("--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv")
_FORMAT = "%h%x00%ad%x00%an%x00%s"


@dataclass(frozen=True)
class Commit:
    """A change of a file: its abbreviated hash, date (ISO 8601), author and subject."""

    hash: str
    date: str
    author: str
    subject: str


def history(file: Path, most: int) -> list[Commit]:
    """Return the newest changes of a file, under former names too. Raises TargetError if git fails."""
    options = (*_QUIET, "--follow", "--date=short", f"--format={_FORMAT}", f"--max-count={most}")
    text = _git(file, "log", *options)
    fields = (printable(line.replace("\0", "\t")).split("\t", 3) for line in text.splitlines())
    return [Commit(*each) for each in fields if len(each) == 4]


def is_committed(file: Path) -> bool:
    """Return whether a file is as it was committed. Raises TargetError if git fails."""
    return not _git(file, "status", "--porcelain", "--ignored")


def _git(file: Path, *arguments: str) -> str:
    """Return what git says of a file."""
    command = ("-C", str(file.parent), *_SAFE, *arguments, "--", file.name)
    answer = ask("git", "git", *command, seconds=_SECONDS)
    if answer.status:
        raise TargetError(answer.reason, rule="tool")
    return answer.stdout
