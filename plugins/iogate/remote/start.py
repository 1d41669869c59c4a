"""What the far side runs first: it is sent as text, and may meet any Python that execnet starts on.

It unpacks what it is sent into a private folder, which is gone at the end: a guard process removes it, and
what was laid out, if this one is killed. That folder is locked: those of whom nobody is left to hold the
lock, as after a power cut, the next far side removes.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import re
import shutil
import subprocess
import sys
import traceback
import zipfile
from typing import Any

# Waits for the end of the far side; what it was told last is what is left to do then.
_GUARD = """
import fcntl, json, os, shutil, sys, time
unnamed, folder = sys.argv[1:]
told = [json.loads(line) for line in sys.stdin]
try:
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    pass
if "done" not in told:
    sys.path.insert(0, folder)
    try:
        from iogate.remote.sweep import sweep
        sweep([word[6:] for word in told if word.startswith("sweep ")])
    except Exception:
        pass
for look in range(100):
    shutil.rmtree(unnamed, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    if not os.path.exists(folder):
        break
    time.sleep(0.1)
"""


def own_folder(unnamed: str, path: str) -> int:
    """Make a folder that only this user can enter, locked before it has its name; return what holds it."""
    os.mkdir(unnamed, 0o700)
    held = os.open(unnamed, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(held, fcntl.LOCK_EX)
    os.rename(unnamed, path)
    return held


def remove_abandoned(around: str) -> None:
    """Remove such folders of this user that nobody holds any more."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = [name for name in os.listdir(around) if re.fullmatch("iogate-[0-9a-f]{16}", name)]
    for path in [os.path.join(around, name) for name in names]:
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(held).st_uid == os.geteuid():
                    shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(held)


def temporary_folder(archive: zipfile.ZipFile) -> str:
    """Return a folder for temporary files that is safe from other users. Raises OSError if there is none."""
    found: dict[str, Any] = {"__name__": "exposure"}
    exec(archive.read("iogate/host/exposure.py"), found)  # nothing may be unpacked before
    return str(found["safe_temporary_folder"]())


def start(channel: Any) -> None:
    """Unpack what comes through the channel, and serve it."""
    parcel, folder, variables = channel.receive()
    if sys.version_info < (3, 10):  # noqa: UP036 (whichever is there)
        channel.send(("old", sys.version.split()[0]))
        return
    if not os.path.isdir("/proc/self/fd"):  # as in a chroot: data are reached through it
        channel.send(("failed", "/proc is not mounted there"))
        return
    try:
        os.environ.update(variables)
        os.chdir(folder or ".")
        archive = zipfile.ZipFile(io.BytesIO(parcel))
        around, name = temporary_folder(archive), "iogate-" + os.urandom(8).hex()
        unnamed, private = os.path.join(around, "." + name), os.path.join(around, name)
        remove_abandoned(around)
        python = sys.executable or os.path.realpath("/proc/self/exe")  # unknown to it in an empty environment
        guard = subprocess.Popen(
            [python, "-I", "-S", "-B", "-c", _GUARD, unnamed, private],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
        own_folder(unnamed, private)
        archive.extractall(private)
    except OSError as error:
        channel.send(("failed", str(error)))
        return

    def tell(text: str) -> None:
        assert guard.stdin
        guard.stdin.write(json.dumps(text).encode() + b"\n")
        guard.stdin.flush()

    sys.dont_write_bytecode = True
    sys.path.insert(0, private)
    os.environ["XDG_CACHE_HOME"] = os.path.join(private, "cache")
    try:
        try:
            from iogate.remote.far import serve
        except ModuleNotFoundError as error:  # of a Python that was installed in part
            channel.send(("lacks", error.name))
        else:
            serve(channel, private, tell)
    except BaseException:
        traceback.print_exc()  # a defect: the last line is shown on the other side
    finally:
        assert guard.stdin
        guard.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            guard.wait(1)
        os._exit(0)  # execnet would wait for the end of a connection that may be silent
