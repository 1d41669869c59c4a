"""Wear: the bytes written to a device, counted against the limits of its profile (`wear: 1T/day`).

A day is a calendar day in UTC. The count lies in `iogate/wear-<device>.json` of this user's folder for what
programs remember (XDG Base Directory Specification), and in no checkout, which others clean. It is kept only
for devices that have a limit. A session that is gone on with is one session.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from iogate.errors import TargetError
from iogate.formats.atomic import write_within
from iogate.formats.held import held_folder, read_within
from iogate.host.flock import lock
from iogate.host.openers import process_text, user_of
from iogate.model import Device
from iogate.target.locks import holder
from iogate.target.state import state_folder
from iogate.units import format_quantity, printable

_KEPT = 31  # days, and sessions
_DATE = 10  # characters: 2026-12-01
_SESSION = "session "
_LARGEST = 2**20  # bytes of a count, which has a line a day
_PATIENCE = 10.0  # seconds that another count, which takes milliseconds, may take
_POLL_SECONDS = 0.02


class Wear:
    """The account of one session on a device. The count is kept in a folder: that of this user; that of a
    `session` without a name is not.
    """

    def __init__(self, device: Device, folder: Path | None = None, session: str = "") -> None:
        self._name = device.name
        self._limits: Mapping[str, int] = device.wear
        self._folder = folder
        self._session = f"{_SESSION}{session}" if session and "session" in device.wear else ""
        self._unnamed = 0
        self._passed_over = False

    @property
    def limited(self) -> bool:
        """Whether there is anything to count for."""
        return bool(self._limits)

    @property
    def text(self) -> str:
        """What is counted against each limit, for people. Raises TargetError (`wear`) for a count that cannot
        be read.
        """
        return ", ".join(
            f"{format_quantity(written, 'B')} of {format_quantity(limit, 'B')} a {period}"
            for period, limit, written in self._counted()
        )

    def check(self, planned: int | None, laid_out: int = 0) -> None:
        """Raise TargetError (`wear`) if `laid_out` bytes of data and `planned` more must not be written, or
        could not be counted; None (an unknown number) is refused only when nothing of a limit would be left
        for it.
        """
        more_bytes = laid_out + (planned or 0)
        for period, limit, written in self._counted():
            if written + more_bytes > limit or (planned is None and written + laid_out >= limit):
                more = f" and {format_quantity(more_bytes, 'B')} more would be too much" if more_bytes else ""
                raise self._refusal(period, limit, f"{format_quantity(written, 'B')} are written{more}")
        if planned is None or planned + laid_out > 0:
            self._count(0, _date())

    def require_left(self, more: int, said: str) -> None:
        """Raise TargetError (`wear`), which `said` what that means, if what was written now, beside what is
        counted, reaches a limit.
        """
        for period, limit, written in self._counted():
            if written + more >= limit:
                raise self._refusal(period, limit, said)

    def uncounted(self, path: Path) -> TargetError:
        """Return why what writes by time alone must not, where no counters tell how much it has written."""
        period, limit = next(iter(self._limits.items()))
        return TargetError(
            f"the device {self._name} may be written {format_quantity(limit, 'B')} a {period}: nobody counts "
            f"what is written to {path}, so that what writes by time alone could not be ended there",
            rule="wear",
            remedy="let its size end it (no time_based), let the kernel count (echo 1 > "
            "/sys/block/DISK/queue/iostats), or take wear out of its profile",
        )

    def _counted(self) -> Iterator[tuple[str, int, int]]:
        """Yield each limit with its period and what is counted for it. Raises TargetError as `_days` does."""
        for period, limit in self._limits.items():
            yield period, limit, self._today(self._days()) if period == "day" else self._so_far()

    def _refusal(self, period: str, limit: int, said: str) -> TargetError:
        remedy = f"wait, use a smaller size or shorter runs, or raise wear.{period} in its profile"
        later = _from(self._days(), _date()) if period == "day" else {}
        later.pop(_date(), None)
        if later:
            days = " to ".join(dict.fromkeys(printable(day[:_DATE]) for day in (min(later), max(later))))
            counted = format_quantity(sum(later.values()), "B")
            said += f" ({counted} of it on {days}, later than today by this clock, {_date()})"
            mended = f"set the clock; or, if it was wrong then, take what is later out of {self._file}"
            remedy = f"{mended}; else {remedy}"
        return TargetError(
            f"the device {self._name} may be written {format_quantity(limit, 'B')} a {period}: {said}",
            rule="wear",
            remedy=remedy,
        )

    def record(self, written: int, day: str = "") -> str:
        """Count bytes that were written, and return the day that has them; fewer than none take back what a
        `day` has and was not written. Raises TargetError (`wear`) if the count cannot be kept.
        """
        day = day or _date()
        self._unnamed += written
        if written:
            self._count(written, day)
        return day

    def _count(self, written: int, day: str) -> None:
        """Write the counts of a day and of the session, with so many bytes more."""
        names = [*([day] if "day" in self._limits else ()), *([self._session] if self._session else ())]
        if not names:
            return
        try:
            with self._locked() as folder:
                days = self._days_in(folder)
                for name in names:  # last, whatever the clock says: what is being counted is never dropped
                    days[name] = max(0, days.pop(name, 0) + written)
                sessions = [name for name in days if name.startswith(_SESSION)]
                dates = [name for name in days if not name.startswith(_SESSION)]
                kept = [*dates[-_KEPT:], *sessions[-_KEPT:]]
                text = json.dumps({name: days[name] for name in kept}, indent=1)
                write_within(folder, self._file.name, f"{text}\n")
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    @property
    def _file(self) -> Path:
        return (self._folder or _state_folder()) / f"wear-{self._name}.json"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[int]:
        """Hold the folder, which may lie where others make links, and lock it. Raises OSError."""
        with held_folder(self._file.parent, make=True) as folder:
            descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
            try:
                self._lock(descriptor)
                yield folder
            finally:
                os.close(descriptor)

    def _lock(self, folder: int) -> None:
        """Lock the open folder. Another user, who may do so for ever where they can list it, is waited for
        once, and keeps nobody from counting. Raises TargetError (`wear`) for a process of this user, or of
        root, that does not let go, and OSError.
        """
        deadline = time.monotonic() + _PATIENCE
        while not lock(folder):
            late = time.monotonic() > deadline
            if late or self._passed_over:
                pid = holder(folder)
                if not pid or user_of(pid) not in (0, os.geteuid()):
                    self._passed_over = True
                    return
                if late:
                    message = f"the count of bytes written to {self._name} is locked by {process_text(pid)}"
                    raise TargetError(message, rule="wear", remedy="end that process, or wait for it")
            time.sleep(_POLL_SECONDS)

    def _so_far(self) -> int:
        """Return what this session has written. Raises TargetError as `_days` does."""
        return self._days().get(self._session, 0) if self._session else self._unnamed

    def _days(self) -> dict[str, int]:
        """Return bytes by date and session. Raises TargetError for a count that cannot be read: it is no
        zero.
        """
        try:
            with held_folder(self._file.parent) as folder:
                return self._days_in(folder)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def _days_in(self, folder: int) -> dict[str, int]:
        """Return bytes by date and session, as they are counted in an open folder. Raises TargetError as
        `_days` does.
        """
        try:
            days = json.loads(read_within(folder, self._file.name, _LARGEST))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except (ValueError, RecursionError) as error:
            raise self._unusable(str(error)) from error
        if isinstance(days, dict) and all(type(value) is int and value >= 0 for value in days.values()):
            return days
        raise self._unusable("it is not a count of bytes by date")

    def _unusable(self, why: str) -> TargetError:
        repair = "repair or remove that file (the count of today then begins anew), or "
        return TargetError(
            f"the count of bytes written to {self._name} cannot be kept in {self._file}: {why}",
            rule="wear",
            remedy=f"{repair if os.path.lexists(self._file) else ''}name another folder in XDG_STATE_HOME",
        )

    @staticmethod
    def _today(days: Mapping[str, int]) -> int:
        """Return bytes of today; of later days too, since then the clock was wrong and they may be
        today's.
        """
        return sum(_from(days, _date()).values())


def _from(days: Mapping[str, int], first: str) -> dict[str, int]:
    """Return the counts of a day and of those behind it."""
    return {name: days[name] for name in days if not name.startswith(_SESSION) and name >= first}


def wear_text(device: Device, *, elsewhere: bool) -> str:
    """Return what was written to a device before, of what may be, for people; empty without a limit."""
    if elsewhere and device.wear:
        return "counted where the device is"
    try:
        return Wear(device).text
    except TargetError as error:
        return str(error)


def _state_folder() -> Path:
    """Return where counts are kept. Raises TargetError (`wear`) if this user has no home."""
    try:
        return state_folder()
    except RuntimeError as error:
        raise TargetError(
            f"there is no place for the count of bytes written: {error}",
            rule="wear",
            remedy="name a folder that lasts in XDG_STATE_HOME",
        ) from error


def _date() -> str:
    return time.strftime("%Y-%m-%d", time.gmtime())
