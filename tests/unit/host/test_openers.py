"""Who has something open, as a made /proc says it."""

import os
from pathlib import Path

import pytest

from iogate.host.openers import openers_below, openers_of, user_of

ANOTHER = 65534


@pytest.fixture
def proc(tmp_path):
    return tmp_path / "proc"


def process(proc, pid, opened, user=None, effective=None, flags=os.O_RDONLY):
    """Make a process that has something open."""
    user = os.geteuid() if user is None else user
    for name in ("fd", "fdinfo"):
        (proc / str(pid) / name).mkdir(parents=True)
    (proc / str(pid) / "fd/3").symlink_to(opened)
    (proc / str(pid) / "fdinfo/3").write_text(f"pos:\t0\nflags:\t0{flags:o}\nmnt_id:\t27\n")
    shown = user if effective is None else effective
    (proc / str(pid) / "status").write_text(f"Name:\tfio\nUid:\t{user}\t{shown}\t{shown}\t{shown}\n")


def test_what_another_user_calls_a_file_in_a_namespace_of_theirs_does_not_count(proc):
    process(proc, 11, "/t/.iogate-scratch-1/engine/data")
    process(proc, 12, "/t/.iogate-scratch-1/engine/data", user=0)
    process(proc, 13, "/t/.iogate-scratch-1/engine/data", user=ANOTHER)
    process(proc, 14, "/t/.iogate-scratch-1/engine/data", user=ANOTHER, effective=0)
    process(proc, 15, "/t/.iogate-scratch-12/engine/data")
    assert sorted(openers_below(Path("/t/.iogate-scratch-1"), proc)) == [11, 12]


def test_a_process_is_of_who_started_it(proc):
    process(proc, 11, "/", user=ANOTHER, effective=0)
    assert user_of(11, proc) == ANOTHER
    assert user_of(12, proc) is None
    assert user_of(os.getpid()) == os.getuid()
