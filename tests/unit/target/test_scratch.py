"""A run keeps to a folder of its own in a directory, and leaves the directory as it was."""

import errno
import fcntl
import json
import os
import shutil
import stat
import tempfile
import zlib
from pathlib import Path

import pytest

from iogate.errors import TargetError
from iogate.host import fiemap
from iogate.host.mounts import IN_MEMORY, Mount
from iogate.model import Device, Needs
from iogate.target import (
    Fellows,
    disks_under,
    folders,
    home,
    layout,
    leftovers,
    marker,
    open_target,
    refusals,
    resolve,
    scratch,
)
from iogate.target.marker import PREFIX
from iogate.target.scratch import room
from waiting import eventually

MIB = 2**20


@pytest.fixture(autouse=True)
def alone(tmp_path_factory, monkeypatch):
    """Locks of disks are for the whole machine: these tests take their own, to run beside anything."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("locks")))


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "target"
    path.mkdir()
    return path


def device(path):
    return Device("d", str(path))


def found(path):
    return resolve(device(path), path)


def use(path):
    return open_target(found(path), device=device(path))


def rules(path, **needs):
    return [error.rule for error in refusals(found(path), Needs(**needs), device=device(path), consent=None)]


def reading(size=3 * MIB, **more):
    return Needs(size=size, reads=True, **more)


# ------------------------------------------------------------ data


def test_data_are_of_the_size_asked_for_written_and_incompressible(folder):
    with use(folder) as place:
        file = place.data(reading(5 * MIB + 1000))
        data = file.read_bytes()
        assert len(data) == 5 * MIB + 1000
        assert len(zlib.compress(data)) > len(data)
        blocks = [data[start : start + 512] for start in range(0, len(data), 512)]
        assert len(set(blocks)) == len(blocks)
        assert fiemap.unwritten_bytes(file) in (0, None)


def test_data_differ_from_run_to_run(folder):
    with use(folder) as place:
        first = place.data(reading()).read_bytes()
    with use(folder) as place:
        assert place.data(reading()).read_bytes() != first


def test_data_of_one_size_are_laid_out_once(folder):
    progress = []
    with use(folder) as place:
        file = place.data(reading(9 * MIB), tick=lambda *step: progress.append(step))
        assert progress[-1] == (9 * MIB, 9 * MIB) and progress == sorted(progress)
        inode = file.stat().st_ino
        assert place.data(reading(9 * MIB), tick=lambda *step: pytest.fail("laid out again")) == file
        assert file.stat().st_ino == inode
        assert place.data(reading(4 * MIB)) != file
        assert file.exists()
        assert place.written == 13 * MIB


@pytest.mark.parametrize("damage", ["truncate", "punch", "remove", "link"])
def test_data_that_an_engine_damaged_are_laid_out_again(folder, damage):
    with use(folder) as place:
        file = place.data(reading())
        if damage == "truncate":
            os.truncate(file, MIB)
        elif damage == "punch":
            os.truncate(file, 0)
            os.truncate(file, 3 * MIB)
        else:
            file.unlink()
            if damage == "link":
                file.symlink_to("/etc/passwd")
        again = place.data(reading())
        assert again.lstat().st_size == 3 * MIB and len(zlib.compress(again.read_bytes())) > 3 * MIB
        assert place.written == 6 * MIB


def test_without_a_size_the_engine_gets_a_path_for_a_file_of_its_own(folder):
    with use(folder) as place:
        path = place.data(Needs(writes=True))
        assert not path.exists() and path.parent == place.folder and place.folder.is_dir()
        path.write_text("the engine's")
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "rule"),
    [(errno.ENOSPC, "space"), (errno.EDQUOT, "space"), (errno.EIO, "io-error"), (errno.ELOOP, "changed")],
)
def test_an_error_while_laying_out_leaves_nothing(folder, monkeypatch, number, rule):
    def fail(*arguments):
        raise OSError(number, os.strerror(number))

    with use(folder) as place:
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(TargetError, match=os.strerror(number)) as caught:
            place.data(reading())
        assert caught.value.rule == rule
        assert not list(place.path.glob("data*"))
    assert list(folder.iterdir()) == []


def test_ctrl_c_while_laying_out_leaves_nothing(folder):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), use(folder) as place:
        place.data(reading(), tick=interrupt)
    assert list(folder.iterdir()) == []


def test_blocks_that_stayed_unwritten_are_refused(folder, monkeypatch):
    monkeypatch.setattr(layout.fiemap, "unwritten_bytes", lambda file: 4096)
    with use(folder) as place, pytest.raises(TargetError, match="not on the device") as caught:
        place.data(reading())
    assert caught.value.rule == "holes"


# ------------------------------------------------------------ space


def limit_space(monkeypatch, free, capacity=100 * MIB):
    class Space:
        f_flag, f_frsize = 0, 1
        f_bavail, f_blocks = free, capacity

    monkeypatch.setattr(os, "statvfs", lambda path: Space)


@pytest.mark.parametrize(
    ("capacity", "reserve"), [(100 * MIB, 16 * MIB), (1000 * MIB, 50 * MIB), (2**40, 2**30)]
)
def test_a_reserve_stays_free(folder, monkeypatch, capacity, reserve):
    limit_space(monkeypatch, capacity, capacity)
    assert room(folder) == capacity - reserve


def test_too_little_space_is_refused_before_anything_is_written(folder, monkeypatch):
    limit_space(monkeypatch, 20 * MIB)
    assert rules(folder, size=4 * MIB, reads=True) == []
    assert rules(folder, size=4 * MIB + 1, reads=True) == ["space"]
    monkeypatch.setattr(scratch, "lay_out", lambda *given, **more: pytest.fail("written"))
    with (
        use(folder) as place,
        pytest.raises(TargetError, match=r"5.000 MiB are needed, 4.0.. MiB may be used"),
    ):
        place.data(reading(5 * MIB))


def test_several_files_are_laid_out_once_each(folder):
    with use(folder) as place:
        needs = reading(MIB, files=3)
        files = [place.data(needs, None, number) for number in range(3)]
        assert len({file.read_bytes() for file in files}) == len(set(files)) == 3
        assert place.written == 3 * MIB
        assert [place.data(needs, None, number) for number in range(3)] == files
        assert place.data(reading(MIB)) == files[0]
        assert place.written == 3 * MIB
    assert rules(folder, size=2**40, files=2**10) == ["space"]


def test_data_of_other_sizes_make_room(folder, monkeypatch):
    with use(folder) as place:
        large = place.data(reading(8 * MIB))

        class Space:
            f_flag, f_frsize, f_blocks = 0, 1, 100 * MIB

            @property
            def f_bavail(self):  # 16 MiB of reserve, and room for 8 MiB in all
                return 24 * MIB - (8 * MIB if large.exists() else 0)

        monkeypatch.setattr(os, "statvfs", lambda path: Space())
        small = place.data(reading(2 * MIB))
        assert small.exists() and not large.exists()


def test_what_a_killed_run_left_does_not_count_as_used(folder, monkeypatch):
    leftover = folder / f"{PREFIX}0badcafe"
    leftover.mkdir(mode=0o700)
    (leftover / "iogate").write_bytes(marker.MAGIC)
    (leftover / "data-1").write_bytes(os.urandom(6 * MIB))
    os.sync()
    limit_space(monkeypatch, 16 * MIB)
    assert rules(folder, size=5 * MIB, reads=True) == []
    assert rules(folder, size=7 * MIB, reads=True) == ["space"]


# ------------------------------------------------------------ keeping to itself


def test_nothing_else_in_the_directory_is_touched(folder):
    (folder / "mine").write_text("mine")
    (folder / "data-3145728").write_text("also mine")
    (folder / f"{PREFIX}notes").write_text("a file of that name")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with use(folder) as place:
        place.data(reading())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_folder_is_for_its_owner_only(folder):
    with use(folder) as place:
        assert place.folder.parent.stat().st_mode & 0o077 == 0
        assert place.data(reading()).stat().st_mode & 0o077 == 0


def test_removal_follows_no_link(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("precious")
    with use(folder) as place:
        (place.folder / "link").symlink_to(outside)
        (place.folder / "deep").mkdir()
        (place.folder / "deep" / "link").symlink_to(outside / "precious")
        (place.folder / "loop").symlink_to(place.folder)
    assert list(folder.iterdir()) == []
    assert (outside / "precious").read_text() == "precious"


def test_what_a_killed_run_left_is_removed(folder):
    for name, files in {
        "00000001": {"iogate": marker.MAGIC, "data-5": b"12345"},
        "00000002": {"iogate": b""},
        "00000003": {},
        "00000004": {"iogate": b"", "data-5": b"", "data-5-1": b"", "slot-0": b"", "base.raw": b""},
        "00000005": {"iogate": bytes(100), "data-5": b""},
        "00000006": {"iogate": marker.MAGIC + b"another-id another-board earlier\n"},
        "00000007": {"iogate": marker.MAGIC + f"{marker._machine()} earlier\n".encode()},
    }.items():
        leftover = folder / f"{PREFIX}{name}"
        leftover.mkdir(mode=0o700)
        for file, text in files.items():
            (leftover / file).write_bytes(text)
    with use(folder) as place:
        assert list(folder.iterdir()) == [place.path]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("machine", "boot", "stays"),
    [("another-id another-board", "0-1-2", True), (None, "0-1-2", False), ("a container", None, False)],
)
def test_on_a_network_file_system_the_folder_of_another_machine_stays(
    folder, monkeypatch, machine, boot, stays
):
    """Its lock may not be seen here. This machine's own is removed, from before its last start, too."""
    lies_on(monkeypatch, "nfs4", "server:/export")
    left = left_by(folder, machine or marker._machine(), boot or marker._boot())
    with use(folder):
        assert left.exists() == stays


@pytest.mark.parametrize(
    ("file_system", "source", "stays"),
    [
        ("btrfs", "/dev/mmcblk0p3", False),
        ("ubifs", "ubi0:data", False),
        ("virtiofs", "share", True),
        ("overlay", "overlay", True),
    ],
)
def test_on_a_disk_whose_machine_is_called_otherwise_by_now_nothing_stays(
    folder, monkeypatch, file_system, source, stays
):
    """A new image, or a read-only one at each start, gives a board another id: each power cut filled its
    disk a little more, until nothing could be measured. Of an overlay's layer that is out of sight nobody
    knows whose it is.
    """
    lies_on(monkeypatch, file_system, source)
    left = left_by(folder, "another-id board", "0-1-2")
    with (left / "data-1-1").open("wb") as data:
        data.write(os.urandom(MIB))
        data.flush()
        os.fsync(data.fileno())
    (refused,) = refusals(found(folder), Needs(size=2**60), device=device(folder), consent=None)
    assert refused.rule == "space" and (PREFIX in refused.remedy) == stays
    assert (leftovers.reclaimable(folder)[0] >= MIB) != stays
    with use(folder):
        assert left.exists() == stays


def lies_on(monkeypatch, file_system, source):
    """Have files bear no block device's number, as on such a file system."""
    mount = Mount(1, "0:40", "/", "/", file_system, source, "rw")
    monkeypatch.setattr(os, "major", lambda number: 0)
    monkeypatch.setattr(marker, "mount_of", lambda path: mount)


def left_by(folder, machine, boot):
    """What a run of a machine, killed since that start of it, has left."""
    left = folder / f"{PREFIX}00000001"
    (left / "engine").mkdir(parents=True, mode=0o700)
    (left / "iogate").write_bytes(marker.MAGIC + f"{machine} {boot}\n".encode())
    return left


def test_a_folder_that_another_machine_removed_is_told_of(folder, monkeypatch):
    stat = os.fstat

    def stale(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}").startswith(f"{folder}/{PREFIX}"):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return stat(descriptor)

    with use(folder) as place:
        with monkeypatch.context() as patched:
            patched.setattr(os, "fstat", stale)
            with pytest.raises(TargetError, match="removed while the run worked in it") as caught:
                place.check()
        assert caught.value.rule == "changed"


def test_only_what_a_run_would_remove_counts_as_free(folder):
    for number, text in enumerate((marker.MAGIC, b"", bytes(80), b"another text")):
        left = folder / f"{PREFIX}0000000{number}"
        (left / "engine").mkdir(parents=True)
        (left / "iogate").write_bytes(text)
        before, _ = leftovers.reclaimable(folder)
        (left / "data-1-1").write_bytes(os.urandom(MIB))
        os.sync()
        after, stays = leftovers.reclaimable(folder)
        assert (after - before >= MIB) == (text != b"another text") == (not stays)


def test_the_marker_is_on_the_device_before_anything_is_laid_out(folder, monkeypatch):
    flushed, sync = [], os.fsync

    def note(descriptor):
        flushed.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).read_bytes())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    with use(folder):
        assert [text.startswith(marker.MAGIC) for text in flushed] == [True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("without", [True, False])
def test_where_files_have_no_owners_leftovers_are_whose_all_files_are(folder, monkeypatch, without):
    """FAT that was mounted with the `uid` of somebody else."""
    monkeypatch.setattr(marker, "WITHOUT_OWNERS", {found(folder).file_system} if without else set())
    left = folder / f"{PREFIX}00000001"
    left.mkdir()
    (left / "iogate").write_bytes(marker.MAGIC)
    for path in (folder, left, left / "iogate"):
        os.chown(path, 12345, 12345)
    parent = os.open(folder, os.O_RDONLY)
    try:
        assert leftovers.remove_leftovers(parent, folder) == ([left.name] if without else [])
    finally:
        os.close(parent)


def test_what_looks_left_over_and_is_deeper_than_any_run_makes_stays(folder):
    """As the file system of an image, or a disk of others, may hold it."""
    planted = folder / f"{PREFIX}00000001"
    inner = planted / "engine" / ("d/" * 100)
    inner.mkdir(parents=True)
    planted.chmod(0o700)
    (planted / "iogate").write_bytes(marker.MAGIC)
    with use(folder) as place:
        assert set(folder.iterdir()) == {place.path, planted}
    assert list(folder.iterdir()) == [planted] and inner.is_dir()


def test_what_only_looks_left_over_stays(folder, tmp_path):
    unmarked = folder / f"{PREFIX}00000001"
    unmarked.mkdir()
    (unmarked / "thesis.tex").write_text("precious")
    foreign = folder / f"{PREFIX}00000002"
    foreign.mkdir()
    (foreign / "iogate").write_text("another text")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "iogate").write_bytes(marker.MAGIC)
    (folder / f"{PREFIX}00000003").symlink_to(elsewhere)
    linked = folder / f"{PREFIX}00000004"
    linked.mkdir()
    (linked / "iogate").symlink_to(elsewhere / "iogate")
    with use(folder):
        pass
    assert (unmarked / "thesis.tex").exists() and (foreign / "iogate").exists()
    assert (elsewhere / "iogate").exists() and linked.exists()


def test_a_folder_into_which_others_may_write_is_none_of_a_run(folder):
    """Whoever may write to the directory gave one for the files of all, as /tmp, such a name and a marker."""
    shared = folder / f"{PREFIX}00000001"
    for mode in (0o1777, 0o770, 0o702):
        shared.mkdir()
        (shared / "private").mkdir()
        (shared / "iogate").write_bytes(marker.MAGIC)
        shared.chmod(mode)
        with use(folder) as place:
            assert set(folder.iterdir()) == {place.path, shared}
        assert (shared / "private").is_dir()
        shutil.rmtree(shared)
    if os.geteuid() == 0:  # a marker that another user has put there, before the folder was closed to others
        shared.mkdir(mode=0o700)
        (shared / "iogate").write_bytes(marker.MAGIC)
        os.chown(shared / "iogate", 12345, 12345)
        with use(folder):
            pass
        assert shared.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes device nodes")
def test_a_device_for_a_marker_is_not_opened(folder, monkeypatch):
    """A stranger's disk may have one: a watchdog resets the machine when it is opened."""
    planted = folder / f"{PREFIX}00000001"
    planted.mkdir(mode=0o700)
    os.mknod(planted / "iogate", stat.S_IFCHR | 0o600, os.makedev(1, 7))
    opened, really = [], os.open

    def watched(path, flags, *args, **named):
        descriptor = really(path, flags, *args, **named)
        if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not flags & os.O_PATH:
            opened.append(path)
        return descriptor

    monkeypatch.setattr(os, "open", watched)
    with use(folder):
        pass
    assert not [path for path in opened if "null" not in str(path)] and planted.is_dir()


def test_a_file_system_that_is_gone_at_the_end_leaves_the_run_as_it_is(folder, monkeypatch):
    """FUSE tells who closes a marker that its daemon has died."""
    close = os.close

    def fail(descriptor):
        marker = os.readlink(f"/proc/self/fd/{descriptor}").endswith("/iogate")
        close(descriptor)
        if marker:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    monkeypatch.setattr(os, "close", fail)
    with use(folder) as place:
        place.data(reading())
    assert os.listdir(folder) == []


def test_a_removal_that_does_not_end_is_told_and_goes_on_alone(folder, tmp_path, monkeypatch):
    go, empty = tmp_path / "go", folders._empty
    os.mkfifo(go)

    def wait(*arguments, **more):
        with go.open():
            folders._empty = empty  # in the copy of this process, where it is called for each folder
            empty(*arguments, **more)

    monkeypatch.setattr(folders, "_empty", wait)
    monkeypatch.setattr(home, "PATIENCE", 0.1)
    with pytest.raises(TargetError, match="was not removed within") as caught, use(folder) as place:
        place.data(reading())
    assert caught.value.rule == "slow"
    monkeypatch.setattr(folders, "_empty", empty)
    with go.open("w"):
        pass
    eventually(lambda: os.listdir(folder) == [])


# ------------------------------------------------------------ one run at a time


def test_a_second_run_on_the_same_directory_is_refused_by_any_path(folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder)
    with use(folder) as place:
        data = place.data(reading())
        for path in (folder, link, tmp_path / "target" / ".." / "target"):
            with pytest.raises(TargetError, match=f"pid {os.getpid()}") as caught, use(path):
                pass
            assert caught.value.rule == "locked"
        assert data.exists()
    with use(link) as place:
        assert place.path.is_relative_to(folder)


def test_one_run_may_have_two_directories_of_one_disk(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with use(tmp_path / "a") as one, use(tmp_path / "b") as two:
        assert one.data(reading()) != two.data(reading())


def test_the_disk_stays_taken_until_the_last_of_them_has_ended(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    one, two = use(tmp_path / "a"), use(tmp_path / "b")
    with one:
        two.__enter__()
    [lock] = Path(tempfile.gettempdir()).glob("iogate-*.lock")
    descriptor = os.open(lock, os.O_RDONLY)
    try:
        with pytest.raises(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        two.__exit__(None, None, None)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(descriptor)


# ------------------------------------------------------------ finding the target


def test_the_target_of_a_profile_is_relative_to_the_root(folder, tmp_path, monkeypatch):
    assert resolve(Device("d", "target"), tmp_path).path == folder
    monkeypatch.chdir(folder)
    assert resolve(Device("d", "elsewhere"), tmp_path, override=".").path == folder


@pytest.mark.parametrize(
    ("name", "rule"),
    [("missing", "missing"), ("file", "not-a-directory"), ("file/below", "missing"), ("loop", "symlink")],
)
def test_what_is_no_directory_is_refused(tmp_path, name, rule):
    (tmp_path / "file").write_text("text")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(TargetError) as caught:
        resolve(Device("d", name), tmp_path)
    assert caught.value.rule == rule and name in str(caught.value)


def test_what_trims_is_refused_on_a_directory_before_anything_is_laid_out(folder, tmp_path):
    device = Device("d", "target")
    target = resolve(device, tmp_path)
    needs = Needs(size=4096, writes=True, trims=True)
    (refused,) = refusals(target, needs, device=device, consent=None)
    assert refused.rule == "not-a-device"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link away")
@pytest.mark.parametrize("way", ["link", "link/below", "folder/link", "folder/../link/below"])
def test_a_link_of_another_user_on_the_way_to_a_target_is_not_followed(tmp_path, monkeypatch, way):
    for place in ("victim/below", "folder"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "link").symlink_to("victim")
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "victim")
    assert resolve(Device("d", way), tmp_path).path.is_relative_to(tmp_path / "victim")
    for link in ("link", "folder/link"):
        os.lchown(tmp_path / link, 12345, -1)
    with pytest.raises(TargetError, match="link is a symbolic link of user 12345, and not") as caught:
        resolve(Device("d", way), tmp_path)
    assert caught.value.rule == "symlink" and str(tmp_path / "victim") in caught.value.remedy
    monkeypatch.setenv("SUDO_UID", "12345")
    assert resolve(Device("d", way), tmp_path).path.is_relative_to(tmp_path / "victim")


@pytest.mark.parametrize("name", ["~nosuchuser/x", "a/" * 3000])
def test_what_no_path_can_be_is_told(tmp_path, name):
    with pytest.raises(TargetError) as caught:
        resolve(Device("d", name), tmp_path, override=name)
    assert caught.value.rule == "missing"


def test_a_character_device_is_refused():
    with pytest.raises(TargetError, match="neither a directory nor a block device"):
        found("/dev/null")


def test_a_directory_whose_name_would_end_a_text_of_json_changes_no_output(tmp_path):
    folder = tmp_path / 'a"\\b'
    folder.mkdir()
    with use(folder) as place:
        said = json.loads(place.readable(json.dumps({"filename": str(place.data(reading()))})))
        assert said["filename"].startswith(f"{tmp_path}/a??b/{PREFIX}")


def test_a_name_that_steers_a_terminal_is_shown_harmless(tmp_path):
    with pytest.raises(TargetError) as caught:
        resolve(Device("d", "\x1b[2Jx"), tmp_path)
    assert "\x1b" not in str(caught.value)


def test_a_directory_that_was_replaced_is_refused(folder, tmp_path):
    before = found(folder)
    folder.rename(tmp_path / "moved")
    folder.mkdir()
    assert [error.rule for error in refusals(before, reading(), device=device(folder), consent=None)] == [
        "changed"
    ]
    with pytest.raises(TargetError) as caught, open_target(before, device=device(folder)):
        pass
    assert caught.value.rule == "changed" and list(folder.iterdir()) == []


def test_a_directory_that_is_replaced_during_the_run_is_left_alone(folder, tmp_path):
    with use(folder) as place:
        place.data(reading())
        folder.rename(tmp_path / "moved")
        folder.mkdir()
        with pytest.raises(TargetError) as caught:
            place.data(reading())
        assert caught.value.rule == "changed"
    assert list(folder.iterdir()) == [] and list((tmp_path / "moved").iterdir()) == []


def test_a_workload_without_input_and_output_needs_no_target(folder):
    gone = found(folder)
    folder.rmdir()
    assert refusals(gone, Needs(target=False), device=device(folder), consent=None) == []


def test_a_file_system_without_direct_io_is_refused_for_direct_workloads(folder, monkeypatch):
    real = os.open

    def refuse(path, flags, *arguments, **more):
        if flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(path, flags, *arguments, **more)

    monkeypatch.setattr(os, "open", refuse)
    if found(folder).backing not in IN_MEMORY:
        assert rules(folder, size=MIB, reads=True, direct=True) == ["no-direct-io"]
    assert rules(folder, size=MIB, reads=True) == []
    with use(folder) as place:
        assert place.data(reading()).stat().st_size == 3 * MIB


# ------------------------------------------------------------ several clients of one run


def beside(path, *folders, disks=()):
    """Taking a target as one of several clients."""
    fellows = Fellows(tuple(folders), tuple(disks))
    return open_target(found(path), device=device(path), fellows=fellows)


def scratch_names(path):
    return sorted(name for name in os.listdir(path) if name.startswith(PREFIX))


def test_clients_of_one_run_take_a_directory_together_each_with_a_folder(folder):
    disks = disks_under(found(folder))
    with use(folder) as first:
        with beside(folder, first.path.name, disks=disks) as second:
            assert scratch_names(folder) == sorted([first.path.name, second.path.name])
            assert first.data(reading()).stat().st_ino != second.data(reading()).stat().st_ino
        assert scratch_names(folder) == [first.path.name]
    assert os.listdir(folder) == []


@pytest.mark.parametrize("known", [(), (f"{PREFIX}00000000",)])
def test_another_run_is_kept_out_by_clients(folder, known):
    with (
        use(folder),
        pytest.raises(TargetError, match="in use by another run"),
        beside(folder, *known, disks=disks_under(found(folder))),
    ):
        pass


def test_the_folder_of_a_client_stays_even_where_its_lock_is_not_seen(folder):
    name = f"{PREFIX}0123abcd"
    (folder / name).mkdir(mode=0o700)  # empty: left over, but for who knows better
    with beside(folder, name):
        assert name in scratch_names(folder)
    with use(folder):
        assert name not in scratch_names(folder)


@pytest.mark.parametrize("harm", ["renamed", "removed", "a file", "a link"])
def test_whoever_takes_the_new_folder_away_before_it_is_held_is_told_of(folder, monkeypatch, harm):
    make = os.mkdir

    def make_and_harm(name, *arguments, **more):
        make(name, *arguments, **more)
        made = folder / name
        made.rename(folder / "aside") if harm == "renamed" else made.rmdir()
        if harm == "a file":
            made.touch()
        elif harm == "a link":
            made.symlink_to(folder)

    monkeypatch.setattr(os, "mkdir", make_and_harm)
    with pytest.raises(TargetError, match="renamed, replaced or removed") as caught, use(folder):
        pass
    assert caught.value.rule == "changed"


def test_whoever_removes_the_new_folder_while_it_is_empty_is_told_of(folder, monkeypatch):
    check = home._check_made

    def check_and_remove(*arguments):
        check(*arguments)
        next(folder.glob(PREFIX + "*")).rmdir()

    monkeypatch.setattr(home, "_check_made", check_and_remove)
    with pytest.raises(TargetError, match="renamed, replaced or removed") as caught, use(folder):
        pass
    assert caught.value.rule == "changed"


@pytest.mark.parametrize("harm", ["removed", "a link"])
def test_a_directory_that_is_not_there_any_more_when_it_is_opened_has_changed(folder, harm):
    target = found(folder)
    folder.rename(folder.parent / "aside")
    if harm == "a link":
        folder.symlink_to(folder.parent / "aside")
    with pytest.raises(TargetError) as caught, open_target(target, device=device(folder)):
        pass
    assert caught.value.rule == "changed"
