"""Programs run in their own process group, end in time, and leave nothing behind."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from iogate.errors import EngineError
from iogate.host import process
from iogate.host.process import find_program, run
from places import PLUGINS
from waiting import eventually

SLEEPER = "import time; time.sleep(60)"


def _gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def test_status_and_both_streams_are_kept(tmp_path):
    program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    done = run([sys.executable, "-c", program], folder=tmp_path, timeout=30)
    assert (done.status, done.stdout, done.stderr, done.timed_out) == (3, "out\n", "err\n", False)
    assert (tmp_path / "stdout").read_text() == "out\n"


def test_a_hung_program_is_ended_with_its_children(tmp_path):
    done = run(["sh", "-c", "sleep 60 & echo $!; wait"], folder=tmp_path, timeout=1)
    assert done.timed_out
    assert done.status == -signal.SIGTERM
    eventually(lambda: _gone(int(done.stdout)))


def test_what_goes_on_is_waited_for_beyond_its_time(tmp_path):
    done = run(["sleep", "0.6"], folder=tmp_path, timeout=0.1, goes_on=lambda elapsed: elapsed < 60)
    assert not done.timed_out and done.status == 0
    done = run(["sleep", "60"], folder=tmp_path, timeout=0.1, goes_on=lambda elapsed: elapsed < 0.3)
    assert done.timed_out and 0.3 <= done.seconds < 30


def test_a_child_that_outlives_its_parent_is_ended(tmp_path):
    program = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]).pid)"
    done = run([sys.executable, "-c", program], folder=tmp_path, timeout=30)
    assert done.status == 0
    eventually(lambda: _gone(int(done.stdout)))


def test_a_child_that_left_its_group_is_ended_with_a_parent_that_was_killed(tmp_path):
    """As jobs of fio do; some of them outlive a fio that is killed while it starts."""
    child = f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True)"
    program = f"import os, subprocess, sys; print({child}.pid, flush=True); os.kill(os.getpid(), 9)"
    done = run([sys.executable, "-c", program], folder=tmp_path, timeout=30)
    assert done.status == -signal.SIGKILL
    eventually(lambda: _gone(int(done.stdout)))


@pytest.mark.parametrize("detached", [False, True])
def test_a_killed_parent_leaves_no_program_behind(tmp_path, detached):
    inner = f"import os, time; {'os.setsid() if os.fork() == 0 else time.sleep(60);' if detached else ''}"
    program = f"""
        import sys
        from pathlib import Path
        from iogate.host.process import run
        folder = Path({str(tmp_path)!r})
        run([sys.executable, "-c", "{inner} print(os.getpid(), flush=True); time.sleep(60)"],
            folder=folder, timeout=60)
    """
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], env=environment)
    try:
        while not (tmp_path / "stdout").exists() or not (tmp_path / "stdout").read_text().endswith("\n"):
            assert parent.poll() is None
            time.sleep(0.02)
    finally:
        parent.kill()
        parent.wait()
    eventually(lambda: _gone(int((tmp_path / "stdout").read_text())))


def test_a_program_that_ignores_sigterm_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("iogate.host.process._GRACE_SECONDS", 0.3)
    done = run(["sh", "-c", "trap '' TERM; echo up; sleep 60; sleep 60"], folder=tmp_path, timeout=1)
    assert (done.stdout, done.status, done.timed_out) == ("up\n", -signal.SIGKILL, True)


@pytest.fixture
def immortal(monkeypatch):
    """No signal ends a program that waits for a device; ends them all the same."""
    with monkeypatch.context() as patched:
        patched.setattr(process, "_signal_group", lambda group, number: False)
        patched.setattr(process, "_GRACE_SECONDS", 0.05)
        patched.setattr(process, "_DYING_SECONDS", 0.05)
        patched.setattr(process.os, "kill", lambda number, signal: None)
        yield
    for each in list(process._undead):
        os.killpg(each.pid, signal.SIGKILL)
        each.wait()


def test_a_program_that_no_signal_ends_is_left_alone_and_no_other_is_started(tmp_path, immortal):
    with pytest.raises(EngineError, match=r"does not end \(pid \d+\): the device does not answer"):
        run(["sleep", "60"], folder=tmp_path, timeout=0.1)
    [hung] = process._undead
    with pytest.raises(EngineError, match=f"does not end .pid {hung.pid}"):
        run(["touch", "begun"], folder=tmp_path, timeout=60)
    assert not (tmp_path / "begun").exists()
    os.killpg(hung.pid, signal.SIGKILL)
    hung.wait()
    assert run(["true"], folder=tmp_path, timeout=60).status == 0


def test_what_interrupts_a_program_that_does_not_end_is_not_lost(tmp_path, immortal):
    def tick(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(["sleep", "60"], folder=tmp_path, timeout=30, tick=tick)
    for hung in process._undead:
        os.killpg(hung.pid, signal.SIGKILL)
        hung.wait()
    process.require_ended()


@pytest.mark.parametrize("error", [OSError(errno.ENOSYS, ""), OSError(errno.EPERM, ""), AttributeError()])
def test_a_kernel_without_pidfd_tells_the_end_as_well(tmp_path, monkeypatch, error):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, "pidfd_open", fail)
    monkeypatch.setattr(process, "_TICK_SECONDS", 60.0)
    started = time.monotonic()
    assert run(["sh", "-c", "sleep 0.1; exit 3"], folder=tmp_path, timeout=300).status == 3
    assert time.monotonic() - started < 60
    assert run(["sleep", "60"], folder=tmp_path, timeout=0.2).timed_out


def test_an_interrupt_while_waiting_ends_the_program(tmp_path):
    pids = []

    def tick(_: float) -> None:
        pids.append(int(eventually((tmp_path / "stdout").read_text)))
        raise KeyboardInterrupt

    program = f"import os; print(os.getpid(), flush=True); {SLEEPER}"
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", program], folder=tmp_path, timeout=30, tick=tick)
    eventually(lambda: _gone(pids[0]))


def test_a_program_is_over_when_it_ends_and_not_at_the_next_tick(tmp_path, monkeypatch):
    monkeypatch.setattr("iogate.host.process._TICK_SECONDS", 60.0)
    started = time.monotonic()
    done = run(["/bin/sleep", "0.1"], folder=tmp_path, timeout=300)
    assert 0.1 <= done.seconds <= time.monotonic() - started < 60


def test_a_program_that_cannot_start_is_told(tmp_path):
    with pytest.raises(EngineError, match="cannot start"):
        run(["/nonexistent/engine"], folder=tmp_path, timeout=1)


def test_a_program_that_must_not_be_started_says_what_may_be_wrong(tmp_path):
    """As our reader on a board whose /tmp is mounted noexec."""
    (tmp_path / "reader").write_text("")
    with pytest.raises(EngineError, match=r"(?s)cannot start .*Permission denied.*noexec.*TMPDIR=DIR"):
        run([str(tmp_path / "reader")], folder=tmp_path, timeout=1)


def test_a_folder_that_is_removed_while_a_program_works_leaves_nothing_to_read(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    done = run(["sh", "-c", f"echo said; rm -r {folder}"], folder=folder, timeout=60)
    assert (done.status, done.stdout, done.stderr) == (0, "", "")


def test_what_a_program_said_that_cannot_be_read_is_told(tmp_path):
    """As where the results lie on a mount that died meanwhile."""
    with pytest.raises(EngineError, match=r"cannot read .*/stdout: Is a directory"):
        run(["sh", "-c", "rm stdout; mkdir stdout"], folder=tmp_path, timeout=60)


def test_a_missing_program_names_its_package():
    with pytest.raises(EngineError, match="apt-get install fio-package"):
        find_program("no-such-program", "fio-package")


def test_output_of_a_killed_program_is_read(tmp_path):
    program = "import os, signal; print('partial', flush=True); os.kill(os.getpid(), signal.SIGSEGV)"
    done = run([sys.executable, "-c", program], folder=tmp_path, timeout=30)
    assert (done.status, done.stdout) == (-signal.SIGSEGV, "partial\n")


def test_the_guard_leaves_no_warning_when_python_ends(tmp_path):
    script = "import sys; from pathlib import Path; from iogate.host.process import run\n"
    script += "run(['true'], folder=Path(sys.argv[1]), timeout=60)"
    argv = [sys.executable, "-W", "error", "-c", script, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    done = subprocess.run(argv, check=False, capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")


OF_BUSYBOX = """#!/bin/sh
{sed} -z 1q | {tr} -d '\\000' | exec {grep} "$@"
"""
CUT_OFF = """if True:
    import os, signal, sys
    from pathlib import Path
    from iogate.host.process import start
    with start([(["sleep", "600"], Path(sys.argv[1]))]) as (program,):
        print(program.process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_sigkill_leaves_is_ended_whatever_grep_a_machine_has(tmp_path):
    """That of busybox reads no further than the first NUL: fio went on writing to the device."""
    grep = tmp_path / "grep"
    grep.write_text(OF_BUSYBOX.format(**{name: shutil.which(name) for name in ("sed", "tr", "grep")}))
    grep.chmod(0o755)
    done = subprocess.run([grep, "-q", "b"], input=b"a\0b", check=False)
    assert done.returncode == 1
    ends_what_sigkill_leaves(tmp_path, f"{tmp_path}:{os.environ['PATH']}")


def test_so_it_is_where_there_is_no_tr(tmp_path):
    for name in ("sh", "head", "grep", "sleep"):
        (tmp_path / name).symlink_to(shutil.which(name))
    ends_what_sigkill_leaves(tmp_path, str(tmp_path))


def ends_what_sigkill_leaves(tmp_path, path):
    environment = {"FIRST": "of all", "PYTHONPATH": str(PLUGINS), "PATH": path}
    argv = [sys.executable, "-c", CUT_OFF, str(tmp_path)]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    eventually(lambda: _gone(int(done.stdout)))


def test_a_machine_without_a_shell_is_told_what_it_lacks(tmp_path, monkeypatch):
    """As a container of Python and fio alone may be."""
    monkeypatch.setattr(process, "_SHELL", str(tmp_path / "none"))
    monkeypatch.setattr(process, "_guard", process._guard.__wrapped__)
    with pytest.raises(EngineError, match=r"(?s)cannot start .*none, .*: No such file.*needs a shell"):
        run(["true"], folder=tmp_path, timeout=30)


def test_a_program_s_temporary_files_are_its_own(tmp_path, monkeypatch):
    """fio writes its status into its output once there is a file `fio-dump-status` in TMPDIR, or /tmp, where
    anybody can make it; the output of a run is then that of several.
    """
    monkeypatch.setenv("TMPDIR", "/tmp")
    done = run(["sh", "-c", 'echo "$TMPDIR"'], folder=tmp_path, timeout=30)
    assert done.stdout == f"{tmp_path}\n"
