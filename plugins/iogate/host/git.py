"""What git knows of a file: who changed it, when and why; and of a checkout. Nothing of a repository's
configuration is run.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.tools import Answer, ask
from iogate.units import printable

_SECONDS = 20.0
_SAFE = ("--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false")
_NO_REMOTE = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
"""A repository may lack objects and name a command that fetches them; its configuration would hold against
options, not against these.
"""
_LEADS_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
"""What a hook of git has in its environment: asked of a file, git would speak of the hook's repository."""
_QUIET = ("--encoding=UTF-8", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-textconv")
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
    answer = _git(file.parent, "log", *options, "--", file.name)
    if answer.status:
        raise TargetError(answer.reason, rule="tool")
    fields = ([*map(printable, line.split("\0", 3))] for line in answer.stdout.split("\n"))
    return [Commit(*each) for each in fields if len(each) == 4]


def is_shallow(folder: Path) -> bool:
    """Return whether a checkout lacks older commits, as those of pipelines do: git takes the oldest that is
    there for the one that changed all files. Raises TargetError if git cannot be asked.
    """
    return _git(folder, "rev-parse", "--is-shallow-repository").stdout.strip() == "true"


def is_committed(file: Path) -> bool:
    """Return whether a file is as it was committed, byte by byte: `git status` would run the repository's
    filters. Raises TargetError if git cannot be asked.
    """
    committed = _git(file.parent, "rev-parse", "--verify", "--quiet", f"HEAD:./{file.name}")
    found = _git(file.parent, "hash-object", "--no-filters", "--", file.name)
    return not (committed.status or found.status) and committed.stdout == found.stdout


def head(folder: Path) -> str | None:
    """Return the commit that a checkout is at; empty if the folder is in none, or nothing is committed yet;
    None if git does not tell: it is not installed, the checkout is another user's, or it may be one that
    `GIT_DIR` alone names.
    """
    with contextlib.suppress(TargetError):
        answer = _git(folder, "rev-parse", "--verify", "HEAD")
        if not answer.status:
            return printable(answer.stdout.strip())
        if not _git(folder, "rev-parse", "--git-dir").status:
            return ""
    return None if repository_of(folder) or "GIT_DIR" in os.environ else ""


def repository_of(folder: Path) -> Path | None:
    """Return the folder of the checkout that a folder is a part of; None if it is in none."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), None)


def _git(folder: Path, *arguments: str) -> Answer:
    """Return what git says in a folder."""
    command = ("-C", str(folder), *_SAFE, *arguments)
    variables = {**dict.fromkeys(_LEADS_ELSEWHERE), **_NO_REMOTE}
    return ask("git", "git", *command, seconds=_SECONDS, variables=variables)
