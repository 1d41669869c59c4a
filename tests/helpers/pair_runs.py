"""Pairs that real engines measure by turns: what they are measured with, and who is at work in which arm."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from projects import Project, Result, plain
from waiting import eventually

SLICE = "--io-slice=40ms"
READING = """\
workloads:
  reading: {rw: randread, bs: 4k, iodepth: 8, ioengine: libaio, direct: true, size: 8M}
"""


def quiet(project: Project, result: Result | None = None) -> None:
    """Nobody is left, stopped or not; nor data. What was said is plain."""
    eventually(lambda: not project.processes())
    assert not project.leftovers
    if result:
        plain(result.text)


def engines(project: Project) -> tuple[list[int], list[int]]:
    """The process ids of fio and its jobs, arm A's and arm B's."""
    found: tuple[list[int], list[int]] = ([], [])
    for line in project.processes():
        words = line.split()
        with contextlib.suppress(OSError):
            arm = Path(os.readlink(f"/proc/{words[0]}/cwd")).name
            if arm in ("A", "B"):
                found["AB".index(arm)].append(int(words[0]))
    return found


def state(pid: int) -> str:
    """The state of a process, as proc(5) has it: T is stopped; empty if it is gone."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def alternating(project: Project) -> tuple[list[int], list[int]]:
    """Wait until a job of one arm is stopped and none of the other; the process ids of both arms."""

    def look() -> tuple[list[int], list[int]] | None:
        arms = engines(project)
        stopped = [["T" in state(pid) for pid in arm] for arm in arms]
        return (
            arms if all(len(arm) == 2 for arm in arms) and list(map(all, stopped)).count(True) == 1 else None
        )

    found = eventually(look)
    assert found
    return found
