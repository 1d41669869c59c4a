"""Hosts for tests: a real sshd on the loopback with keys of its own, and the processes of a far side."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from waiting import eventually

_SERVER = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile none
AuthorizedKeysFile {folder}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AcceptEnv *
"""
_CLIENT = """\
Host bench
  IdentityFile {folder}/user_key
Host refused
  IdentityFile {folder}/other_key
Host unknown
  IdentityFile {folder}/user_key
  UserKnownHostsFile none
Host plain
  IdentityFile {folder}/user_key
  User iogate-far
Host bench refused unknown plain
  HostName 127.0.0.1
  Port {port}
  User root
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
"""


class Ssh:
    """A running sshd whose only client is known; `config` is for `ssh -F`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("host_key", "user_key", "other_key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True
            )
        shutil.copy(folder / "user_key.pub", folder / "authorized")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        parts = {"folder": folder, "port": self.port}
        (folder / "sshd_config").write_text(_SERVER.format(**parts))
        self.config = folder / "ssh_config"
        self.config.write_text(_CLIENT.format(**parts))
        self.know(folder / "host_key.pub")

    def know(self, key: Path) -> None:
        """Let the client know this key as the server's."""
        kind, text, *_ = key.read_text().split()
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {kind} {text}\n")

    def spec(self, tmp: Path, host: str = "bench") -> str:
        """The host as execnet has it, with its folder for temporary files."""
        return f"ssh=-o SetEnv=TMPDIR={tmp} {host}//ssh_config={self.config}"


def popen(tmp: Path) -> str:
    """A host that is another process here, with its folder for temporary files."""
    return f"popen//python=env TMPDIR={tmp} {sys.executable}"


def script(file: Path, lines: str, before: str = "sh -c") -> Path:
    """A program that runs these lines of sh, which are given its arguments, by way of another program."""
    file.write_text(f'#!/bin/sh\nexec {before} {shlex.quote(lines)} sh "$@"\n')
    file.chmod(0o755)
    return file


PLAIN = 54321
"""The number of a user who is known to a server of `sshd(..., plain=True)` alone, at its host `plain`."""


def _with_plain(folder: Path) -> list[str]:
    """What runs a command where there is such a user: in a mount namespace with another /etc/passwd."""
    home = folder / "home"
    home.mkdir()
    os.chown(home, PLAIN, PLAIN)
    users = folder / "passwd"
    users.write_text(Path("/etc/passwd").read_text() + f"iogate-far:x:{PLAIN}:{PLAIN}::{home}:/bin/sh\n")
    lines = f'mount --bind {users} /etc/passwd && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", lines, "sh"]


@contextmanager
def sshd(folder: Path, *, plain: bool = False) -> Iterator[Ssh]:
    """Run a real sshd, ended by its process id. Skips the test where there is none, or no root."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if not program or not shutil.which("ssh") or os.geteuid():
        pytest.skip("needs openssh-server, and root for it")
    Path("/run/sshd").mkdir(exist_ok=True)
    folder.mkdir()
    ssh = Ssh(folder)
    server = subprocess.Popen(
        [
            *(_with_plain(folder) if plain else []),
            program,
            "-D",
            "-E",
            str(folder / "log"),
            "-f",
            str(folder / "sshd_config"),
        ],
        stdin=subprocess.DEVNULL,
    )
    try:
        eventually(lambda: _listens(ssh.port))
        yield ssh
    finally:
        server.terminate()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def far_processes(tmp: Path) -> list[int]:
    """Processes whose folder for temporary files this is, which is not that of their test: the far side,
    its guards and engines.
    """
    own, below = (
        f"TMPDIR={tmp}".encode(),
        f"XDG_CACHE_HOME={tmp}/".encode(),
    )  # engines have a TMPDIR of theirs
    return [
        pid
        for pid, variables in _environments()
        if own in variables or any(each.startswith(below) for each in variables)
    ]


def far_python(tmp: Path) -> int | None:
    """The process id of the far side's Python, once it is at work."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            works = any(str(link.readlink()).startswith(f"{tmp}/") for link in (folder / "fd").iterdir())
        except OSError:
            continue
        if b"sys.stdin.readline" in line and works:
            return int(folder.name)
    return None


def ssh_client(ssh: Ssh) -> int | None:
    """The process id of a client of this server."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if line.startswith(b"ssh\0") and str(ssh.config).encode() in line:
            return int(folder.name)
    return None


def parent(pid: int) -> int:
    """The parent of a process."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def name(pid: int) -> str:
    """What a process is called."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


def _environments() -> Iterator[tuple[int, list[bytes]]]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield int(folder.name), (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
