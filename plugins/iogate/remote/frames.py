"""What another side sends through execnet, looked at before execnet makes values of it: of ten bytes it would
make a list of 16 GiB.
"""

from __future__ import annotations

import struct

from execnet.gateway_base import opcode

_HEAD = struct.Struct("!bii")  # kind, channel, bytes that follow
_LENGTH = struct.Struct("!i")
_LARGEST = 2**28  # bytes of a message: an output of an engine goes in one
_LARGEST_AT_FIRST = 2**16  # until the other side has begun: nobody counts yet what waits to be read
_PARTS = 100  # values of a message, more than any of ours has
_PLAIN = {
    opcode.NONE: 0,
    opcode.TRUE: 0,
    opcode.FALSE: 0,
    opcode.INT: 4,
    opcode.FLOAT: 8,
    opcode.BUILDTUPLE: 4,
}
"""Bytes that follow each kind of value."""
_TEXTS = {opcode.LONGINT, opcode.BYTES, opcode.PY3STRING}
"""Kinds of values that say how many bytes follow."""


class Frames:
    """Follows a stream of messages, which execnet reads in turns: a head, and what it says that follows."""

    def __init__(self) -> None:
        self._following: int | None = None
        self._largest = _LARGEST_AT_FIRST

    def begun(self) -> None:
        """From now on take messages as large as ours may be."""
        self._largest = _LARGEST

    def require(self, numbytes: int) -> None:
        """Raise EOFError for more bytes than a message of ours has."""
        if numbytes > self._largest:
            raise EOFError(f"a message of {numbytes} bytes")

    def follow(self, data: bytes) -> None:
        """Take what was read. Raises EOFError for a message that has what ours never have."""
        if self._following is None:
            if len(data) == _HEAD.size:  # else it is before the first message
                self._following = _HEAD.unpack(data)[2]
            return
        self._following = None
        if data:
            _require_plain(memoryview(data))


def _require_plain(data: memoryview) -> None:
    """Raise EOFError for what is not texts, bytes, numbers, and tuples of them, or for too many."""
    place = 0
    for _ in range(_PARTS):
        kind = bytes(data[place : place + 1])
        place += 1
        if kind == opcode.STOP:
            return
        if kind in _TEXTS and len(data) >= place + _LENGTH.size:
            place += _LENGTH.size + max(0, _LENGTH.unpack_from(data, place)[0])
        elif kind in _PLAIN:
            place += _PLAIN[kind]
        else:
            raise EOFError(f"a message with {kind!r}")
    raise EOFError(f"a message of more than {_PARTS} values")
