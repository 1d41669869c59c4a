"""A block device of known speed: a cgroup whose processes get so many I/Os per second from it.

cgroup v1 has blkio.throttle.{read,write}_iops_device, v2 has io.max (Documentation/admin-guide of Linux).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path


class Unavailable(Exception):
    """This machine cannot throttle a device; the text says why."""


def hierarchy() -> tuple[Path, int]:
    """Where the controller of block I/O is mounted, and its version. Raises Unavailable."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for _, point, kind, options, *_ in mounts:
        if kind == "cgroup" and "blkio" in options.split(","):
            if not (Path(point) / "blkio.throttle.read_iops_device").exists() and not _throttles(Path(point)):
                raise Unavailable("the kernel was built without BLK_DEV_THROTTLING")
            return Path(point), 1
    for _, point, kind, *_ in mounts:
        if kind == "cgroup2" and "io" in (Path(point) / "cgroup.controllers").read_text().split():
            return Path(point), 2
    raise Unavailable("no cgroup controller for block I/O is mounted (v1: blkio, v2: io)")


def _throttles(root: Path) -> bool:
    return any(root.glob("*/blkio.throttle.read_iops_device"))


class Throttle:
    """A cgroup; `limit` sets what its processes get from the device `number` (`7:0`)."""

    def __init__(self, number: str) -> None:
        root, self.version = hierarchy()
        self.number = number
        self.folder = root / f"iogate-test-{os.getpid()}-{number.replace(':', '-')}"
        try:
            if self.version == 2 and "io" not in (root / "cgroup.subtree_control").read_text().split():
                (root / "cgroup.subtree_control").write_text("+io")
            self.folder.mkdir()
        except OSError as error:
            raise Unavailable(f"cannot make a cgroup in {root}: {error.strerror}") from error

    def limit(self, iops: int) -> None:
        """So many reads and as many writes per second."""
        if self.version == 2:
            (self.folder / "io.max").write_text(f"{self.number} riops={iops} wiops={iops}")
            return
        for kind in ("read", "write"):
            (self.folder / f"blkio.throttle.{kind}_iops_device").write_text(f"{self.number} {iops}")

    def limit_bandwidth(self, bandwidth: int) -> None:
        """So many bytes per second read and as many written."""
        if self.version == 2:
            (self.folder / "io.max").write_text(f"{self.number} rbps={bandwidth} wbps={bandwidth}")
            return
        for kind in ("read", "write"):
            (self.folder / f"blkio.throttle.{kind}_bps_device").write_text(f"{self.number} {bandwidth}")

    def inside(self, argv: Sequence[str]) -> list[str]:
        """The same command, run in the cgroup with all that it starts."""
        return ["sh", "-c", f'echo $$ > "{self.folder}/cgroup.procs" && exec "$@"', "sh", *argv]

    def processes(self) -> list[int]:
        """Who is in the cgroup."""
        return [int(pid) for pid in (self.folder / "cgroup.procs").read_text().split()]

    def close(self) -> None:
        """End whoever is still in the cgroup, and remove it."""
        deadline = time.monotonic() + 10
        while self.folder.exists():
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.folder} cannot be removed: {self.processes()} are in it")
            time.sleep(0.05)


@contextlib.contextmanager
def throttle(number: str) -> Iterator[Throttle]:
    """A cgroup that is gone afterwards. Raises Unavailable."""
    cgroup = Throttle(number)
    try:
        yield cgroup
    finally:
        cgroup.close()
