"""Two images in a target directory of another user, who renames what root works in: root mounts nothing over
that user's links, and writes nothing through them.
"""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from another_user import (  # noqa: F401 (fixture)
    USER,
    as_its_owner,
    belongs_to_its_owner,
    directory,
    is_left_to_its_owner,
    swapping,
)
from images import clone, disk_image, traces
from iogate.errors import IogateError
from iogate.host import loop
from iogate.host.mounts import mounts
from iogate.measure.bench import Pair
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device
from iogate.target import marker
from iogate.target.images import qcow2, slots
from loops import MIB, digest, made, need, own_locks, run  # noqa: F401 (fixtures)
from places import PLUGINS
from waiting import eventually
from workloads import declared

pytestmark = pytest.mark.system
RACES = 12
READS = declared("reader", rw="read", size="64k", bs="4k", direct=False)
LINKS = ("base.raw", "candidate.raw", "stdout", "stderr")


@pytest.fixture
def victim(tmp_path):
    """A folder and a file that the links lead to."""
    folder = tmp_path / "victim"
    folder.mkdir()
    (folder / "file").write_bytes(random.randbytes(65536))
    return folder


@pytest.fixture
def pair(tmp_path, made):
    """Two images of ext4, clones; one is a partition in a qcow2."""
    need("mkfs.ext4", "sfdisk", "qemu-img")
    base = tmp_path / "base.img"
    base.write_bytes(bytes(24 * MIB))
    run("mkfs.ext4", "-q", base)
    packed = tmp_path / "candidate.qcow2"
    run("qemu-img", "convert", "-O", "qcow2", disk_image(tmp_path / "disk.img", clone(base)), packed)
    return str(base), f"{packed}#1"


def trap(target, victim, image):
    """Make a folder as root's is, with links to the victims and files of the owner's own."""
    own = Path(image).read_bytes()
    with as_its_owner():
        (target / "trap/engine").mkdir(parents=True)
        for name in ("base", "candidate"):
            (target / "trap/engine" / name).symlink_to(victim)
        for name in LINKS:
            (target / "trap/engine" / name).symlink_to(victim / "file")
        for name in ("slot-0", "slot-1"):
            (target / "trap/engine" / name).write_bytes(own)


def swap(target):
    """Put the trap in the place of root's folder."""
    (folder,) = target.glob(f"{marker.PREFIX}*")
    with as_its_owner():
        folder.rename(target / "aside")
        (target / "trap").rename(folder)


class Heard:
    """Is told of a run."""

    def tick(self, elapsed, bandwidth):
        pass

    def laying_out(self, done, total):
        pass

    def notice(self, text):
        pass


def measure(target, pair):
    """A run of two images that change places once; by what rule it was refused."""
    settings = Settings(root=target.parent, target=pair[1], against=pair[0])
    results = Path(tempfile.gettempdir()) / "results"
    bench = LocalBench(settings, Device("d", str(target)), results, Heard())
    try:
        bench.open()
        for swapped in (False, True):
            bench.alternate("races", Pair((READS, READS), "images", 1, swapped), 1, ())
    except IogateError as error:
        rule = getattr(error, "rule", "")
        return rule if rule == "changed" else f"{rule}: {error}"
    finally:
        bench.close()
    return ""


def state(victim):
    """The victims, and what is mounted there: others use this machine, too."""
    status = (victim / "file").stat()
    return (
        digest(victim / "file"),
        (status.st_ino, status.st_mtime_ns, status.st_mode),
        os.listdir(victim),
        [item for item in mounts() if item.point.startswith(str(victim.parent))],
    )


def test_a_pair_of_images_in_a_directory_of_another_user(directory, victim, pair):
    before = state(victim)
    assert measure(directory, pair) == ""
    assert (traces(directory), state(victim)) == ([], before)


MOMENTS = {
    "before a raw copy is made": (qcow2, "make_raw", 1),
    "before the second slot is written": (slots, "copy", 2),
    "before a slot is attached": (loop, "attach", 1),
    "before the first mount": (loop, "mount", 1),
    "before the second mount": (loop, "mount", 2),
    "when both are mounted": (slots.Slots, "targets", 1),
    "after they changed places": (loop, "mount", 4),
}


def check_nothing_happened(target, victim, before):
    """Nothing was written or mounted elsewhere, and nothing of root's is left in the directory."""
    assert state(victim) == before
    assert belongs_to_its_owner(target)
    attached = run("losetup", "--list", "--noheadings", "--output", "BACK-FILE")
    assert str(target) not in attached


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_folder_replaced_at_the_moments_that_matter(moment, directory, victim, pair, monkeypatch):
    trap(directory, victim, pair[0])
    module, name, number = MOMENTS[moment]
    real, calls = getattr(module, name), []

    def then(*given):
        calls.append(given)
        if len(calls) == number:
            swap(directory)
        return real(*given)

    monkeypatch.setattr(module, name, then)
    before = state(victim)
    assert measure(directory, pair) == "changed"
    assert not (directory / "trap").exists(), "it took the place of root's folder"
    check_nothing_happened(directory, victim, before)


def test_whoever_owns_the_directory_leads_no_mount_elsewhere(directory, victim, pair):
    trap(directory, victim, pair[0])
    before = state(victim)
    with swapping(directory, delays=(0, 0.05, 0.2), swaps=(0, 20, 2000)):
        outcomes = [measure(directory, pair) for _ in range(RACES)]
        assert eventually(lambda: is_left_to_its_owner(directory))
    assert set(outcomes) <= {"", "changed"}
    assert "changed" in outcomes
    check_nothing_happened(directory, victim, before)


KILLED = """
import os, signal, sys
from pathlib import Path
from iogate.target.images import Image, open_slots
folder, base, candidate = sys.argv[1:]
with open_slots(Path(folder), Image.parse(base), Image.parse(candidate)):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_found_under_another_name(directory, victim, pair):
    before = state(victim)
    argv = [sys.executable, "-c", KILLED, directory, *pair]
    done = subprocess.run(argv, env={**os.environ, "PYTHONPATH": PLUGINS}, check=False)
    assert done.returncode == -signal.SIGKILL
    trap(directory, victim, pair[0])
    swap(directory)
    with as_its_owner():
        (directory / "aside").rename(directory / f"{marker.PREFIX}another")
    assert measure(directory, pair) == ""
    check_nothing_happened(directory, victim, before)
