"""What the far side runs first: it is sent as text, and may meet any Python that execnet starts on.

It unpacks what it is sent into a private folder, which is gone at the end: a guard process removes it, and
what was laid out, if this one is killed (`guard`). Both have that folder locked: those of whom nobody is left
to hold the lock, as after a power cut, the next far side removes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
import zipfile
from typing import Any


def _run(text: bytes) -> dict[str, Any]:
    """Return what a module has that needs nothing of iogate: nothing is unpacked yet."""
    found: dict[str, Any] = {"__name__": "sent"}
    exec(text, found)
    return found


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
        guarding = archive.read("iogate/remote/guard.py")
        folders = _run(guarding)
        around = _run(archive.read("iogate/host/exposure.py"))["safe_temporary_folder"]()
        folders["remove_abandoned"](around)
        held, private = folders["own_folder"](around)
        python = sys.executable or os.path.realpath("/proc/self/exe")  # unknown to it in an empty environment
        guard = subprocess.Popen(
            [python, "-I", "-S", "-B", "-c", guarding.decode(), str(held), private],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            pass_fds=(held,),
            start_new_session=True,
        )
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
