"""Images as users name them."""

import pytest

from iogate.errors import TargetError
from iogate.target.images import Image, is_image


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
