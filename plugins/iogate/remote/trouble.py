"""Why a host cannot be had, in words: what ssh and others said on their way, and what to do about it."""

from __future__ import annotations

import os
import re
import threading

from iogate.units import one_line

_KEPT = 64 * 2**10  # bytes
_LATE = 0.5  # seconds that the end of what was said may take

_KNOWN = (
    (
        r"REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one that is known: another machine, or somebody between",
        "if it was installed anew, remove the old key: ssh-keygen -R HOST; then log in once by hand",
    ),
    (
        r"Host key verification failed",
        "its host key is not known",
        "log in once by hand, and compare the key: ssh HOST",
    ),
    (
        r"Permission denied|Too many authentication failures",
        "it refuses this user's key",
        "iogate asks for no passwords: let `ssh -o BatchMode=yes HOST true` work first (ssh-copy-id)",
    ),
    (
        r"Could not resolve hostname|Name or service not known",
        "there is no such host",
        "mend the name, or add it to ~/.ssh/config",
    ),
    (
        r"Connection refused|timed out|No route to host|Network is unreachable",
        "it cannot be reached",
        "is it on, and does it run sshd?",
    ),
    (
        r"a password is required|a terminal is required",
        "sudo asks for a password there",
        "allow it without one for this user (NOPASSWD), or log in as another user",
    ),
    (
        r"No such container|is not running|Error from server|Cannot open network namespace|"
        r"cannot change root directory|Cannot connect to the Docker daemon|connection to the server \S+ was",
        "what it leads through is not there",
        "is the container, pod or namespace up, and is its name right?",
    ),
    (
        r"Can't open user config file|Bad configuration option",
        "ssh cannot read its configuration",
        "mend that file, or name another one: //ssh_config=FILE",
    ),
    (
        r"not found$|[Nn]o such file or directory\W*$|executable file not found",
        "Python is not there",
        "install Python 3.10 or newer there, or name another one: //python=/path/to/python3",
    ),
)


def explained(said: str, status: int | None) -> tuple[str, str]:
    """Return what is wrong and what to do, from what a program said on stderr before it ended."""
    for pattern, what, remedy in _KNOWN:
        if match := re.search(pattern, said, re.MULTILINE):
            return f"{what} ({_line(said, match.start())})", remedy
    last = _line(said.rstrip(), len(said.rstrip()))
    ended = "" if status is None else f"ended with status {status}"
    return ": ".join(filter(None, (ended, last))) or "it ended", ""


def _line(text: str, place: int) -> str:
    """Return the line of a text at a place, fit for a message."""
    start = text.rfind("\n", 0, place) + 1
    return one_line(text[start:].partition("\n")[0].strip(" @\r"))[:300]


class LastWords:
    """What comes through a pipe, the end of it: a host may say more than there is room for.

    Whoever reads from a process that has ended may wait without end: what it began, such as ssh's shared
    connection, may have the pipe open. So a thread reads.
    """

    def __init__(self) -> None:
        self._from, self.pipe = os.pipe()
        self._text = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def begun(self) -> None:
        """Let the one who says it have the pipe alone."""
        os.close(self.pipe)

    def text(self) -> str:
        """Return what has been said."""
        self._reader.join(_LATE)
        return self._text.decode(errors="replace")

    def _read(self) -> None:
        try:
            while said := os.read(self._from, _KEPT):
                self._text = (self._text + said)[-_KEPT:]
        finally:
            os.close(self._from)
