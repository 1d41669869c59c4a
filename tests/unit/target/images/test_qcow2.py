"""Which images qemu-img is asked to open: those that name no other file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.errors import TargetError
from iogate.target.images.image import Image
from iogate.target.images.qcow2 import is_qcow2, virtual_size

IMAGE = Image(Path("/images/disk"))


def header(version=3, backing=0, encryption=0, features=0, size=2**30):
    """A header of qcow2, field by field."""
    fields = (version, 4), (backing, 8), (0, 4), (16, 4), (size, 8), (encryption, 4)
    head = b"QFI\xfb" + b"".join(value.to_bytes(length, "big") for value, length in fields)
    return (head + bytes(36) + features.to_bytes(8, "big")).ljust(4096, b"\0")


def refusal(head):
    with pytest.raises(TargetError) as caught:
        is_qcow2(IMAGE, head)
    assert caught.value.rule == "image-format"
    return str(caught.value)


def test_an_image_that_holds_all_of_its_data():
    for version in (2, 3):
        assert is_qcow2(IMAGE, header(version))
    assert is_qcow2(IMAGE, header(features=1 | 8 | 16)), "dirty, compressed, extended entries"
    assert is_qcow2(IMAGE, header(2, features=4)), "version 2 has no features: there are other data"
    assert virtual_size(header(size=12345)) == 12345


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (header(backing=528), "backing file"),
        (header(2, backing=528), "backing file"),
        (header(features=4), "data in another file"),
        (header(features=5), "data in another file"),
        (header(encryption=2), "encrypted"),
        (header(version=1), "version 1"),
        (header()[:40], "cut off"),
        (b"KDMV" + bytes(4096), "VMDK"),
        (b"# Disk DescriptorFile\nversion=1", "VMDK"),
        (bytes(64) + b"\x7f\x10\xda\xbe" + bytes(4000), "VDI"),
        (b"vhdxfile" + bytes(4096), "VHDX"),
        (b"\x1f\x8b\x08" + bytes(4096), "gzip"),
        (b"\xfd7zXZ\0" + bytes(4096), "xz"),
    ],
)
def test_images_that_need_other_files_or_tools(head, words):
    assert words in refusal(head)


@given(st.binary(max_size=200))
def test_bytes_are_raw_a_qcow2_or_refused(head):
    try:
        assert is_qcow2(IMAGE, head) == head.startswith(b"QFI\xfb")
    except TargetError as error:
        assert error.rule == "image-format" and error.remedy


@given(st.binary(min_size=100, max_size=100), st.integers(1, 2**64 - 1))
def test_a_backing_file_is_always_refused(rest, backing):
    head = header(backing=backing)[:16] + rest
    assert "based on" in refusal(head) or int.from_bytes(head[4:8], "big") not in (2, 3)


def test_a_disk_whose_sign_is_not_at_its_beginning_is_raw():
    assert not is_qcow2(IMAGE, bytes(512) + b"QFI\xfb" + bytes(3000))
