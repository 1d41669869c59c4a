"""Kills what a measurement on another host consists of, at random moments, and looks for what is left there.

    python benchmarks/killed_hosts.py [TIMES]

A real sshd on the loopback (Debian: openssh-server, and root for it), the real fio. The victims take turns:
ssh, sshd's process for the session, Python there, pytest here. After each there must be no engine, no process
of the far side, no scratch folder on the target and no private folder within a minute, and no verdict that
passed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from hosts import Ssh, far_processes, far_python, name, parent, ssh_client, sshd
from projects import Project
from waiting import eventually

SUITE = """\
defaults: {engine: fio, direct: false, size: 64M, time_based: true, repetitions: 2}
workloads:
  first: {rw: randread, bs: 4k, runtime: 1}
  second: {rw: randwrite, bs: 4k, runtime: 50}
"""
VICTIMS = ("ssh", "sshd", "python", "pytest")


def kill(victim: str, ssh: Ssh, tmp: Path, pytest: int) -> bool:
    """Kill one of them; whether it was there."""
    try:
        pid: int | None = pytest if victim == "pytest" else ssh_client(ssh)
        if victim in ("sshd", "python"):
            pid = far_python(tmp)
        while victim == "sshd" and pid and not name(pid).startswith("sshd"):
            pid = parent(pid)
        if pid and pid > 1:
            os.kill(pid, signal.SIGKILL)
        return bool(pid)
    except OSError:
        return False


def once(folder: Path, ssh: Ssh, victim: str) -> str:
    """One run that is killed; when, and how long it took until nothing was left."""
    tmp, target = folder / "far", folder / "drive"
    tmp.mkdir(parents=True)
    target.mkdir()
    project = Project(folder / "project")
    project.suite(SUITE)
    run = project.start("suites", f"--io-host={ssh.spec(tmp)}", f"--io-target={target}")
    started, moment = time.monotonic(), random.uniform(0.5, 8)
    time.sleep(moment)
    while not kill(victim, ssh, tmp, run.pid):
        time.sleep(0.05)  # not there yet
    killed = time.monotonic()
    result = project.finish(run)
    passed = [word for word in result.verdicts.values() if word not in ("invalid", "recorded")]
    assert not passed, result.text
    assert "second" not in result.verdicts or result.verdicts["second"] != "recorded", result.text
    left = lambda: [*far_processes(tmp), *tmp.glob("iogate-" + "[0-9a-f]" * 16), *target.iterdir()]  # noqa: E731
    eventually(lambda: not left())
    return f"{victim} after {killed - started:.1f} s: nothing left after {time.monotonic() - killed:.1f} s"


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    with tempfile.TemporaryDirectory(prefix="hosts-") as folder, sshd(Path(folder) / "ssh") as ssh:
        for number in range(times):
            victim = VICTIMS[number % len(VICTIMS)]
            print(number + 1, once(Path(folder) / str(number), ssh, victim), flush=True)


if __name__ == "__main__":
    main()
