"""Clients for tests: hosts that are network namespaces of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

_LISTENS = "0A"  # /proc/net/tcp


@dataclass(frozen=True)
class Namespace:
    """A network namespace, and the folder for temporary files of the client in it."""

    name: str
    tmp: Path

    def python(self, environment: str = "") -> str:
        """The command that is Python in it."""
        return f"ip netns exec {self.name} env TMPDIR={self.tmp} {environment}{sys.executable}"

    @property
    def host(self) -> str:
        """The host as execnet has it."""
        return f"popen//python={self.python()}"

    def listening(self) -> list[str]:
        """The network ports on which anybody listens in it."""
        argv = ["ip", "netns", "exec", self.name, "cat", "/proc/net/tcp", "/proc/net/tcp6"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if line.split()[3] == _LISTENS]


@contextmanager
def namespaces(tmp: Path, count: int) -> Iterator[list[Namespace]]:
    """Make so many network namespaces, each for a client; they are gone at the end."""
    if os.geteuid():
        pytest.skip("needs root for network namespaces")
    with ExitStack() as stack:
        made = []
        for number in range(1, count + 1):
            name = f"iogate-{os.getpid()}-{number}"
            if subprocess.run(["ip", "netns", "add", name], check=False).returncode:
                pytest.skip("needs ip netns")
            stack.callback(subprocess.run, ["ip", "netns", "delete", name], check=True)
            folder = tmp / f"far{number}"
            folder.mkdir(parents=True)
            made.append(Namespace(name, folder))
        yield made


def ports_of(pid: int) -> list[str]:
    """The network ports on which a process listens in its own namespace."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            inodes.add(os.readlink(link))
        except OSError:
            continue
    lines = [
        line.split()
        for file in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{file}").read_text().splitlines()[1:]
    ]
    return [line[1] for line in lines if line[3] == _LISTENS and f"socket:[{line[9]}]" in inodes]
