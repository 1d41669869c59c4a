"""Who holds a lock, who heeds it, and how long one waits."""

import contextlib
import fcntl
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from iogate.errors import TargetError
from iogate.target import locks
from iogate.target.locks import hold_disks, until_free

NUMBER = "4095:77"
LOCK = """
import fcntl, os, sys
os.setgroups([]); os.setgid(int(sys.argv[2]))
if "set-user-id" in sys.argv:
    os.setresuid(int(sys.argv[2]), 0, 0)  # as who starts su, and leaves it waiting for a password
else:
    os.setuid(int(sys.argv[2]))
file = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(file, fcntl.LOCK_EX)
if "fork" in sys.argv and os.fork():
    os._exit(0)  # who took it is gone, and its child has it
print("locked", os.getpid(), flush=True)
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture(autouse=True)
def shared(tmp_path, monkeypatch):
    """A folder for temporary files as /tmp is, and one in the place of /run/iogate."""
    folder = tempfile.mkdtemp(prefix="locks-", dir="/tmp")
    os.chmod(folder, 0o1777)
    monkeypatch.setattr(tempfile, "tempdir", folder)
    monkeypatch.setattr(locks, "ROOTS_OWN", tmp_path / "run")
    yield folder
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)


@contextlib.contextmanager
def another(file, user=65534, *how):
    """A process of another user that holds the lock of a file, perhaps as a child of who took it."""
    argv = [sys.executable, "-c", LOCK, str(file), str(user), *how]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        word, process.holder = process.stdout.readline().split()
        assert word == b"locked"
        process.holder = int(process.holder)
        try:
            yield process
        finally:
            process.stdin.close()


def refused(words):
    return pytest.raises(TargetError, match=words)


def lock_file(folder):
    with hold_disks([NUMBER]):
        pass
    return os.path.join(folder, f"iogate-{NUMBER.replace(':', '-')}.lock")


@pytest.mark.parametrize("how", [(), ("fork",), ("set-user-id",)])
def test_root_is_told_of_another_users_lock_and_goes_on(shared, how):
    said = []
    with another(lock_file(shared), 65534, *how) as other, hold_disks([NUMBER], False, said.append):
        assert len(said) == 1
        assert f"pid {other.holder} (" in said[0] and "of nobody" in said[0] and "import fcntl" in said[0]


def test_root_goes_on_where_nobody_has_the_locked_file_open(shared):
    """Who took the lock has put the descriptor into a socket that nobody reads, and ended."""
    file, said = lock_file(shared), []
    sender, receiver = socket.socketpair()
    with sender, receiver:
        pid = os.fork()
        if not pid:
            os.setuid(65534)
            descriptor = os.open(file, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            socket.send_fds(sender, [b"."], [descriptor])
            os._exit(0)
        os.waitpid(pid, 0)
        with hold_disks([NUMBER], False, said.append):
            assert f"nobody has it open (process {pid} took the lock" in said[0]
        with refused("nobody has it open"), hold_disks([NUMBER], True, pytest.fail):
            pass
    with hold_disks([NUMBER], False, pytest.fail):
        pass


def test_root_that_may_not_look_into_the_one_who_has_it_takes_it_for_nobodys_no_more(shared, monkeypatch):
    """In a user namespace, or without CAP_SYS_PTRACE: two runs disturbed each other, and both regressed."""
    monkeypatch.setattr(locks, "openers_of_file", lambda descriptor: [])
    with another(lock_file(shared), 0) as other:
        monkeypatch.setattr(locks, "may_be_looked_at", lambda process: process.name != str(other.holder))
        with refused(f"another run is on the same disk .*pid {other.holder} "), hold_disks([NUMBER], False):
            pass


def test_what_is_left_of_a_killed_run_gets_a_moment_to_let_go(shared):
    """Its last copy of the lock's descriptor lives on for an instant, as a child that was just begun may."""
    file = lock_file(shared)
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        descriptor = os.open(file, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not os.fork():
            os.close(read)
            time.sleep(0.3)
            os._exit(0)
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(write)
    with hold_disks([NUMBER], True, pytest.fail):
        pass
    assert not os.read(read, 1)
    os.close(read)


def test_root_heeds_it_where_it_is_to_wait(shared):
    with another(lock_file(shared)), refused("of nobody") as caught, hold_disks([NUMBER], True, pytest.fail):
        pass
    assert caught.value.rule == "locked"


def test_roots_runs_exclude_each_other_whatever_others_have_locked(shared, tmp_path):
    file = lock_file(shared)
    own = tmp_path / "run" / os.path.basename(file)
    assert stat.S_IMODE(own.parent.stat().st_mode) == 0o700
    with (
        another(file),
        another(own, user=0) as root,
        pytest.raises(TargetError, match=f"pid {root.pid} .*root"),
        hold_disks([NUMBER], False, print),
    ):
        pass


def test_a_user_is_kept_out_by_whoever_has_the_lock(shared):
    file = lock_file(shared)
    with another(file, user=12345) as process:
        os.seteuid(65534)
        try:
            with refused(f"pid {process.pid} .* of user 12345"), hold_disks([NUMBER], False, pytest.fail):
                pass
        finally:
            os.seteuid(0)


def test_who_cannot_be_seen_in_a_container_is_named_by_its_machine(shared, tmp_path):
    take_it = (
        "import tempfile; from iogate.target import locks; from iogate.errors import TargetError\n"
        f"tempfile.tempdir = {shared!r}; locks.ROOTS_OWN = locks.Path({str(tmp_path / 'run')!r})\n"
        f"try: locks.hold_disks([{NUMBER!r}], False).__enter__()\n"
        "except TargetError as error: print(error.message, '|', error.remedy)"
    )
    apart = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", take_it]
    with another(lock_file(shared), user=0):
        said = subprocess.run(apart, capture_output=True, text=True, check=True).stdout
    assert re.search(r"a process that cannot be seen from here \| .*`lslocks` of the machine names it", said)


def take(file):
    """Open a target that is locked by this file."""

    @contextlib.contextmanager
    def taken(heed):
        descriptor = os.open(file, os.O_RDONLY | os.O_CREAT)
        try:
            with locks.hold(descriptor, "the target", heed):
                yield heed
        finally:
            os.close(descriptor)

    return taken


def test_waiting_says_for_whom_and_ends_when_it_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_POLL_SECONDS", 0.01)
    said, file = [], tmp_path / "lock"
    file.touch()
    with another(file, user=0) as process, contextlib.ExitStack() as stack:

        def notice(text):
            said.append(text)
            process.stdin.close()

        assert until_free(stack, take(file), 600.0, notice) is True
    assert re.search("at most (10 min|9 min 5. s)", said[0]) and all(
        f"pid {process.pid}" in text for text in said
    )


def test_waiting_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_POLL_SECONDS", 0.01)
    said, file = [], tmp_path / "lock"
    file.touch()
    with another(file, user=0), contextlib.ExitStack() as stack, pytest.raises(TargetError) as caught:
        until_free(stack, take(file), 0.05, said.append)
    assert caught.value.rule == "locked" and len(said) == 1


def test_other_refusals_are_not_waited_for():
    def refuse(heed):
        raise TargetError("it is read-only", rule="read-only")

    with contextlib.ExitStack() as stack, pytest.raises(TargetError, match="read-only"):
        until_free(stack, refuse, 600.0, pytest.fail)


def test_control_c_ends_the_waiting(tmp_path, request):
    # What a shell starts in the background ignores SIGINT, and so do its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    file = tmp_path / "lock"
    file.touch()

    def interrupt(text):
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()

    with another(file, user=0), contextlib.ExitStack() as stack, pytest.raises(KeyboardInterrupt):
        until_free(stack, take(file), 600.0, interrupt)


def test_a_lock_file_that_is_no_file_does_no_harm(shared):
    os.mkfifo(os.path.join(shared, f"iogate-{NUMBER.replace(':', '-')}.lock"))
    with hold_disks([NUMBER], False, pytest.fail):
        pass
