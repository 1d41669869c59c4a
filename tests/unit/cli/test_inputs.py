"""What the commands read: plain files and open descriptors, and nothing that they would wait for."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iogate.cli import main
from iogate.errors import InputError
from iogate.formats.reading import read_input
from places import PLUGINS
from sessions import session

READING = {
    "show": ["show"],
    "compare": ["compare", "OTHER"],
    "report": ["report", "-o", "page.html"],
    "history": ["history"],
    "export": ["export", "--format=csv"],
    "audit": ["audit"],
    "import": ["import", "--device=local", "--suite=demo"],
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A project with a suite, and a results file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "demo.yaml").write_text("workloads:\n  reads: {rw: read, bs: 4k, size: 1M}\n")
    session().write(tmp_path / "OTHER")
    return tmp_path


@pytest.mark.parametrize("command", READING)
def test_a_pipe_is_not_waited_for(place, capsys, command):
    os.mkfifo(place / "pipe")
    assert main([*READING[command], "pipe"]) in (1, 2)
    said = capsys.readouterr()
    assert "cannot read pipe: it is no plain file" in said.out + said.err


@pytest.mark.parametrize(("file", "why"), [("/dev/zero", "no plain file"), ("a\0b", "null (byte|character)")])
def test_what_has_no_end_or_no_name_is_refused(place, file, why):
    with pytest.raises(InputError, match=f"cannot read .*{why}"):
        read_input(Path(file), 2**20)


def test_a_file_larger_than_any_output_is_refused(place):
    with pytest.raises(InputError, match="larger than 0 MiB"):
        read_input(Path("OTHER"), 10)


@pytest.mark.parametrize("command", [name for name in READING if name not in ("audit", "import", "compare")])
def test_results_are_read_from_an_open_descriptor(place, command):
    run = [sys.executable, "-m", "iogate.cli", *READING[command], "/dev/stdin"]
    path = os.pathsep.join(sys.path)
    with Path("OTHER").open("rb") as content:
        read, write = os.pipe()
        os.write(write, content.read())
        os.close(write)
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(run, stdin=read, capture_output=True, text=True, env=environment, check=False)
    os.close(read)
    assert done.returncode == 0, done.stderr
    assert "reads" in done.stdout or "1 session" in done.stdout


@pytest.mark.parametrize(
    "command",
    [["device", "list"], ["device", "check", "lab"], ["baseline", "log", "lab"], ["history"]],
    ids=" ".join,
)
@pytest.mark.parametrize("linked", [True, False], ids=["link", "folder"])
def test_what_a_link_to_a_folder_of_baselines_leads_to_is_not_shown(place, capsys, command, linked):
    home = place / ("elsewhere" if linked else "baselines")
    (home / "lab").mkdir(parents=True)
    for name in ("device", "demo"):
        (home / "lab" / f"{name}.yaml").write_text("SECRET\n")
    if linked:
        (place / "baselines").symlink_to(home)
    assert main(command) in (1, 2)
    said = capsys.readouterr()
    assert ("SECRET" in said.out + said.err) is not linked
    assert not linked or "is not shown" in " ".join((said.out + said.err).split())


@pytest.mark.parametrize(
    "words", [["show"], ["compare", "OTHER"], ["history"], ["history", "--baselines"], ["baseline", "show"]]
)
def test_what_lies_in_a_folder_that_this_user_may_not_enter_is_told(place, capsys, monkeypatch, words):
    real = os.stat

    def stat(path, *rest, **more):
        if str(path).endswith("closed/x"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr("os.stat", stat)
    monkeypatch.setattr(Path, "stat", stat)  # by its own name in 3.10
    assert main([*words, str(place / "closed/x")]) == 2
    assert "closed/x: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["show"], ["compare", "OTHER"], ["baseline", "show"], ["baseline", "log"]])
def test_too_long_a_name_is_told(place, capsys, words):
    assert main([*words, "a" * 300]) == 2
    assert "aaa: File name too long" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["device check lab", "device init other --host=popen//python=./mute"])
def test_ctrl_c_beside_a_host_that_says_nothing_is_no_traceback(place, words):
    (place / "mute").write_text("#!/bin/sh\n: > asked\nexec sleep 60\n")
    (place / "mute").chmod(0o755)
    (place / "baselines/lab").mkdir(parents=True)
    (place / "baselines/lab/device.yaml").write_text("host: popen//python=./mute\ntarget: /tmp\n")
    command = [sys.executable, "-m", "iogate.cli", *words.split()]
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        end = time.monotonic() + 30
        while not (place / "asked").exists() and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[1] == "iogate: interrupted\n"
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize(
    ("arguments", "empty"),
    [
        (["device", "init", "board", "--host=", "--target=/x"], "--host"),
        (["device", "init", "board", "--target", ""], "--target"),
        (["fleet", "results", "--baseline= "], "--baseline"),
        (["history", "--device="], "--device"),
        (["show", ""], "an argument"),
    ],
)
def test_what_is_empty_was_not_left_out(place, capsys, arguments, empty):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert (
        f"{empty} is empty: give a value (is a variable not set?), or leave it out" in capsys.readouterr().err
    )
    assert not list(place.glob("baselines/board"))


def test_a_folder_that_was_removed_is_told(tmp_path, monkeypatch, capsys):
    """As a job's checkout is, below a shell that stays in it: it was a traceback."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["history"]) == 2
    assert capsys.readouterr().err == "iogate: the current folder: No such file or directory\n"
