"""Who has something open, as a made /proc says it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from iogate.host.openers import openers_below, openers_of, unseen, user_of

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


def test_a_place_that_is_held_is_no_open_file(proc):
    process(proc, 11, "/dev/null")
    process(proc, 12, "/dev/null", flags=os.O_PATH)
    process(proc, 13, "/dev/null", flags=os.O_RDWR | os.O_CLOEXEC)
    assert openers_of(frozenset(), proc) == []
    assert openers_below(Path("/dev"), proc) == [11, 13]


def test_who_has_too_many_files_open_is_looked_at_last_and_not_without_end(proc, monkeypatch):
    for pid, slots, user in ((11, 1048576, 0), (12, 64, 0), (13, 256, ANOTHER), (14, 64, ANOTHER)):
        process(proc, pid, "/dev/null", user=user)
        with (proc / str(pid) / "status").open("a") as status:
            status.write(f"FDSize:\t{slots}\n")
    assert openers_below(Path("/dev"), proc) == [12, 11]
    now = iter([0.0, 1.0, 2.0, 3.0, 1000.0])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    with pytest.raises(TimeoutError) as caught:
        openers_of(frozenset(), proc)
    assert caught.value.args == (13,)


def test_a_device_that_another_may_not_even_read_is_not_open_in_their_process(tmp_path):
    if os.geteuid():
        pytest.skip("needs root")
    node = Path("/dev/loop0")
    if not node.is_block_device():
        pytest.skip("needs a block device")
    number = frozenset([f"{os.major(node.stat().st_rdev)}:{os.minor(node.stat().st_rdev)}"])
    wait = (
        "import os, sys; os.setuid(65534); file = os.open(sys.argv[1], os.O_PATH)\n"
        "print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", wait, node], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"\n"
        assert other.pid not in openers_of(number)
        other.stdin.close()


@pytest.mark.parametrize(
    ("namespace", "pids", "hidden", "said"),
    [
        ("pid:[4026531836]", (1, 11, 12), None, ""),
        ("pid:[4026531836]", (1, 11, 12), 12, "some programs, such as pid 12,"),
        ("pid:[4026531836]", (11, 12), None, "programs of other users"),
        ("pid:[4026532201]", (1, 11), None, "programs outside of this container"),
    ],
)
def test_it_is_known_of_which_programs_nothing_is_seen(proc, monkeypatch, namespace, pids, hidden, said):
    for pid in pids:
        process(proc, pid, "/dev/null")
    (proc / "self/ns").mkdir(parents=True)
    (proc / "self/ns/pid").symlink_to(namespace)
    listed = os.listdir

    def list_folder(path):
        if path == proc / f"{hidden}/fd":
            raise PermissionError
        return listed(path)

    monkeypatch.setattr(os, "listdir", list_folder)
    assert unseen(proc) == said
