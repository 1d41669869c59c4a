"""Running a program: its own process group, a time limit, and nothing left behind.

POSIX process groups: see setpgid(2) and kill(2). A group is ended by SIGTERM, then SIGKILL. Jobs of fio leave
its group (setsid(2)), and those that wait for a fio that was killed wait for ever: so whatever bears the mark
that a program was started with, in its environment, is ended too.

What waits for a device that does not answer dies of no signal. It is waited for with patience, then left
alone, and nothing is started any more as long as it is there.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import os
import secrets
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from iogate.errors import EngineError
from iogate.host.own_folder import own_file, own_umask
from iogate.host.tools import tool_path

_MARK = "IOGATE_ENGINE"
_GRACE_SECONDS = 5.0
_DYING_SECONDS = 60.0  # for what SIGKILL ends once its device has answered
_TICK_SECONDS = 0.25
_EXECUTION_SECONDS = 0.5
_OUTPUT_LIMIT = 64 * 2**20
_LONGEST_ENVIRONMENT = 2**23
"""Bytes: more than execve(2) takes. What a process says of itself may have no end (PR_SET_MM)."""
NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Completed:
    """What a program did: `status` as subprocess has it (negative: died of that signal), `seconds` of wall
    time.
    """

    status: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False


def find_program(name: str, package: str) -> str:
    """Return the path of a program. Raises EngineError that names the `package` which has it."""
    path = shutil.which(name, path=tool_path())
    if path is None:
        raise EngineError(
            f"{name} is not installed", remedy=f"install it, on Debian and Ubuntu: apt-get install {package}"
        )
    return path


def run(
    argv: Sequence[str],
    *,
    folder: Path,
    timeout: float,
    tick: Callable[[float], None] | None = None,
    goes_on: Callable[[float], bool] | None = None,
) -> Completed:
    """Run a program to its end, or to `timeout` seconds, and from then on for as long as it `goes_on`.

    stdout and stderr are written to files of those names in `folder`, where the user finds them; stdin is
    empty. `tick` is called about four times a second with the seconds since the start, and `goes_on`, too,
    once they are more than the time limit. Whatever ends this
    call (time limit, Ctrl-C, an error in `tick`), the program and all that it started are gone then.
    Raises EngineError if the program cannot be started.
    """
    with start([(argv, folder)]) as (program,):
        program.wait(timeout, tick, goes_on)
    return program.completed()


class Program:
    """A program that was started, in a session of its own; see `start`."""

    def __init__(self, argv: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.started = time.monotonic()
        self._folder = folder
        self._timed_out = False
        try:
            with _made(folder / "stdout") as out, _made(folder / "stderr") as err:
                self.process = subprocess.Popen(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    cwd=folder,
                    # fio writes its status into its output once a file of a certain name is in TMPDIR:
                    # anybody can make it in /tmp, and another user's stays there
                    env={**os.environ, "TMPDIR": str(folder), **environment},
                    start_new_session=True,
                    umask=own_umask(),
                )
        except OSError as error:
            where = os.path.realpath(folder)  # it may be given by what a process holds open
            remedy = _NO_EXECUTION if error.errno == errno.EACCES else ""
            raise EngineError(
                f"cannot start {argv[0]} in {where}: {error.strerror}", remedy=remedy
            ) from error

    @property
    def over(self) -> bool:
        """True once it has ended; it is not reaped."""
        ended = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is not None

    def wait(
        self,
        timeout: float,
        tick: Callable[[float], None] | None = None,
        goes_on: Callable[[float], bool] | None = None,
    ) -> None:
        """Wait for its end, or until `timeout` seconds after its start and longer while it `goes_on`."""
        self._timed_out = _wait(self.process, self.started, timeout, tick, goes_on)
        self._seconds = time.monotonic() - self.started

    def completed(self) -> Completed:
        """Return what it did, once it was waited for and has ended."""
        out, err = _read(self._folder / "stdout"), _read(self._folder / "stderr")
        return Completed(self.process.returncode, out, err, self._seconds, self._timed_out)


@contextlib.contextmanager
def start(
    calls: Sequence[tuple[Sequence[str], Path]],
    *,
    processors: Collection[int] = (),
    environment: Mapping[str, str] = NOTHING_MORE,
) -> Iterator[tuple[Program, ...]]:
    """Start programs side by side, each given by its argv and folder; at the end of the context, however it
    comes, they and all that they started are gone.

    stdout and stderr are written to files of those names in the folders. All of them keep to the `processors`
    that are named, if any are, and see `environment` beside this process's own. Raises EngineError if one
    cannot be started, or cannot be ended.
    """
    require_ended()
    guard, mark = _guard(), secrets.token_hex(12)
    programs: list[Program] = []
    try:
        _tell(guard, mark)
        with _keeping_to(processors):
            for argv, folder in calls:
                programs.append(Program(argv, folder, {**environment, _MARK: mark}))
        yield tuple(programs)
    finally:
        _undead.extend(program.process for program in programs if not _end_group(program.process))
        if len(programs) != len(calls) or any(program.process.returncode != 0 for program in programs):
            _left.update(_end_marked(mark))
        _tell(guard, "")
    require_ended()


_undead: list[subprocess.Popen[bytes]] = []
_left: set[int] = set()
"""Programs that were killed and had not ended; processes that those had started, or that were given up."""


def give_up(number: int) -> None:
    """Wait no longer for a process of this one; until it ends, `require_ended` tells of it."""
    _left.add(number)


def require_ended() -> None:
    """Raise EngineError if something was killed or given up and has not ended."""
    _undead[:] = [process for process in _undead if process.poll() is None]
    _left.intersection_update([number for number in _left if _lives(number)])
    left = sorted({process.pid for process in _undead} | _left)
    if left:
        raise EngineError(
            f"what was given up does not end (pid {', '.join(map(str, left))}): the device does not answer",
            remedy="see what the kernel says of the device: dmesg. Nothing more is measured on it meanwhile",
        )


@contextlib.contextmanager
def _keeping_to(processors: Collection[int]) -> Iterator[None]:
    """Let what is started meanwhile, and all that it starts, run on these processors only."""
    usual = os.sched_getaffinity(0)
    if processors:
        with contextlib.suppress(OSError):  # one was switched off
            os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        if processors:
            os.sched_setaffinity(0, usual)


_NO_EXECUTION = (
    "is it mounted noexec? Programs of iogate lie among temporary files: name another folder for these "
    "(TMPDIR, of a host //env:TMPDIR=DIR)"
)
_SHELL = "/bin/sh"
# Ends what bears the last mark that it was told of when this process is gone, killed or not. It looks twice:
# what was started while it looked is found then. grep of busybox reads no further than a NUL, and GNU's needs
# no tr, which not all have; what has no program is the kernel's. It is no Python, as who kills pytest may
# kill each Python that there is.
_GUARD = f"""
while read -r line; do mark=$line; done
[ -n "$mark" ] || exit
if command -v tr; then
    bears() {{ tr '\\000' '\\n' | grep -qxF "$1"; }}
else
    bears() {{ grep -qxzF "$1"; }}
fi
for look in 1 2; do
    for process in /proc/[0-9]*; do
        [ -e "$process/exe" ] &&
            head -c {_LONGEST_ENVIRONMENT} "$process/environ" 2>/dev/null | bears "{_MARK}=$mark" &&
            kill -KILL "${{process#/proc/}}"
    done
done
"""


@cache
def _guard() -> subprocess.Popen[bytes]:
    """Return a shell that waits for the end of this process: what is killed by SIGKILL cannot clean up
    itself. Raises EngineError if there is none.
    """
    try:
        guard = subprocess.Popen(
            [_SHELL, "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
    except OSError as error:
        raise EngineError(
            f"cannot start {_SHELL}, which ends engines if this process is killed: {error.strerror}",
            remedy="a machine that measures needs a shell, that of busybox will do",
        ) from error
    atexit.register(_dismiss, guard)
    return guard


def _dismiss(guard: subprocess.Popen[bytes]) -> None:
    """Let the guard end: Python would warn of a process that is left, and of its pipe."""
    assert guard.stdin
    guard.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        guard.wait(_GRACE_SECONDS)


def _tell(guard: subprocess.Popen[bytes], mark: str) -> None:
    """Name the mark of what must not outlive this process; empty for nothing."""
    assert guard.stdin
    with contextlib.suppress(OSError):  # without the guard all is as well, but for SIGKILL
        guard.stdin.write(f"{mark}\n".encode())


def _wait(
    process: subprocess.Popen[bytes],
    started: float,
    timeout: float,
    tick: Callable[[float], None] | None,
    goes_on: Callable[[float], bool] | None,
) -> bool:
    """Wait for the end of the process without reaping it; True if the time limit came first.

    That wakes at once: Popen.wait with a timeout polls, and would add up to 50 ms to every repetition.
    """
    descriptor = end_of(process.pid)
    try:
        while True:
            passed = time.monotonic() - started
            left = timeout - passed
            if left <= 0:
                if not (goes_on and goes_on(passed)):
                    return True
                left = _TICK_SECONDS
            ready, _, _ = select.select([descriptor], [], [], min(left, _TICK_SECONDS))
            if ready:
                return False
            if tick:
                tick(time.monotonic() - started)
    finally:
        os.close(descriptor)


def end_of(child: int) -> int:
    """Return a descriptor that can be read from as soon as a child has ended, reaped or not."""
    with contextlib.suppress(OSError, AttributeError):  # not in Linux before 5.3, nor in old sandboxes
        return os.pidfd_open(child)
    ended, end = os.pipe()

    def wait() -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        os.close(end)

    threading.Thread(target=wait, daemon=True).start()
    return ended


def _end_group(process: subprocess.Popen[bytes]) -> bool:
    """End every process of the group, children that outlived their parent included, and reap the leader;
    return False if it does not end.
    """
    _signal_group(process.pid, signal.SIGTERM)
    _signal_group(process.pid, signal.SIGCONT)  # one that is stopped takes no other signal but SIGKILL
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal_group(process.pid, signal.SIGKILL)
        try:
            process.wait(_DYING_SECONDS)
        except subprocess.TimeoutExpired:
            return False
    deadline = time.monotonic() + _GRACE_SECONDS
    while _signal_group(process.pid, signal.SIGKILL) and time.monotonic() < deadline:
        time.sleep(0.005)
    return True


def _end_marked(mark: str) -> set[int]:
    """End the processes that bear a mark: the environment of a process is that of its parent. Return those
    that do not end; they show no environment any more.

    One that is executed at this moment shows no environment for a while, and is looked at again.
    """
    started = time.monotonic()
    left: set[int] = set()
    while (passed := time.monotonic() - started) < _DYING_SECONDS:
        found, unclear = _bearing(f"\0{_MARK}={mark}\0".encode())
        for number in found:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        left = {number for number in left.union(found) if _lives(number)}
        if not left and not (unclear and passed < _EXECUTION_SECONDS):
            break
        time.sleep(0.005)
    return left


def _lives(number: int) -> bool:
    """Return whether a process has a thread that has not ended; its first may have."""
    for thread in Path(f"/proc/{number}/task").glob("*"):
        with contextlib.suppress(OSError):
            if (thread / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                return True
    return False


def _bearing(variable: bytes) -> tuple[list[int], bool]:
    """Return the processes with a variable in their environment, and whether one that runs a program (no
    kernel threads, no zombies) has none at all. Each is looked at by itself: those of others may be large.
    """
    found, unclear = [], False
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # of another user, or gone
            os.readlink(process / "exe")
            with open(process / "environ", "rb") as stream:
                environment = stream.read(_LONGEST_ENVIRONMENT)
            unclear |= not environment
            if variable in b"\0%b\0" % environment:
                found.append(int(process.name))
    return found, unclear


def _signal_group(group: int, number: int) -> bool:
    """Signal a process group; return False when it is empty, or of others."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _made(path: Path) -> BinaryIO:
    return open(path, "wb", opener=own_file)


def _read(path: Path) -> str:
    """Return what a program said; nothing if somebody removed it meanwhile. Raises EngineError."""
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size  # what is asked for is allocated at once
            return stream.read(min(size, _OUTPUT_LIMIT)).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:  # its file system died meanwhile
        where = os.path.realpath(path)  # it may be given by what a process holds open
        raise EngineError(f"cannot read {where}: {error.strerror}") from error
