"""What a run keeps on its target: a folder of its own, and in it the data that engines read and write.

Everything lies in one folder `.iogate-scratch-*` that only its owner can enter, with a marker that is
locked while its run lives. Whoever may write to the directory can rename that folder and put another one in
its place: so it is held open, and all that works in it, engines included, reaches it by what is held
(/proc/PID/fd) and never by its name. A run that was killed leaves its folder; the next run on that directory
removes it.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from iogate.model import Needs, Reads
from iogate.target.blank import Parts
from iogate.target.flushing import flush
from iogate.target.home import Home
from iogate.target.layout import Tick, intact, lay_out, refusal

_RESERVE = 0.05  # of the file system stays free, within the bounds below
_LEAST_RESERVE, _MOST_RESERVE = 16 * 2**20, 2**30

CheckNeeds = Callable[[Needs], None]
"""Raises TargetError if a workload must not run at this moment."""


class Scratch(Protocol):
    """A run's place on its target."""

    folder: Path | None
    """For files of the engine's own; None on a block device."""
    written: int
    """Bytes laid out so far."""

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        """Return what the engine works on, of several files the one of this `number`. Everything is checked
        again right here. Raises TargetError.
        """
        ...

    def missing(self, needs: Needs, number: int = 0) -> int:
        """Return how many bytes `data` would write first, to lay them out."""
        ...

    def look_ahead(self, jobs: Sequence[Reads]) -> None:
        """Look at what jobs may read that was never written, before they write there."""
        ...

    def blank(self, parts: Parts) -> Mapping[str, float] | None:
        """Return the shares of what jobs read that was never written, by their names, as a sample tells, from
        `look_ahead`, if it was called for these `data`; None where they are laid out.
        """
        ...

    def check(self) -> None:
        """Raise TargetError (`changed`) if it is no longer where it was: the device may not be the same."""
        ...

    def readable(self, text: str) -> str:
        """Return what an engine says, with paths as people know them."""
        ...


def quotable(path: Path) -> str:
    """Return a path as it can stand in an engine's JSON: what would end a text there is `?`."""
    return re.sub(r'["\\\x00-\x1f]', "?", str(path))


class _File(NamedTuple):
    """A file of data: its size in bytes, what works on it (`Needs.kind`), and its number of those."""

    size: int
    kind: str
    number: int

    @property
    def name(self) -> str:
        return "-".join(filter(None, ["data", str(self.size), self.kind, str(self.number or "")]))


class FolderScratch:
    """A run's place in a directory: files of incompressible data, laid out when first asked for and reused
    by all workloads of that size, if the file system writes `in_place`. Others fragment what is overwritten,
    and may compress it: there only those share a file of whose writes the others' reads tell nothing.
    """

    def __init__(self, home: Home, check_needs: CheckNeeds, *, in_place: bool = True) -> None:
        self.folder: Path | None = home.held / "engine"
        self.path = home.path
        self.written = 0
        self._home = home
        self._check_needs = check_needs
        self._in_place = in_place
        self._laid_out: set[_File] = set()

    def check(self) -> None:
        self._home.check()

    def readable(self, text: str) -> str:
        return text.replace(str(self._home.held), quotable(self.path))

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        """Return a file of `needs.size` bytes; without a size, a path where the engine may make its own
        file.
        """
        self._check_needs(needs)
        self.check()
        if not needs.size:
            if needs.space:
                self._make_room(needs, self._file(needs, 0))
            return self._home.held / "engine" / "data"
        file = self._file(needs, number)
        path = self._home.held / file.name
        if self._is_there(file):
            return path
        self._make_room(needs, file)
        lay_out(path, needs.size, direct=needs.direct, tick=tick)
        self._laid_out.add(file)
        self.written += needs.size
        return path

    def missing(self, needs: Needs, number: int = 0) -> int:
        return 0 if self._is_there(self._file(needs, number)) else needs.size

    def look_ahead(self, jobs: Sequence[Reads]) -> None:
        """Do nothing: what is read was laid out."""

    def blank(self, parts: Parts) -> Mapping[str, float] | None:
        """Return None: what is read was laid out."""
        return None

    def _make_room(self, needs: Needs, file: _File) -> None:
        """Remove data of others, largest first, before a workload is refused for lack of space."""
        try:
            self._forget(file)
            others = sorted(item for item in self._laid_out if item[:2] != file[:2])
            wanted = needs.size * (needs.files - file.number % needs.files) + needs.space
            while self._room(wanted) < wanted and others:
                self._forget(others.pop())
        except OSError as error:
            raise refusal(error, f"cannot make room in {self.path}") from error
        self._check_needs(needs)

    def _room(self, wanted: int) -> int:
        """Return the bytes that may be laid out; what was removed is free in some once all is flushed."""
        left = room(self._home.held)
        if left < wanted and self.folder:
            flush(self.folder)
            left = room(self._home.held)
        return left

    def _file(self, needs: Needs, number: int) -> _File:
        return _File(needs.size, "" if self._in_place else needs.kind, number)

    def _is_there(self, file: _File) -> bool:
        return file in self._laid_out and intact(self._home.held / file.name, file.size)

    def _forget(self, file: _File) -> None:
        self._laid_out.discard(file)
        with contextlib.suppress(FileNotFoundError):
            (self._home.held / file.name).unlink()


def room(path: Path) -> int:
    """Return bytes that may be laid out on a file system: what is free for this user, less a reserve of 5% of
    it, at least 16 MiB and at most 1 GiB, since a full file system breaks other programs and slows down.

    Raises OSError.
    """
    space = os.statvfs(path)
    capacity = space.f_blocks * space.f_frsize
    if not capacity:
        return 2**63 - 1  # some network file systems do not tell
    reserve = min(max(int(capacity * _RESERVE), _LEAST_RESERVE), _MOST_RESERVE)
    return space.f_bavail * space.f_frsize - reserve
