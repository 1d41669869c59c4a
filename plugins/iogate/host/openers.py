"""Which processes have something open (/proc/PID/fd), mapped or mounted; root sees all, others their own."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from iogate.host import sysfs
from iogate.host.blockdevice import BlockDevice
from iogate.host.mounts import PROC, number_text, parse_mountinfo
from iogate.units import printable

_ALL_PROCESSES = "pid:[4026531836]"  # the first namespace of all (PROC_PID_INIT_INO of Linux)
_LONGEST_COMMAND = 2**16  # bytes that are looked at
_LONGEST = 15.0  # seconds of a look at all processes: some million open files
FAR = "import sys;sys.path=sys.path[not sys.path[0]:];exec(eval(sys.stdin.readline()))"
"""What Python begins with at a host; who runs it follows. It is execnet's, but takes no modules from the
folder where it begins, nor from that of `chdir`: these may be another user's.
"""


def openers_below(folder: Path, proc: Path = PROC) -> list[int]:
    """Return the other processes, of this user and of root, that have files below a folder open. Those of
    others may have what only seems to lie there: in a mount namespace of theirs any file has any name.
    """
    prefix, users = f"{folder}/", (0, os.geteuid())
    return list(
        _openers(lambda link, name: name.startswith(prefix), proc, lambda pid: user_of(pid, proc) in users)
    )


def user_of(pid: int, proc: Path = PROC) -> int | None:
    """Return the user that a process is of; None if it is gone. What runs with root's rights by its
    set-user-id bit (su, which waits for a password) is of the one who started it.
    """
    match = re.search(r"^Uid:\s*(\d+)", sysfs.text(proc / str(pid) / "status"), re.MULTILINE)
    return int(match[1]) if match else None


def openers_of(numbers: frozenset[str], proc: Path = PROC) -> list[int]:
    """Return the other processes that have one of these block devices open, or mapped, by `major:minor`.
    Raises TimeoutError with their number if some have too many files open to look at.
    """

    nodes = tuple(f"/dev/{BlockDevice(number).name}" for number in numbers)  # as in a chroot's /dev, too

    def matches(link: str, name: str) -> bool:
        return (name.startswith("/dev/") or name.endswith(nodes)) and _is_device(link, numbers)

    return list(_openers(matches, proc, mapped=True))


def unseen(proc: Path = PROC) -> str:
    """Return of which programs it cannot be seen what they have open; empty: of none, as far as is known."""
    with contextlib.suppress(OSError):
        if os.readlink(proc / "self/ns/pid") != _ALL_PROCESSES:
            return "programs outside of this container"
    pids = sorted(int(name) for name in os.listdir(proc) if name.isdecimal())
    if 1 not in pids:  # hidepid=2
        return "programs of other users"
    hidden = next((pid for pid in pids if not may_be_looked_at(proc / str(pid))), None)
    if not hidden:
        return ""
    name = printable(sysfs.text(proc / str(hidden) / "comm")).strip()  # its command line may have secrets
    return f"some programs, such as pid {hidden}{f' ({name})' if name else ''},"


def keepers_of(numbers: frozenset[str], proc: Path = PROC) -> list[int]:
    """Return the other processes that have one of these block devices open, and one of each mount namespace
    in which it is mounted, by `major:minor`: a namespace keeps what was mounted when it was made.
    """
    seen = {_namespace(proc / "self"), ""}
    keepers = []
    with contextlib.suppress(TimeoutError):
        keepers += openers_of(numbers, proc)
    for process in sorted(proc.glob("[0-9]*"), key=lambda path: int(path.name)):
        namespace = _namespace(process)
        if namespace not in seen:
            seen.add(namespace)
            text = sysfs.text(process / "mountinfo", errors="surrogateescape")
            if any(mount.block_number in numbers for mount in parse_mountinfo(text)):
                keepers.append(int(process.name))
    return sorted(set(keepers))


def openers_of_file(descriptor: int, proc: Path = PROC, *, mapped: bool = False) -> list[int]:
    """Return the other processes that have the same file or folder open, or also `mapped`, by the name that
    it has here, of those that can be looked at.
    """
    own = os.fstat(descriptor)
    name = os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))

    def matches(link: str, found: str) -> bool:
        with contextlib.suppress(OSError):
            return os.path.basename(found) == name and os.path.samestat(os.stat(link), own)
        return False

    pids = []
    with contextlib.suppress(TimeoutError):
        for pid in _openers(matches, proc, mapped=mapped):
            pids.append(pid)
    return pids


def ancestors(proc: Path = PROC) -> set[int]:
    """Return the processes that have begun this one: its parent, whose parent, and so on."""
    found: set[int] = set()
    pid = os.getpid()
    while pid and pid not in found:
        found.add(pid)
        match = re.search(r"^PPid:\s*(\d+)", sysfs.text(proc / str(pid) / "status"), re.MULTILINE)
        pid = int(match[1]) if match else 0
    return found


def process_text(pid: int, proc: Path = PROC) -> str:
    """Return a process as messages name it: `pid 4711 (pytest suites)`; of a far side who runs it."""
    try:
        with open(proc / str(pid) / "cmdline", "rb") as stream:  # as long as its user likes (PR_SET_MM)
            words = stream.read(_LONGEST_COMMAND).decode(errors="replace").split("\0")
    except OSError:
        words = []
    runner = words[words.index(FAR) + 1 :] if FAR in words else []
    words = runner if any(runner) else words
    line = " ".join(printable(" ".join(words)).split())
    return f"pid {pid} ({line[:80]})" if line else f"pid {pid}"


def _openers(
    matches: Callable[[str, str], bool],
    proc: Path,
    counts: Callable[[int], bool] = lambda pid: True,
    *,
    mapped: bool = False,
) -> Iterator[int]:
    """Yield the processes that count and have a matching link, or, if so asked, a mapping. Names are read
    first: to follow a link may hang (NFS). Root's and this user's come first, then those with the fewest
    files open: any user can open millions, which take minutes. Raises TimeoutError with the number of one
    that is left when time is over.
    """
    deadline = time.monotonic() + _LONGEST
    pids = sorted(int(name) for name in os.listdir(proc) if name.isdecimal())
    own = (0, os.geteuid())
    for pid in sorted(pids, key=lambda pid: (user_of(pid, proc) not in own, _slots(proc / str(pid)))):
        if pid == os.getpid() or not counts(pid):
            continue
        if time.monotonic() > deadline:
            raise TimeoutError(pid)
        opened = ((link, name) for link, name in _links(f"{proc}/{pid}/fd") if matches(link, name))
        if any(_is_open(link) for link, name in opened) or (
            mapped and any(matches(link, name) for link, name in _mappings(proc / str(pid)))
        ):
            yield pid


def may_be_looked_at(process: Path) -> bool:
    """Return whether it can be seen what a process has open: root of a user namespace lists it alone."""
    try:
        for number in os.listdir(process / "fd")[:1]:
            os.readlink(process / "fd" / number)
    except PermissionError:
        return False
    except OSError:  # it has ended
        pass
    return True


def _slots(process: Path) -> int:
    """Return for how many open files a process has room, which is hardly more than it has had open."""
    match = re.search(r"^FDSize:\s*(\d+)", sysfs.text(process / "status"), re.MULTILINE)
    return int(match[1]) if match else 0


def _is_open(link: str) -> bool:
    """Return False for a descriptor that is a place and no open file (O_PATH): it reads and writes nothing,
    and anybody can have one of any file, whatever rights it takes to open that.
    """
    process, _, number = link.rpartition("/fd/")
    match = re.search(r"^flags:\s*([0-7]+)", sysfs.text(Path(process) / "fdinfo" / number), re.MULTILINE)
    return not match or not int(match[1], 8) & os.O_PATH


def _namespace(process: Path) -> str:
    """Return the mount namespace of a process; nothing where that is not told."""
    try:
        return os.readlink(process / "ns/mnt")
    except OSError:
        return ""


def _links(folder: str) -> Iterator[tuple[str, str]]:
    try:
        numbers = os.listdir(folder)
    except OSError:
        return
    for number in numbers:
        link = f"{folder}/{number}"
        try:
            yield link, os.readlink(link)
        except OSError:
            continue


def _mappings(process: Path) -> Iterator[tuple[str, str]]:
    """Yield a link to each file that a process has mapped, with its name: it may have been closed since."""
    for line in sysfs.text(process / "maps", errors="surrogateescape").splitlines():
        said, _, name = line.partition(" /")
        if name:
            start, _, end = said.split()[0].partition("-")  # with leading zeros, which the link has not
            yield f"{process}/map_files/{int(start, 16):x}-{int(end, 16):x}", f"/{name}"


def _is_device(link: str, numbers: frozenset[str]) -> bool:
    try:
        status = os.stat(link)
    except OSError:
        return False
    return stat.S_ISBLK(status.st_mode) and number_text(status.st_rdev) in numbers
