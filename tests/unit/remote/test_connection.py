"""The way to a host: what is one, and what is wrong with those that cannot be had."""

import os
import signal
import sys

import pytest

from hosts import sshd
from iogate.errors import InputError, TargetError
from iogate.remote.connection import Connection, _argv, specification
from iogate.remote.post import Lost
from waiting import eventually

OLD = """\
#!/bin/sh
case "$1" in --version) echo Python 3.6.9; exit ;; esac
echo "SyntaxError: future feature annotations is not defined" >&2
exit 1
"""


@pytest.fixture(scope="module")
def ssh(tmp_path_factory):
    with sshd(tmp_path_factory.mktemp("hosts") / "ssh") as server:
        yield server


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("orin.lab", "it begins with ssh= or popen"),
        ("ssh", "ssh= is followed by"),
        ("socket=127.0.0.1:1", "it begins with"),
        ("ssh=a//via=b", "via is not for hosts"),
        ("popen//ssh=a", "it begins with"),
        ("popen//popen", "duplicate"),
    ],
)
def test_what_is_no_host(text, words):
    with pytest.raises(InputError, match=words):
        specification(text)


def test_ssh_asks_for_nothing_and_the_users_options_hold():
    argv = _argv(specification("ssh=-p 2222 root@orin.lab//python=/opt/python3.12"))
    assert argv[:-1] == ["ssh", "-C", "-o", "BatchMode=yes", "-p", "2222", "root@orin.lab"]
    assert argv[-1].startswith("/opt/python3.12 -c ")


def test_a_command_is_one():
    argv = _argv(specification("popen//python=kubectl exec -i deploy/bench -- python3"))
    assert argv[:6] == ["kubectl", "exec", "-i", "deploy/bench", "--", "python3"]


def had(spec):
    """What is said of a host that cannot be had."""
    with pytest.raises(TargetError) as caught:
        Connection(spec)
    assert caught.value.rule == "host"
    return str(caught.value)


def test_no_such_program():
    assert "cannot start /no/python3: No such file" in had("popen//python=/no/python3")


def test_an_old_python(tmp_path):
    old = tmp_path / "python3"
    old.write_text(OLD)
    old.chmod(0o755)
    said = had(f"popen//python={old}")
    assert "its Python 3.6.9 is too old: 3.10 is needed" in said


def test_what_talks_too_much(tmp_path):
    assert "something else than Python" in had("popen//python=echo welcome")


def test_what_never_answers(monkeypatch, tmp_path):
    monkeypatch.setattr("iogate.remote.connection._STARTING", 0.5)
    deaf = tmp_path / "python3"
    deaf.write_text("#!/bin/sh\nexec sleep 60\n")
    deaf.chmod(0o755)
    assert "no answer within" in had(f"popen//python={deaf}")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("no-such-host.invalid", "there is no such host"),
        ("refused", "it refuses this user's key"),
        ("unknown", "its host key is not known"),
        ("bench//python=/no/python3", "Python is not there"),
    ],
)
def test_hosts_that_ssh_cannot_reach(ssh, host, words):
    name, _, more = host.partition("//")
    said = had(f"ssh={name}//ssh_config={ssh.config}//{more}".rstrip("/"))
    assert f"the host {name} cannot be had: {words}" in said


def test_another_host_key_is_told_as_such(ssh):
    ssh.know(ssh.folder / "other_key.pub")
    try:
        said = had(f"ssh=bench//ssh_config={ssh.config}")
    finally:
        ssh.know(ssh.folder / "host_key.pub")
    assert "its host key is not the one that is known" in said
    assert "ssh-keygen -R bench" in said


def test_a_host_is_had(tmp_path):
    connection = Connection(f"popen//python={sys.executable}//env:TMPDIR={tmp_path}")
    connection.post.send("bye")
    assert connection.post.receive()[0] == "gone"
    connection.post.close()
    connection.end()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_far_side_that_is_ended_leaves_nothing(tmp_path, number):
    connection = Connection(f"popen//python={sys.executable}//env:TMPDIR={tmp_path}")
    os.kill(connection._process.popen.pid, number)
    with pytest.raises(Lost):
        while connection.post.receive(60):
            pass
    assert "broke" in connection.why_lost()
    eventually(lambda: not list(tmp_path.iterdir()))
