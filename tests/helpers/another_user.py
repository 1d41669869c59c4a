"""A directory of another user, where root works, and what that user does there."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

USER = 65534
# Whatever appears under the name of a scratch folder is renamed at some moment, and `trap` takes its place:
# for a moment, over and over, and then for good.
_SWAPPER = """
import contextlib, json, os, random, sys, time
os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.chdir(sys.argv[1])
delays, swaps = json.loads(sys.argv[3])
random.seed(7)
print("ready", flush=True)
while os.getppid() == int(sys.argv[2]):
    found = [name for name in os.listdir() if name.startswith(".iogate-scratch-")]
    if not found:
        continue
    name = found[0]
    time.sleep(random.choice(delays) * random.random())
    with contextlib.suppress(OSError):
        for again in range(random.choice(swaps)):
            os.rename(name, "aside")
            os.rename("trap", name)
            os.rename(name, "trap")
            os.rename("aside", name)
        os.rename(name, "aside")
        os.rename("trap", name)
    while os.path.lexists("aside"):
        time.sleep(0.001)
        with contextlib.suppress(OSError):
            os.rmdir("aside")  # taken before it was opened, so that its maker cannot know it
    with contextlib.suppress(OSError):
        os.rename(name, "trap")
"""


@pytest.fixture
def directory():
    """A directory of another user, where that one gets to."""
    if os.geteuid():
        pytest.skip("needs root")
    around = Path(tempfile.mkdtemp(prefix="races-", dir="/var/tmp"))
    around.chmod(0o755)
    inside = around / "directory"
    inside.mkdir()
    os.chown(inside, USER, USER)
    yield inside
    shutil.rmtree(around)


@contextlib.contextmanager
def as_its_owner():
    """Do what the owner of the directory may do."""
    os.seteuid(USER)
    try:
        yield
    finally:
        os.seteuid(0)


@contextlib.contextmanager
def swapping(directory, delays, swaps):
    """Its owner puts `trap` in the place of scratch folders: up to one of these delays in seconds after they
    appear, as often for a moment as one of `swaps` says, and then for good.
    """
    argv = [sys.executable, "-c", _SWAPPER, directory, str(os.getpid()), json.dumps([delays, swaps])]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as attacker:
        try:
            assert attacker.stdout.readline() == b"ready\n"
            yield
        finally:
            attacker.kill()


def is_left_to_its_owner(directory):
    """Whether all in the directory is its owner's, and stays so for half a second: what is listed may be
    another folder when it is looked at: that one renames thousands of times (1% of looks are wrong).
    """
    for _ in range(10):
        if not belongs_to_its_owner(directory):
            return False
        time.sleep(0.05)
    return True


def belongs_to_its_owner(directory):
    """Whether all in the directory is its owner's; no, while that one still renames it."""
    try:
        return all(path.lstat().st_uid == USER for path in directory.rglob("*"))
    except FileNotFoundError:
        return False
