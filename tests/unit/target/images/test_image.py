"""Images as users name them."""

import os
import signal

import pytest

from iogate.errors import TargetError
from iogate.target.images import Image, is_image
from iogate.target.images.contents import FileSystem
from iogate.target.images.copying import Source, copy, source_of
from iogate.target.images.image import Stamp, check_idle


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "disk.img"
    file.touch()
    return file


@pytest.mark.parametrize(
    ("text", "partition"),
    [
        ("", None),
        ("#2", 2),
        ("#root", "root"),
        ("#2nd", "2nd"),
        ("#a b", "a b"),
    ],
)
def test_a_partition_is_a_number_or_a_label(file, text, partition):
    for name in ("disk.img", "./disk.img", str(file)):
        assert Image.parse(name + text) == Image(file, partition)
        assert is_image(name + text)


def test_a_number_that_no_partition_has_is_a_label(file):
    assert Image.parse(f"disk.img#{'9' * 5000}").partition == "9" * 5000


def test_a_name_with_the_sign_in_it(file):
    odd = file.with_name("disk.img#2")
    odd.touch()
    assert Image.parse("disk.img#2") == Image(odd)
    assert Image.parse("disk.img#2#1") == Image(odd, 1)


def test_links_are_followed_once(file):
    file.with_name("link").symlink_to(file)
    assert Image.parse("link#1") == Image(file, 1)


@pytest.mark.parametrize(
    ("text", "rule"),
    [("none.img", "missing"), ("none.img#1", "missing"), ("a\0b", "missing"), ("disk.img#", "partition")],
)
def test_what_names_no_image(file, text, rule):
    with pytest.raises(TargetError) as caught:
        Image.parse(text)
    assert caught.value.rule == rule and "\0" not in str(caught.value)
    assert not is_image(text)


@pytest.mark.parametrize("text", [".", "/dev/null", "none#1", "~nobody-of-this-name/x", "", "#1"])
def test_what_is_not_an_image(file, text):
    assert not is_image(text)


def test_a_label_does_not_steer_a_terminal(file):
    assert str(Image.parse("disk.img#\x1b[31mred")).endswith("#?[31mred")


@pytest.mark.parametrize("what", ["pipe", "device"])
def test_what_took_the_place_of_an_image_is_not_opened(tmp_path, what):
    """Who may write to its folder may put there what is waited for, or does something when it is opened."""
    path = tmp_path / "image"
    path.write_bytes(bytes(4096))
    source = Source(Image(path), path, Stamp.of(path), FileSystem("ext4", "", 0, 4096, 512))
    path.unlink()
    os.mkfifo(path) if what == "pipe" else path.symlink_to("/dev/zero")
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("it is waited for"))
    signal.alarm(5)
    try:
        for look in (lambda: check_idle(source.image), lambda: source_of(source.image, path)):
            with pytest.raises(TargetError, match="it is not a file"):
                look()
        with (tmp_path / "slot").open("wb") as slot, pytest.raises(TargetError, match="it is not a file"):
            copy(source, slot.fileno(), 4096)
    finally:
        signal.alarm(0)


def test_an_image_that_was_replaced_is_not_copied(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(bytes(4096))
    source = Source(Image(path), path, Stamp.of(path), FileSystem("ext4", "", 0, 4096, 512))
    path.unlink()
    path.symlink_to("/etc/passwd")
    with (tmp_path / "slot").open("w+b") as slot:
        with pytest.raises(TargetError, match="changed since it was looked at"):
            copy(source, slot.fileno(), 4096)
        assert not slot.read()
