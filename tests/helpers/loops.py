"""Block devices that a test may destroy: loop devices on files that it made itself."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from iogate.target import destroy
from places import PLUGINS
from waiting import eventually

MIB = 2**20
_LOOP_CTL_ADD, _LOOP_CTL_REMOVE = 0x4C80, 0x4C81  # loop(4)


def run(*argv, check=True):
    """Run a program; its stdout."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise AssertionError(f"{argv}: status {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def status(*argv, text=""):
    """Run a program with this input; its exit status."""
    argv = [str(word) for word in argv]
    return subprocess.run(argv, input=text, text=True, capture_output=True, check=False).returncode


def need(*programs):
    """Skip the test unless root runs it, with these programs and loop devices."""
    if os.geteuid():
        pytest.skip("needs root")
    if not Path("/dev/loop-control").exists():
        pytest.skip("needs loop devices")
    for program in ("losetup", *programs):
        if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
            pytest.skip(f"needs {program}")


class Loops(contextlib.ExitStack):
    """Makes loop devices, file systems and mounts; at the end all are gone again."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self._count = 0

    def into_memory(self):
        """Make the files that come in memory, which no other process slows down. On disk before Linux 6.6,
        where memory takes no direct I/O.
        """
        memory = self.mount("tmpfs", "-t", "tmpfs")
        (memory / "try").touch()
        with contextlib.suppress(OSError):
            os.close(os.open(memory / "try", os.O_RDONLY | os.O_DIRECT))
            self.folder = memory

    def file(self, size=64 * MIB):
        """A new file of zeros."""
        self._count += 1
        file = self.folder / f"disk{self._count}.img"
        with file.open("wb") as stream:
            stream.truncate(size)
        return file

    def attach(self, backing, *options):
        """A loop device on an existing file."""
        device = Path(run("losetup", "--find", "--show", *options, backing))
        self.callback(detach, device, backing)
        return device

    def device(self, size=64 * MIB, *options):
        """A loop device on a new file."""
        return self.attach(self.file(size), *options)

    def empty(self):
        """A loop device on nothing, of a number that is given to nobody: they get the lowest that is free."""
        number = 1000 + os.getpid() % 1_000_000
        with open("/dev/loop-control") as control:
            fcntl.ioctl(control, _LOOP_CTL_ADD, number)

        def remove():
            run("losetup", "--detach", device, check=False)
            with open("/dev/loop-control") as control:
                fcntl.ioctl(control, _LOOP_CTL_REMOVE, number)

        device = Path(f"/dev/loop{number}")
        self.callback(remove)
        if not device.exists():  # no devtmpfs
            major, minor = Path(f"/sys/block/{device.name}/dev").read_text().split(":")
            os.mknod(device, stat.S_IFBLK | 0o600, os.makedev(int(major), int(minor)))
            self.callback(device.unlink)
        return device

    def mount(self, source, *options, point=None):
        """Mount something; the mount point."""
        self._count += 1
        point = point or self.folder / f"mount{self._count}"
        point.mkdir(exist_ok=True)
        if status("mount", *options, source, point):
            pytest.skip(f"this kernel does not mount {' '.join(options)} {source}")
        self.callback(unmount, point)
        return point

    def ram_disk(self, size, limit):
        """A new zram device that fails once it holds `limit` bytes."""
        control = Path("/sys/class/zram-control")
        if not control.exists():
            pytest.skip("needs zram")
        number = (control / "hot_add").read_text().strip()
        self.callback((control / "hot_remove").write_text, number)
        folder = Path(f"/sys/block/zram{number}")
        (folder / "disksize").write_text(str(size))
        (folder / "mem_limit").write_text(str(limit))
        return Path(f"/dev/zram{number}")

    def frozen(self, point):
        """Keep a mounted file system from writing: ext4 does for seconds after it was mounted."""
        run("fsfreeze", "--freeze", point)
        self.callback(run, "fsfreeze", "--unfreeze", point)
        return point

    def formatted(self, kind, size, *options):
        """A loop device with a file system of that kind, and where it is mounted."""
        device = self.device(size)
        format_device(kind, device)
        return device, self.mount(device, "-t", kind, *options)


def format_device(kind, device):
    """Make a file system."""
    force = {"ext4": ["-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]}.get(kind, ["-f"])
    run(f"mkfs.{kind}", "-q", *force, device)


def partition(device, number=1, start=2048, sectors=65536):
    """Tell the kernel of a partition, as a partition table would; its node."""
    run("addpart", device, number, start, sectors)
    node = Path(f"{device}p{number}")
    eventually(node.exists)
    return node


def detach(device, backing):
    """Detach a loop device, partitions and all, if it is not another's by now: numbers are given anew."""
    with contextlib.suppress(OSError):
        below = Path(f"/sys/block/{device.name}/loop/backing_file").read_text()
        if below.startswith(f"{backing.parent.resolve()}/"):
            run("partx", "--delete", device, check=False)
            run("losetup", "--detach", device, check=False)


def unmount(point):
    """Unmount, at once if nobody is there any more and as soon as can be otherwise."""
    if status("umount", point):
        run("umount", "--lazy", point, check=False)


def digest(path, size=None):
    """A hash of all that is on a device or in a file, or of its first bytes: of less than a MiB."""
    with Path(path).open("rb") as stream:
        hasher = hashlib.blake2b(stream.read(size or MIB))
        if size:
            return hasher.hexdigest()
        while block := stream.read(MIB):
            hasher.update(block)
    return hasher.hexdigest()


HOLD = """
import sys
from pathlib import Path
from iogate.model import Device, Needs
from iogate.target import open_target, resolve
device = Device("d", sys.argv[1])
with open_target(resolve(device, Path("/")), device=device) as place:
    print(place.data(Needs(size=int(sys.argv[2]), reads=True)).resolve(), flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def own_locks(tmp_path, monkeypatch):
    """Locks of disks are for the whole machine: these tests take their own, to run beside anything."""
    locks = tmp_path / "locks"
    locks.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(locks))
    monkeypatch.setenv("TMPDIR", str(locks))


@pytest.fixture
def made(tmp_path, monkeypatch, own_locks):
    """A place to make devices that are gone when the test is over."""
    need("wipefs", "addpart")
    monkeypatch.setattr(destroy, "_PATIENCE", 0.3)
    with Loops(tmp_path) as stack:
        yield stack


@pytest.fixture
def holder():
    """Starts another run on a target, with data laid out there, and ends it when the test is over."""
    running = []

    def hold(path, size=MIB):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path), str(size)],
            env={**os.environ, "PYTHONPATH": PLUGINS},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        process.data = Path(process.stdout.readline().strip())
        assert process.data.exists()
        return process

    yield hold
    for process in running:
        process.stdin.close()
        process.wait()
        process.stdout.close()
