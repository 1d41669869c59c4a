"""What the kernel says is mounted and swapped on is read as it is meant."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.host.mounts import (
    Mount,
    backing,
    block_number,
    mount_of,
    mounts,
    number_text,
    parse_mountinfo,
    parse_swaps,
    unescape,
    with_all_options,
)

LINES = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:2 propagate_from:3 - ext4 /dev/root rw,discard
36 27 8:17 /sub /mnt/with\\040space rw,noatime shared:5 - ext4 /dev/sd\\134b1 rw,errors=remount-ro
37 27 8:33 / /mnt/a\\011tab\\012line - btrfs - -
38 27 0:44 /@home /home rw - btrfs /dev/sdd1 rw,subvol=/@home
"""


def test_every_mount_is_read_with_its_optional_fields_and_escapes():
    found = {mount.id: mount for mount in parse_mountinfo(LINES)}
    assert (found[27].number, found[27].point, found[27].file_system) == ("254:0", "/", "ext4")
    assert (found[36].point, found[36].root, found[36].source) == ("/mnt/with space", "/sub", "/dev/sd\\b1")
    assert found[38].options == "rw,subvol=/@home"
    assert 37 not in found  # without mount options it is no line of mountinfo


def test_a_hyphen_in_a_name_does_not_end_the_optional_fields():
    line = "40 27 8:49 / /mnt/a-b rw - ext4 /dev/disk/by-id/usb-X-0:0 rw\n"
    assert parse_mountinfo(line)[0].source == "/dev/disk/by-id/usb-X-0:0"


def test_white_space_of_unicode_does_not_split_a_name():
    line = "40 27 8:49 / /mnt/a\u00a0b\u2028c rw - ext4 /dev/sdx rw\n"
    assert parse_mountinfo(line)[0].point == "/mnt/a\u00a0b\u2028c"


@given(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_escaping_as_the_kernel_does_is_undone(name):
    escaped = "".join(f"\\{ord(char):03o}" if char in " \t\n\\#" else char for char in name)
    assert unescape(escaped) == name


@given(st.text())
def test_no_text_makes_the_parsers_fail(text):
    parse_mountinfo(text)
    parse_swaps(text)


def test_swaps_have_a_heading_and_escapes():
    text = (
        "Filename\tType\tSize\tUsed\tPriority\n"
        "/dev/dm-1   partition\t524284\t0\t-2\n/swap\\040file  file\t1\t0\t-3\n"
    )
    assert parse_swaps(text) == ["/dev/dm-1", "/swap file"]
    assert parse_swaps("") == []


def test_the_mount_of_a_path_is_what_the_kernel_says():
    expected = os.stat("/").st_dev
    mount = mount_of(Path("/"))
    assert mount and mount.point in ("/", "")  # a chroot does not see its own mount
    if not mount.number.startswith("0:"):
        assert mount.number == f"{os.major(expected)}:{os.minor(expected)}"
    assert mount_of(Path("/proc")).file_system == "proc"
    assert mount_of(Path("/no/such/path")) is None


@pytest.mark.parametrize(
    ("kind", "held", "told", "options"),
    [
        ("ext4", "rw nobarrier data=writeback commit=5 nodiscard", "rw", "rw,nobarrier,data=writeback"),
        ("ext4", "rw nobarrier data=ordered delalloc", "rw,nobarrier", "rw,nobarrier"),
        ("ext4", "", "rw", "rw"),
        ("ext4", "rw nodelalloc", "rw", "rw,nodelalloc"),
        ("ext3", "rw nodelalloc nobarrier", "rw", "rw,nobarrier"),  # which ext3 always has
        ("xfs", "rw nobarrier", "rw", "rw"),
    ],
)
def test_what_the_superblock_of_an_ext4_makes_its_default_is_told(tmp_path, kind, held, told, options):
    """`tune2fs -o nobarrier` hid a loss of 30%: `improved`, and mountinfo said nothing of it."""
    proc, node = tmp_path / "proc", tmp_path / "sys/devices/loop5"
    for folder in (proc / "fs/ext4/loop5", node, tmp_path / "sys/dev/block"):
        folder.mkdir(parents=True)
    (tmp_path / "sys/dev/block/7:5").symlink_to(node)
    (proc / "fs/ext4/loop5/options").write_text(held.replace(" ", "\n"))
    mount = Mount(1, "7:5", "/", "/mnt", kind, "/dev/loop5", told)
    assert with_all_options(mount, proc).options == options


def test_in_a_chroot_the_device_number_is_still_known(tmp_path):
    """There mountinfo has only what is mounted below; here, a /proc whose mountinfo is empty."""
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_text("")
    (tmp_path / "self/fdinfo").symlink_to("/proc/self/fdinfo")
    mount = mount_of(tmp_path, tmp_path)
    assert mount and (mount.file_system, mount.point) == ("", "")
    assert mount.number == number_text(os.stat(tmp_path).st_dev)


def test_mounts_agree_with_findmnt():
    listed = subprocess.run(
        ["findmnt", "--list", "--noheadings", "--output", "ID"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("findmnt does not work here")
    assert {int(word) for word in listed.stdout.split()} <= {mount.id for mount in mounts()}


def test_an_overlay_is_what_its_upper_layer_is(tmp_path):
    upper = tmp_path / "up,per:1"
    upper.mkdir()
    escaped = str(upper).replace(",", "\\134,").replace(":", "\\134:")
    line = f"50 27 0:50 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir={escaped},workdir=/w"
    [mount] = parse_mountinfo(line)
    assert backing(mount) == mount_of(upper)


def test_an_overlay_whose_upper_layer_is_elsewhere_is_unknown():
    [mount] = parse_mountinfo("50 27 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/no/such/place")
    assert backing(mount) is None


@pytest.mark.parametrize("upper", ["/proc", "up", ""])
def test_a_namesake_of_the_upper_layer_is_not_taken_for_it(upper, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "up").mkdir()
    line = f"50 27 0:50 / {tmp_path} rw - overlay overlay rw,lowerdir=/l,upperdir={upper},workdir=/w"
    [mount] = parse_mountinfo(line)
    assert backing(mount) is None


def test_aufs_does_not_say_where_its_files_are():
    [mount] = parse_mountinfo("50 27 0:50 / / rw - aufs none rw,si=d8a9e7ffe1d9e4c8")
    assert backing(mount) is None


def test_only_block_devices_have_a_number(tmp_path):
    assert block_number(tmp_path) is None
    assert block_number(Path("/dev/null")) is None
    assert block_number(tmp_path / "missing") is None
    assert block_number(Path("nul\0")) is None


FUSE = "36 27 0:72 / /home/ada/x rw,nosuid,nodev - {} {} rw,user_id={},group_id=0"


@pytest.mark.parametrize(
    ("file_system", "user", "believed"),
    [
        ("fuse", 4711, False),
        ("fuse.fuse2fs", 4711, False),
        ("fuse", 0, True),
        ("fuse.fuse2fs", 1000, True),
        ("btrfs", 4711, True),
    ],
)
def test_what_another_user_calls_the_source_of_a_mount_is_not_believed(
    tmp_path, monkeypatch, file_system, user, believed
):
    """fusermount takes any source from anybody: a disk could be said to be mounted for ever."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("iogate.host.mounts.block_number", lambda path: "8:16")
    (mount,) = parse_mountinfo(FUSE.format(file_system, "/dev/sdb", user))
    assert mount.block_number == ("8:16" if believed else None)
