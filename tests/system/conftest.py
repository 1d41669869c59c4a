"""Real engines on real block devices of known speed."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from iogate.host.mounts import block_number
from loops import MIB, Loops, format_device, need
from projects import Project, Result, need_fio
from throttle import Throttle, Unavailable, throttle

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell in the background; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Throttled:
    """A loop device under a throttle; `point` is where its file system is mounted, if it has one."""

    device: Path
    point: Path | None
    throttle: Throttle

    def run(self, project: Project, iops: int, *arguments: str) -> Result:
        """Run pytest where the device gives that many I/Os per second."""
        self.throttle.limit(iops)
        return project.run(*arguments, wrapper=self.throttle.inside)


@pytest.fixture(scope="module")
def throttled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Throttled]]:
    """Makes block devices of adjustable speed, plain or with a file system; at the end all are gone."""
    with contextlib.ExitStack() as stack:

        def make(file_system: str = "", size: int = 64 * MIB) -> Throttled:
            need(*([f"mkfs.{file_system}"] if file_system else []))
            need_fio()
            loops = stack.enter_context(Loops(tmp_path_factory.mktemp("disk")))
            loops.into_memory()
            device = loops.device(size, "--direct-io=on")
            point = None
            if file_system:
                format_device(file_system, device)
                point = loops.mount(device)
            number = block_number(device)
            assert number
            try:
                return Throttled(device, point, stack.enter_context(throttle(number)))
            except Unavailable as reason:
                pytest.skip(str(reason))

        yield make


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[Loops]:
    """Makes file systems in memory, or what is next to it: their noise is small, and they are apart."""
    need("mkfs.ext4")
    with Loops(tmp_path / "disks") as made:
        made.folder.mkdir()
        made.into_memory()
        yield made


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """A project without suites. $IOGATE_TEST_HOST says where its device is, for tests that do not."""
    project = Project(tmp_path / "project")
    project.host = getattr(request, "param", os.environ.get("IOGATE_TEST_HOST", ""))
    return project
