"""Network block devices in memory, as slow and as faulty as nbdkit's filters make them."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from projects import need_fio
from waiting import eventually


@contextlib.contextmanager
def running(*argv: object) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs for as long."""
    process = subprocess.Popen(list(map(str, argv)), stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def nbdkit(socket: Path, *arguments: object) -> Iterator[str]:
    """A device at a Unix socket that every user may use: nbdkit with these arguments; the URI for fio."""
    if not shutil.which("nbdkit"):
        pytest.skip("needs nbdkit")
    socket.unlink(missing_ok=True)
    with running("nbdkit", "--foreground", "--unix", socket, *arguments) as process:
        eventually(lambda: socket.exists() or process.poll() is not None)
        assert process.poll() is None, f"nbdkit did not start: {arguments}"
        socket.chmod(0o666)
        yield f"nbd+unix:///?socket={socket}"


def need_fio_with_nbd() -> None:
    """Skip the test where there is no fio with the ioengine nbd."""
    need_fio()
    if "nbd" not in subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this fio was built without the ioengine nbd")
