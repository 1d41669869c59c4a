"""The way to a host: a process that execnet speaks through (ssh, or any command), with its own end in sight.

Nothing is asked for on a terminal: the process has none (a session of its own, and `BatchMode` for ssh),
which also keeps Ctrl-C from it, so that the far side can still be told to clean up.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import execnet
from execnet.gateway_base import Popen2IO, get_execmodel
from execnet.gateway_bootstrap import HostNotFound, bootstrap
from execnet.gateway_io import Popen2IOMaster, popen_args, popen_bootstrapline, ssh_args
from execnet.xspec import XSpec

from iogate.errors import InputError, TargetError
from iogate.host.openers import FAR
from iogate.host.tools import last_line
from iogate.remote import start
from iogate.remote.frames import Frames
from iogate.remote.parcel import parcel
from iogate.remote.post import Post
from iogate.remote.trouble import LastWords, explained
from iogate.units import one_line, printable

_STARTING = 60.0
_ENDING = 5.0
_ANSWER = 1000  # bytes
_OLDEST = "3.10"
_WHOLE = (
    "install all of the standard library there (with Yocto python3-modules, not python3-core alone), or name "
    "another one: //python=/path/to/python3"
)
_BEGIN = """\
try:
    exec({text!r})
    start(channel)
except ImportError as error:
    channel.send(("lacks", getattr(error, "name", None) or str(error)))
"""
_ISOLATED = "-I"  # else Python 3.13 takes modules from the folder where it begins before any of our words
_KEYS = {"popen", "ssh", "ssh_config", "python", "chdir", "env", "_spec"}


def specification(text: str) -> XSpec:
    """Return the parts of a host. Raises InputError."""
    try:
        spec = XSpec(text)
    except (AttributeError, ValueError) as error:
        raise _no_host(text, str(error)) from None
    if bool(spec.popen) == bool(spec.ssh):
        raise _no_host(text, "it begins with ssh= or popen")
    unknown = sorted(vars(spec).keys() - _KEYS)
    if unknown:
        raise _no_host(text, f"{unknown[0]} is not for hosts")
    bare = [name for name, value in vars(spec).items() if value is True and name != "popen"]
    if bare:
        raise _no_host(text, f"{bare[0]}= is followed by a value")
    if spec.ssh is not None and not spec.ssh.split():
        raise _no_host(text, "ssh= is followed by the name of a host")
    try:
        shlex.split(spec.python or "")
    except ValueError as error:
        raise _no_host(text, f"python= is a command: {error}") from None
    if "\0" in text:
        raise _no_host(text, "it has a NUL in it")
    return spec


def _no_host(text: str, why: str) -> InputError:
    return InputError(
        f"{printable(text)!r} is no host: {printable(why)}",
        remedy="such as ssh=root@orin.lab, or popen//python=docker exec -i bench python3",
    )


class _Process(Popen2IOMaster):
    """A process as execnet speaks through it, in a session of its own, whose troubles are heard."""

    def __init__(self, argv: list[str]) -> None:
        self._troubles = LastWords()
        self.taken = False
        """True once execnet reads from it, in a thread."""
        self.frames = Frames()
        model = get_execmodel("thread")
        try:
            self.popen = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._troubles.pipe,
                start_new_session=True,
            )
        finally:
            self._troubles.begun()
        Popen2IO.__init__(self, self.popen.stdin, self.popen.stdout, execmodel=model)

    def read(self, numbytes: int) -> bytes:
        """Read so many bytes. Raises EOFError for more, or anything else, than a message of ours has."""
        self.frames.require(numbytes)
        found: bytes = super().read(numbytes)
        self.frames.follow(found)
        return found

    @property
    def said(self) -> str:
        """What it has said on stderr, the end of it."""
        return self._troubles.text()

    def kill(self) -> None:
        """Kill it, and all that it started and left in its process group: that would keep the pipes open."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the pipes to it; where execnet reads from it, its thread does."""
        for stream in () if self.taken else (self.popen.stdin, self.popen.stdout):
            with contextlib.suppress(OSError, ValueError):
                stream.close()


class Connection:
    """The way to a host, open from the beginning. Raises InputError or TargetError (`host`)."""

    def __init__(self, text: str) -> None:
        spec = specification(text)
        self.host = str(spec.ssh).split()[-1] if spec.ssh else text
        self._argv = _argv(spec)
        self._why = ""
        try:
            self._process = _Process(self._argv)
        except OSError as error:
            raise self._trouble(f"cannot start {self._argv[0]}: {error.strerror}") from None
        try:
            self.post = self._open(spec)
        except BaseException:
            self.end(0)
            raise

    def _open(self, spec: XSpec) -> Post:
        late = threading.Timer(_STARTING, self._process.kill)
        late.daemon = True
        late.start()
        try:
            spec.id, spec.execmodel = "iogate", "main_thread_only"
            gateway: Any = bootstrap(self._process, spec)
            self._process.taken = True
            channel = gateway.remote_exec(_BEGIN.format(text=Path(start.__file__).read_text()))
            with contextlib.suppress(OSError):  # it has ended already, and said why
                channel.send((parcel(), spec.chdir, dict(spec.env or {})))
            first = _words(channel.receive())
        except (EOFError, OSError, AssertionError, HostNotFound, execnet.RemoteError) as error:
            raise self._failure(error, late=not late.is_alive()) from None
        finally:
            late.cancel()
        word, said = first
        if word == "old":
            raise self._too_old(said)
        if word == "lacks":
            raise self._lacks(said)
        if word != "ready":
            raise self._trouble(f"cannot begin there: {said}")
        self._process.frames.begun()
        self.machine = said
        return Post(channel)

    def _failure(self, error: BaseException, *, late: bool) -> TargetError:
        """Return why the far side did not come up."""
        if late:
            return self._trouble(f"no answer within {_STARTING:.0f} s")
        if isinstance(error, execnet.RemoteError):
            if missing := re.search(r"\(missing\) (\w{1,40}) module", str(error)):  # as zipfile calls zlib
                return self._lacks(missing[1])
            return self._trouble(f"cannot begin there: {last_line(str(error)) or 'it does not say why'}")
        self.end(0 if isinstance(error, AssertionError) else _ENDING)
        said = self._process.said
        if isinstance(error, AssertionError) or not (said or self._process.popen.returncode):
            remedy = "what is said at the beginning of a session (.bashrc, a banner) must go to stderr, and "
            remedy += "no terminal may be asked for (RequestTTY)"
            return self._trouble("it said something else than Python would", remedy)
        version = self._version() if "Traceback" in said else ""
        missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", said)
        if missing and _is_new(version):
            return self._lacks(missing[1])
        if _is_new(version):
            return self._trouble(f"its Python {version} cannot begin: {last_line(said)}", _WHOLE)
        if any(word in said for word in ("Traceback", "SyntaxError", f"Unknown option: {_ISOLATED}")):
            return self._too_old(version or self._version())
        return self._trouble(*explained(said, self._process.popen.returncode))

    def _version(self) -> str:
        """Return what Python says its version is, asked once more: the one that failed could not say."""
        if "-u" in self._argv:  # python -u -I -c ... and who this is
            argv = [*self._argv[:-5], "--version"]
        else:
            argv = [*self._argv[:-1], self._argv[-1].split(" -c ")[0] + " --version"]
        try:
            asked = _Process(argv)
        except OSError:
            return ""
        late = threading.Timer(_STARTING, asked.kill)
        late.daemon = True
        late.start()
        try:
            asked.popen.stdin.close()
            said = asked.popen.stdout.read(_ANSWER).decode(errors="replace")  # who says more is no Python
        finally:
            late.cancel()
            asked.kill()
            asked.popen.wait()
            asked.close()
        match = re.search(
            r"Python (\d{1,3}(?:\.\d{1,3}){1,3})", said + asked.said
        )  # the oldest say it on stderr
        return match[1] if match else ""

    def _too_old(self, version: str) -> TargetError:
        remedy = f"install Python {_OLDEST} or newer there, or name another one: //python=/path/to/python3"
        what = f"its Python {version} is too old" if version else "its Python is too old, or none"
        return self._trouble(f"{what}: {_OLDEST} is needed", remedy)

    def _lacks(self, module: str) -> TargetError:
        return self._trouble(f"its Python has no module {module}", _WHOLE)

    def _trouble(self, what: str, remedy: str = "") -> TargetError:
        message = f"the host {printable(self.host)} cannot be had: {what}"
        return TargetError(message, rule="host", remedy=remedy.replace("HOST", printable(self.host)))

    def why_lost(self) -> str:
        """Return why it was lost, in a sentence; nothing goes that way any more then."""
        if not self._why:
            self._why = self._reason()
            self.end(0)
        return self._why

    def _reason(self) -> str:
        if self.post.silent:
            return f"the connection to {self.host} is silent"
        if not self.post.lost:
            return f"{self.host} was not waited for any longer"
        try:
            status = self._process.popen.wait(_ENDING)
        except subprocess.TimeoutExpired:
            return f"the connection to {self.host} broke"
        return f"the connection to {self.host} broke: {self._argv[0]} {_end_text(status, self._process.said)}"

    def end(self, seconds: float = _ENDING) -> None:
        """Let the process end, and end it after so many seconds."""
        popen = self._process.popen
        try:
            if popen.stdin and seconds:
                threading.Thread(target=_close, args=(popen.stdin,), daemon=True).start()
            popen.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()
            popen.wait()
        self._process.close()


def _is_new(version: str) -> bool:
    """Return whether a version of Python is one that iogate runs on."""
    return (
        tuple(map(int, version.split(".")[:2])) >= tuple(map(int, _OLDEST.split("."))) if version else False
    )


def _words(message: Any) -> tuple[str, str]:
    """Return the word that a far side begins with, and what it says of it, fit for a terminal."""
    parts = message if isinstance(message, tuple) else (message,)
    word, said, *_ = (*map(str, parts), "", "")
    return one_line(word), one_line(said) or "it does not say why"


def _close(stream: Any) -> None:
    with contextlib.suppress(OSError, ValueError):
        stream.close()  # waits where the process does not read


def _end_text(status: int, said: str) -> str:
    if status < 0:
        return f"died of signal {-status}"
    return explained(said, status)[0]


def _argv(spec: XSpec) -> list[str]:
    """Return the command that leads to Python there; its last word says to people there who runs it."""
    if spec.popen:
        spec.python = spec.python or shlex.quote(sys.executable)
        *argv, flag, _ = popen_args(spec)
        return [*argv, _ISOLATED, flag, FAR, _runner()]
    spec.python = spec.python or "python3"
    spec.ssh = f"-o BatchMode=yes {spec.ssh}"
    *argv, line = ssh_args(spec)
    line = line.replace(f'-c "{popen_bootstrapline}"', f'{_ISOLATED} -c "{FAR}"')
    return [*argv, f"{line} {shlex.quote(_runner())}"]


def _runner() -> str:
    """Return who this is, in words that no shell takes for others."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a number without a name
        user = str(os.geteuid())
    who = re.sub(r"[^\w.@-]", "_", f"{user}@{platform.node()}", flags=re.ASCII)
    return f"iogate of {who} pid {os.getpid()}"
