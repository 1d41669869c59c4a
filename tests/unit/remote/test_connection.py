"""The way to a host: what is one, and what is wrong with those that cannot be had."""

import contextlib
import errno
import os
import re
import shlex
import signal
import struct
import sys
import time
from pathlib import Path

import execnet
import pytest
from execnet.gateway_base import dumps_internal, opcode

from hosts import sshd
from iogate.errors import InputError, TargetError
from iogate.host.openers import FAR, process_text
from iogate.remote.connection import Connection, _argv, _Process, specification
from iogate.remote.frames import Frames
from iogate.remote.guard import own_folder, remove, remove_abandoned
from iogate.remote.post import Lost
from iogate.remote.trouble import explained
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
        ("ssh= ", "ssh= is followed by"),
        ("popen//python", "python= is followed by"),
        ("popen//chdir", "chdir= is followed by"),
        ("popen//python=docker 'exec", "python= is a command: No closing quotation"),
        ("ssh=a\0b", "a NUL"),
    ],
)
def test_what_is_no_host(text, words):
    with pytest.raises(InputError, match=words):
        specification(text)


@pytest.mark.parametrize("where", ["begun in", "chdir"])
def test_no_module_is_taken_from_the_folder_where_python_is_there(tmp_path, monkeypatch, where):
    for module in sorted(sys.stdlib_module_names - {"sys"}):
        (tmp_path / f"{module}.py").write_text(f"raise SystemExit('{module} of a stranger')\n")
    if where == "begun in":
        monkeypatch.chdir(tmp_path)
    connection = Connection("popen" if where == "begun in" else f"popen//chdir={tmp_path}")
    connection.end()


def test_ssh_begins_without_that_folder_too():
    assert f'python3 -I -c "{FAR}"' in _argv(specification("ssh=orin"))[-1]


def test_ssh_asks_for_nothing_and_the_users_options_hold():
    argv = _argv(specification("ssh=-p 2222 root@orin.lab//python=/opt/python3.12"))
    assert argv[:-1] == ["ssh", "-C", "-o", "BatchMode=yes", "-p", "2222", "root@orin.lab"]
    assert argv[-1].startswith("/opt/python3.12 -I -c ")


def test_who_runs_it_can_be_seen_there(monkeypatch, tmp_path):
    monkeypatch.setenv("LOGNAME", "o'neill; rm")
    monkeypatch.setattr("platform.node", lambda: "lab top")
    who = f"iogate of o_neill__rm@lab_top pid {os.getpid()}"
    assert _argv(specification("popen"))[-1] == who
    assert _argv(specification("ssh=orin"))[-1].endswith(f" '{who}'")
    connection = Connection(f"popen//python={sys.executable}//env:TMPDIR={tmp_path}")
    assert process_text(connection._process.popen.pid).endswith(f" ({who})")
    connection.end(0)
    eventually(lambda: not list(tmp_path.iterdir()))


def test_a_command_is_one():
    argv = _argv(specification("popen//python=kubectl exec -i deploy/bench -- python3"))
    assert argv[:6] == ["kubectl", "exec", "-i", "deploy/bench", "--", "python3"]


@pytest.mark.parametrize(
    ("program", "arguments", "number"),
    [
        ("docker", "exec -i bench", 3),
        ("kubectl", "exec -i deploy/bench --", 4),
        ("sudo", "-n -u 'somebody else'", 3),
    ],
)
def test_what_leads_into_a_container_gets_the_command_whole(
    tmp_path, monkeypatch, program, arguments, number
):
    """A program of that name stands in: it is given its own words apart, and runs what follows them."""
    stand_in = tmp_path / "bin" / program
    stand_in.parent.mkdir()
    stand_in.write_text(
        f"#!/bin/sh\nfor each in $(seq {number}); do printf '%s\\n' \"$1\"; shift; done > {tmp_path}/own\n"
        'exec "$@"\n'
    )
    stand_in.chmod(0o755)
    (tmp_path / "far").mkdir()
    monkeypatch.setenv("PATH", str(stand_in.parent), prepend=":")
    spec = f"popen//python={program} {arguments} {sys.executable}//env:TMPDIR={tmp_path / 'far'}"
    connection = Connection(spec)
    connection.post.send("bye")
    assert connection.post.receive()[0] == "gone"
    connection.post.close()
    connection.end()
    assert (tmp_path / "own").read_text().splitlines() == shlex.split(arguments)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('Error from server (NotFound): deployments.apps "bench" not found', "what it leads through"),
        ("Error response from daemon: No such container: bench", "what it leads through"),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "what it leads through"),
        ("The connection to the server localhost:8080 was refused - did you", "what it leads through"),
        ('Cannot open network namespace "lab": No such file or directory', "what it leads through"),
        ("chroot: cannot change root directory to '/no': No such file or directory", "what it leads through"),
        ("chroot: failed to run command 'python3': No such file or directory", "Python is not there"),
        ("sh: 1: python3: not found", "Python is not there"),
        ('exec failed: exec: "python3": executable file not found in $PATH: unknown', "Python is not there"),
        ("Can't open user config file lab/config: No such file or directory", "ssh cannot read its config"),
        ("lab/config: line 1: Bad configuration option: hst", "ssh cannot read its configuration"),
        ("sudo: a password is required", "sudo asks for a password"),
        ("something else", "ended with status 7: something else"),
        ("::error::something", "ended with status 7: ?:error::something"),
    ],
)
def test_what_programs_on_the_way_say_is_told(said, words):
    assert explained(f"a note\n{said}\n", 7)[0].startswith(words)


def abandoned(around):
    held, path = own_folder(str(around))
    os.close(held)
    return Path(path)


def test_what_a_power_cut_left_is_removed_and_nothing_else(tmp_path):
    left, others = abandoned(tmp_path), tmp_path / f"iogate-{'1' * 16}-mine"
    (left / "results/empty").mkdir(parents=True)
    others.mkdir()
    (others / "kept").write_text("")
    (left / "results/link").symlink_to(others)
    (left / "results/file").write_text("")
    link = tmp_path / f"iogate-{'2' * 16}"
    link.symlink_to(others)
    before = tmp_path / f".iogate-{'4' * 16}"  # killed before it had its mark
    before.mkdir(mode=0o700)
    os.utime(before, (0, 0))
    held, used = own_folder(str(tmp_path))
    try:
        remove_abandoned(str(tmp_path))
        assert sorted(tmp_path.iterdir()) == sorted([others, link, Path(used)])
    finally:
        os.close(held)
    remove_abandoned(str(tmp_path))
    assert sorted(tmp_path.iterdir()) == sorted([others, link]) and list(others.iterdir())


def test_a_folder_that_cannot_be_marked_does_not_stay(tmp_path, monkeypatch):
    def full(*arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="No space"):
        own_folder(str(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", ["without a mark", "open to others", "a mark that is a link", "being made"])
def test_a_folder_that_somebody_moved_where_far_sides_have_theirs_stays(tmp_path, way):
    """Whoever may write to where a folder of root's lies could have root remove it by such a name."""
    folder = abandoned(tmp_path)
    (mark,) = folder.iterdir()
    if way == "open to others":
        folder.chmod(0o1777)
    else:
        mark.unlink()
    if way == "a mark that is a link":
        mark.symlink_to(tmp_path)
    if way == "without a mark":
        (folder / "file").write_text("")
    remove_abandoned(str(tmp_path))
    assert folder.exists()


def test_what_has_the_name_of_a_removed_folder_is_left_alone(tmp_path):
    held, path = own_folder(str(tmp_path))
    (Path(path) / "results").mkdir()
    Path(path).rename(tmp_path / "moved")
    Path(path).mkdir()
    (Path(path) / "file").write_text("")
    try:
        remove(held, path)
    finally:
        os.close(held)
    assert not list((tmp_path / "moved").iterdir()) and list(Path(path).iterdir())


@pytest.mark.parametrize("way", ["open to all", "of another user", "below one of another user", "a link"])
def test_what_is_sent_is_unpacked_where_no_other_user_could_replace_it(tmp_path, way):
    named = exposed = tmp_path / "exposed"
    exposed.mkdir(mode=0o755)
    if way == "below one of another user":
        named = exposed / "own"
        named.mkdir()
    if way == "open to all":
        exposed.chmod(0o777)
    elif os.geteuid():
        pytest.skip("needs root")
    else:
        os.chown(exposed, 65534, 65534)
    if way == "a link":
        named = tmp_path / "link"
        named.symlink_to(exposed)
    connection = Connection(f"popen//python={sys.executable}//env:TMPDIR={named}")
    held = {os.readlink(link) for link in Path(f"/proc/{connection._process.popen.pid}/fd").iterdir()}
    connection.end(0)
    [private] = [path for path in held if re.search("/iogate-[0-9a-f]{16}$", path)]
    assert not private.startswith(str(exposed)) and not [*exposed.glob("iogate-*")]
    eventually(lambda: not os.path.exists(private))


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


PARTIAL = """\
#!{python}
import sys
class Lacks:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}: raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Lacks())
sys.modules.pop({module!r}, None)
if "--version" in sys.argv: sys.exit(print("Python 3.11.2"))
code = sys.argv[sys.argv.index("-c") + 1]
sys.argv[:] = ["-c"]
exec(code)
"""


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("queue", "its Python 3.11.2 cannot begin: "),  # of execnet's, which does not say why
        ("struct", "its Python has no module struct"),
        ("zipfile", "its Python has no module zipfile"),  # of what begins there
        ("zlib", "its Python has no module zlib"),
        ("mmap", "its Python has no module mmap"),  # of iogate's
    ],
)
def test_a_python_that_lacks_a_part_of_the_standard_library(tmp_path, module, words):
    """It was called too old."""
    partial = tmp_path / "python3"
    partial.write_text(PARTIAL.format(python=sys.executable, module=module))
    partial.chmod(0o755)
    said = had(f"popen//python={partial}")
    assert words in said and "all of the standard library" in said and "too old" not in said


def test_who_is_asked_for_a_version_and_never_stops_is_not_listened_to(tmp_path):
    endless = tmp_path / "python3"
    endless.write_text(
        "#!/bin/sh\nif [ $# -gt 2 ]; then echo Traceback >&2; exit 1; fi\nexec cat /dev/zero\n"
    )
    endless.chmod(0o755)
    begun = time.monotonic()
    assert "its Python is too old, or none" in had(f"popen//python={endless}")
    assert time.monotonic() - begun < 30


def test_what_talks_too_much(tmp_path):
    assert "something else than Python" in had("popen//python=echo welcome")


class FirstSaid:
    """An execnet whose far side says this first, or fails with it."""

    def __init__(self, process, said):
        self.process, self.said = process, said

    def remote_exec(self, source):
        self.process.close_read()
        self.process.close_write()
        return self

    def send(self, message):
        pass

    def receive(self):
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (None, "cannot begin there: it does not say why"),
        (5, "cannot begin there: it does not say why"),
        ((), "cannot begin there: it does not say why"),
        (("failed",), "cannot begin there: it does not say why"),
        (("failed", "no \x1b[2Jroom"), r"cannot begin there: no \?\[2Jroom"),
        (("failed", "no\n::add-mask::room"), r"cannot begin there: no\?::add-mask::room"),
        (("failed", "::add-mask::room"), r"cannot begin there: \?:add-mask::room"),
        (("old",), "its Python it does not say why is too old"),
        (execnet.RemoteError(""), "cannot begin there: it does not say why"),
        (execnet.RemoteError("Traceback\nOSError: no\n"), "cannot begin there: OSError: no"),
    ],
)
def test_whatever_a_far_side_says_first_is_told_in_words(monkeypatch, said, words):
    monkeypatch.setattr("iogate.remote.connection.bootstrap", lambda process, spec: FirstSaid(process, said))
    assert re.search(words, had("popen//python=cat"))


@pytest.mark.parametrize("begun", [False, True])
def test_a_message_larger_than_any_of_ours_ends_it(monkeypatch, begun):
    """Before the other side has begun its first word may be 256 MiB long, and more of them wait unread."""
    monkeypatch.setattr(f"iogate.remote.frames._LARGEST{'' if begun else '_AT_FIRST'}", 1000)
    process = _Process(["head", "-c", "3000", "/dev/zero"])
    try:
        if begun:
            process.frames.begun()
        assert len(process.read(1000)) == 1000
        with pytest.raises(EOFError, match="a message of 1001 bytes"):
            process.read(1001)
    finally:
        process.popen.wait()
        process.close()


@pytest.mark.parametrize(
    "said",
    [
        opcode.NEWLIST + struct.pack("!i", 2**31 - 1),  # 16 GiB
        opcode.NEWDICT * 2**20,
        opcode.NONE * 101,
        opcode.BYTES,
        b"",
    ],
)
def test_a_message_that_would_take_more_room_than_it_has_bytes_ends_it(tmp_path, said):
    body = said + opcode.STOP * bool(said)
    file = tmp_path / "said"
    file.write_bytes(struct.pack("!bii", 4, 1, len(body)) + body + b"1" * 9)
    process = _Process(["cat", str(file)])
    process.frames.begun()
    try:
        head = process.read(9)
        if not said:
            assert process.read(0) == b"" and process.read(9)
            return
        with pytest.raises(EOFError, match="a message "):
            process.read(len(body))
        assert struct.unpack("!bii", head)[2] == len(body)
    finally:
        process.popen.wait()
        process.close()


def test_of_what_a_host_says_on_stderr_the_end_is_kept():
    process = _Process(["sh", "-c", "head -c 9000000 /dev/zero | tr '\\0' E >&2; printf 'the end' >&2"])
    try:
        assert process.popen.wait(30) == 0
        assert process.said == "E" * (2**16 - 7) + "the end"
    finally:
        process.close()


def test_what_is_said_on_stderr_takes_no_room_and_who_holds_it_open_is_not_waited_for():
    process = _Process(["sh", "-c", "sleep 30 & echo $! >&2"])
    try:
        assert process.popen.wait(30) == 0
        began = time.monotonic()
        pid = int(process.said)
        assert time.monotonic() - began < 5
        assert os.readlink(f"/proc/{pid}/fd/2").startswith("pipe:")  # a file would fill the disk
        os.kill(pid, signal.SIGKILL)
    finally:
        process.close()


def test_messages_of_ours_come_through():
    ours = ("done", 3, "text", 2**70, None, True, False, 0.5, -1, b"raw", ("a", ()))
    body = dumps_internal(ours)
    frames = Frames()
    for data in (b"1", struct.pack("!bii", 4, 1, len(body)), body, struct.pack("!bii", 5, 1, 0), b""):
        frames.follow(data)
    assert frames.follow(struct.pack("!bii", 5, 1, 0)) is None


def test_what_never_answers(monkeypatch, tmp_path):
    monkeypatch.setattr("iogate.remote.connection._STARTING", 0.5)
    deaf = tmp_path / "python3"
    deaf.write_text("#!/bin/sh\nexec sleep 60\n")
    deaf.chmod(0o755)
    assert "no answer within" in had(f"popen//python={deaf}")


def test_what_never_answers_behind_a_script_that_waits_for_it(monkeypatch, tmp_path):
    """The script alone was ended: what it had started kept the pipe, and the run, for ever."""
    monkeypatch.setattr("iogate.remote.connection._STARTING", 0.5)
    script = tmp_path / "lab"
    script.write_text(f"#!/bin/sh\nsleep 60 & echo $! > {tmp_path}/pid\nwait; exit $?\n")
    script.chmod(0o755)
    began = time.monotonic()
    assert "no answer within" in had(f"popen//python={script}")
    assert time.monotonic() - began < 30
    assert ended(int((tmp_path / "pid").read_text()))


def ended(pid):
    """Whether a process that was killed has ended, or does so in time: on a busy machine it has to be run."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for _ in range(100):
            if "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1]:
                return True
            time.sleep(0.1)
        return False
    return True


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_far_side_that_is_ended_leaves_nothing(tmp_path, number):
    connection = Connection(f"popen//python={sys.executable}//env:TMPDIR={tmp_path}")
    os.kill(connection._process.popen.pid, number)
    with pytest.raises(Lost):
        while connection.post.receive(60):
            pass
    assert "broke" in connection.why_lost()
    eventually(lambda: not list(tmp_path.iterdir()))
