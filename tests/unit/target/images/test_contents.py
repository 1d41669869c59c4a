"""What partx says of a partition table."""

from hypothesis import given
from hypothesis import strategies as st

from iogate.target.images.contents import Partition, parse_table, unescape

LINE = 'NR="{}" START="{}" SECTORS="{}" NAME="{}" TYPE="{}"'
numbers = st.integers(0, 2**63)


def escape(text):
    """As libsmartcols writes what could confuse a shell, and a little more of it."""
    return "".join(f"\\x{byte:02x}" for byte in text.encode())


@given(numbers, numbers, numbers, st.text(st.characters(exclude_categories=["Cs"])))
def test_a_line_is_read_as_it_was_meant(number, start, sectors, name):
    text = LINE.format(number, start, sectors, escape(name), "0x83")
    assert parse_table(text) == [Partition(number, name, start * 512, sectors * 512)]


def test_partitions_that_hold_others_are_none():
    kinds = ((1, "0x83"), (2, "0x5"), (3, "0xf"), (5, "0x83"))
    lines = [LINE.format(number, 1, 1, "", kind) for number, kind in kinds]
    assert [item.number for item in parse_table("\n".join(lines))] == [1, 5]


@given(st.text())
def test_anything_else_is_no_partition(text):
    assert parse_table(text) == []


@given(st.text())
def test_a_name_is_never_an_error(text):
    assert isinstance(unescape(text), str)
