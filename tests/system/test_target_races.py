"""A target directory of another user, who renames what root works in: root's writes go nowhere else."""

# ruff: noqa: F811 (fixtures are imported, and named by parameters)
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from iogate.errors import IogateError
from iogate.measure.local_bench import LocalBench
from iogate.measure.settings import Settings
from iogate.model import Device
from loops import own_locks  # noqa: F401 (fixture)
from projects import need_fio
from waiting import eventually
from workloads import declared

pytestmark = pytest.mark.system
RACES = 200
SIZE = 65536
USER = 65534
# Whatever appears under the name of a scratch folder is renamed at some moment, and a folder with links to
# the victim takes its place: for a moment, over and over, and then for good.
ATTACKER = """
import contextlib, os, random, sys, time
os.setgroups([]); os.setgid(65534); os.setuid(65534)
target, victim, size, seed = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
random.seed(seed)
os.chdir(target)
os.mkdir("trap", 0o777)
os.mkdir("trap/engine", 0o777)
os.chmod("trap", 0o777)
for link in ("iogate", "data-" + size, "engine/data", "engine/iozone-1"):
    os.symlink(victim, "trap/" + link)
print("ready", flush=True)
while os.getppid() == int(sys.argv[5]):
    found = [name for name in os.listdir() if name.startswith(".iogate-scratch-")]
    if not found:
        continue
    name = found[0]
    if random.random() < 0.5:
        time.sleep(random.random() * 0.02)
    with contextlib.suppress(OSError):
        for again in range(random.choice((0, 0, 20))):
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


class Patient:
    """Lets every other run begin to measure only when the folder was replaced."""

    def __init__(self, target, number):
        self.waits = number % 2 == 1
        self.aside = target / "aside"

    def tick(self, elapsed, bandwidth):
        pass

    def laying_out(self, done, total):
        if self.waits:
            eventually(self.aside.exists)

    def notice(self, text):
        pass


@pytest.fixture
def target():
    """A directory of another user, where that one gets to."""
    path = Path(tempfile.mkdtemp(prefix="races-", dir="/var/tmp"))
    path.chmod(0o755)
    inside = path / "target"
    inside.mkdir()
    os.chown(inside, USER, USER)
    yield inside
    shutil.rmtree(path)


@pytest.fixture
def attacked(target, tmp_path):
    """The same, and its owner is at work."""
    victim = tmp_path / "victim"
    victim.write_bytes(random.randbytes(SIZE))
    tmp_path.chmod(0o755)
    argv = [sys.executable, "-c", ATTACKER, target, victim, str(SIZE), "7", str(os.getpid())]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as attacker:
        assert attacker.stdout.readline() == b"ready\n"
        yield target, victim
        attacker.kill()


def rewriting(engine):
    if engine == "reader":
        return declared("reader", rw="rw", size=str(SIZE), bs="4k", direct=False, end_fsync=False)
    if engine == "fio":
        return declared("fio", rw="write", size=str(SIZE), bs="4k", ioengine="psync", direct=False)
    return declared("iozone", size="64k", record_size="4k", minimum_size="64k", minimum_record_size="4k")


def race(engine, target, folder, number):
    """One repetition of that engine in the directory; how it was refused, if it was."""
    device = Device("d", str(target))
    bench = LocalBench(Settings(root=folder, target=str(target)), device, folder, Patient(target, number))
    workload = rewriting(engine)
    try:
        bench.repeat("races", workload, 1, ())
    except IogateError as error:
        rule = getattr(error, "rule", "")
        return rule if rule == "changed" else f"{rule}: {error}"
    finally:
        bench.close()
    return ""


def belongs_to_its_owner(target):
    """Whether all in the directory is its owner's; no, while that one still renames it."""
    try:
        return all(path.lstat().st_uid == USER for path in target.rglob("*"))
    except FileNotFoundError:
        return False


def test_whoever_owns_the_directory_leads_no_write_elsewhere(own_locks, attacked, tmp_path):
    if os.geteuid():
        pytest.skip("needs root")
    need_fio()
    target, victim = attacked
    before, content = victim.stat(), victim.read_bytes()
    engines = ["fio"] * 10 + (["iozone"] * 5 if shutil.which("iozone") else [])
    engines += ["reader"] * (RACES - len(engines))
    outcomes = [race(engine, target, tmp_path / "results", number) for number, engine in enumerate(engines)]
    after = victim.stat()
    assert victim.read_bytes() == content
    assert (after.st_mtime_ns, after.st_ino, after.st_size) == (before.st_mtime_ns, before.st_ino, SIZE)
    assert set(outcomes) <= {"", "changed"}
    assert outcomes.count("changed") > RACES / 4
    assert eventually(lambda: belongs_to_its_owner(target))
