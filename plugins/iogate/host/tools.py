"""Asking a small tool of the system: found in PATH or where the system's own lie, without a shell, in plain
English.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from iogate.errors import TargetError
from iogate.units import printable

_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What a tool said; `reason` is its last line on stderr, fit for a message."""

    status: int
    stdout: str
    reason: str


def tool_path() -> str:
    """Return where tools are looked for: in PATH, and where the system's own lie. An empty part of PATH,
    which is the working directory, is left out: that may be a stranger's.
    """
    named = filter(None, os.environ.get("PATH", os.defpath).split(":"))
    return ":".join([*named, "/usr/sbin", "/sbin"])


def find_tool(name: str, package: str) -> str:
    """Return the absolute path of a tool. Raises TargetError (`tool`) that names Debian's package of it."""
    path = shutil.which(name, path=tool_path())
    if path is None:
        remedy = f"install it, on Debian and Ubuntu: apt-get install {package}"
        raise TargetError(f"{name} is not installed", rule="tool", remedy=remedy)
    return os.path.abspath(path)


def ask(
    name: str,
    package: str,
    *arguments: str,
    seconds: float | None = _SECONDS,
    variables: Mapping[str, str | None] | None = None,
) -> Answer:
    """Run a tool to its end, with these variables in its environment, too, and without those that are None.
    Raises TargetError: `tool` if it is not installed (Debian has it in `package`) or does not answer within
    so many seconds.
    """
    path = find_tool(name, package)
    wanted = {**os.environ, "LC_ALL": "C", **(variables or {})}
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={key: value for key, value in wanted.items() if value is not None},
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{name} did not answer within {seconds:.0f} s", rule="tool") from error
    except OSError as error:
        raise TargetError(f"cannot start {path}: {error.strerror}", rule="tool") from error
    reason = last_line(done.stderr.decode(errors="replace")) or f"{name} ended with status {done.returncode}"
    return Answer(done.returncode, done.stdout.decode(errors="replace"), reason)


def last_line(text: str) -> str:
    """Return the last line of what a tool said, fit for a message; empty if it said nothing."""
    return (printable(text).strip().splitlines() or [""])[-1]
