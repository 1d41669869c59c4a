"""What fio and a server of it say to each other (fio's server.h), as far as it must be looked at.

Both believe all that they hear: a server may ask for any file of the machine where fio runs, and name the
files that fio writes logs to; what fio sends is a job, which may run commands. Here they are two machines,
and neither is the other's to command.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from iogate.errors import MeasurementError

_HEADER = struct.Struct("<2xHI8xI4x")
"""Opcode, flags, bytes that follow; between them a version, a tag and checksums."""
_GOES_ON = 1
"""Of the flags: the message has another part."""
_LARGEST = 2**24
_QUIT, _JOB, _TEXT, _STATUS, _GROUP, _ASK_ETA, _ETA, _PROBE, _START, _STOP = 1, 3, 5, 6, 7, 8, 9, 10, 11, 12
_DISKS, _SERVER_START, _ADD_JOB, _RUN, _LOG, _JOB_OPTION = 13, 14, 15, 16, 17, 22
_JOB_STARTS, _TEXT_STARTS, _START_ENDS, _OPTION_ENDS = 8, 24, 8, 200
_NAME_STARTS, _NAME = 8, 128
_LOG_NAMES = (24, 28, 32, 36, 40)
"""Where the name of a log begins, in one version of fio or another."""
_LOG_NAME = 256
_LOG_TYPE_AT, _HISTOGRAM = 12, 6
_LOG_PACKED_AT, _LOG_OFFSETS_AT = 16, 20
_SAMPLE, _OFFSET = 32, 8
"""Bytes of a sample of a log, and of the offset that it may have, too."""
_LOG_LARGEST = 2**30
"""What a log that is unpacked may take."""
_DEFLATED = 1032
"""Times that zlib makes a text smaller at most (its technical notes)."""
_MOST_JOBS = 4096
"""Of one fio (its REAL_MAX_JOBS)."""
_LONGEST_STATE = 5 * _MOST_JOBS
"""What fio has memory for of the text that ends a message of how far jobs are (its THREAD_RUNSTR_SZ)."""


def _anything(message: bytes) -> bool:
    return True


def _log_here(message: bytes) -> bool:
    """Return whether a log has a name without a folder, and has it whole: fio reads on behind its message,
    and of histograms, which nobody asked for, writes there.
    """
    if len(message) < _LOG_NAMES[0] + _LOG_NAME or _number(message, _LOG_TYPE_AT) == _HISTOGRAM:
        return False
    return _samples_fit(message) and not any(
        b"/" in _text(message[start : start + _LOG_NAME]) for start in _LOG_NAMES
    )


def _samples_fit(message: bytes) -> bool:
    """Return whether as many samples as a log is said to have are in its message, or can be packed in it: fio
    takes memory for their number times their size, which may be more than a number holds, and reads or
    unpacks them without a further look.
    """
    packed, sample = _number(message, _LOG_PACKED_AT), _SAMPLE
    if _number(message, _LOG_OFFSETS_AT):
        sample += _OFFSET
    if packed:
        return packed == 1 and _number(message, 0, 8) * sample <= min(_DEFLATED * len(message), _LOG_LARGEST)
    return _LOG_NAMES[0] + _LOG_NAME + _number(message, 0, 8) * sample <= len(message)


def _number(message: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(message[at : at + size], "little")


def _said(message: bytes, at: int, starts: int) -> bytes | None:
    """Return a message's text, whose length is said `at` a place; None if it would end behind the message:
    fio writes a zero byte there, wherever that is.
    """
    length = _number(message, at)
    return _text(message[starts : starts + length]) if starts + length <= len(message) else None


def _name_whole(message: bytes) -> bool:
    """Return whether a server is asked by a name that ends: it has no memory for a longer one."""
    return b"\0" in message[_NAME_STARTS : _NAME_STARTS + _NAME]


def _state_fits(message: bytes) -> bool:
    return len(message) <= _LONGEST_STATE and message.endswith(b"\0")


def _text_whole(message: bytes) -> bool:
    return _said(message, 4, _TEXT_STARTS) is not None


def _text(data: bytes) -> bytes:
    return data.partition(b"\0")[0]


def _part(heard: bytearray, at: int) -> tuple[int, int, int]:
    """Return the opcode, flags and length of the part of a message that begins there."""
    opcode, flags, length = _HEADER.unpack_from(heard, at)
    return int(opcode), int(flags), int(length)


_OF_SERVER: Mapping[int, Callable[[bytes], bool]] = {
    **dict.fromkeys((_QUIT, _STATUS, _GROUP, _PROBE, _STOP), _anything),
    **dict.fromkeys((_DISKS, _SERVER_START, _ADD_JOB, _RUN), _anything),
    _ETA: _state_fits,
    _TEXT: _text_whole,
    _LOG: _log_here,
}


class FioConversation:
    """That of fio with one server, which is to do this job; see `iogate.engines.protocol.Conversation`."""

    def __init__(self, job: str) -> None:
        text = job.encode(errors="surrogateescape")
        of_client = dict.fromkeys((_QUIT, _ASK_ETA, _RUN), _anything)
        of_client[_PROBE] = _name_whole
        of_client[_JOB] = lambda message: _said(message, 0, _JOB_STARTS) == text
        self._to_server = _Messages("fio asked the server of another client for", of_client)
        jobs = _Jobs()
        of_server = {**_OF_SERVER, _START: jobs.begin, _JOB_OPTION: jobs.has}
        self._to_conductor = _Messages("its server asked fio for", of_server)

    def to_server(self, data: bytes) -> bytes:
        return self._to_server.whole(data)

    def to_conductor(self, data: bytes) -> bytes:
        return self._to_conductor.whole(data)


class _Jobs:
    """Those of a server: fio keeps a place for the options of each that it begins with, and trusts that it
    has no options of others.
    """

    _count = 0

    def begin(self, message: bytes) -> bool:
        self._count = _number(message, 0)
        return len(message) >= _START_ENDS and self._count <= _MOST_JOBS

    def has(self, message: bytes) -> bool:
        of_all = message[:2] != b"\0\0"
        return len(message) >= _OPTION_ENDS and (of_all or _number(message, 4) < self._count)


class _Messages:
    """Messages of one side: only whole ones that it may say are let through."""

    def __init__(self, what: str, allowed: Mapping[int, Callable[[bytes], bool]]) -> None:
        self._what = what
        self._allowed = allowed
        self._heard = bytearray()
        """What is not passed on yet."""
        self._at = 0
        """How much of that has been looked at: whole parts of messages."""
        self._opcode = 0
        self._message = bytearray()
        """What the parts of the last message say that have been looked at."""

    def whole(self, data: bytes) -> bytes:
        """Return the messages that are complete with this. Raises MeasurementError for what may not be
        said.
        """
        self._heard += data
        end = 0
        while (ends := self._look()) is not None:
            end = self._at if ends else end
        found = bytes(self._heard[:end])
        del self._heard[:end]
        self._at -= end
        return found

    def _look(self) -> bool | None:
        """Look at the next part of a message. Return whether it ends there; None if it is not complete."""
        begin = self._at + _HEADER.size
        if len(self._heard) < begin:
            return None
        part, flags, size = _part(self._heard, self._at)
        if self._opcode not in (0, part) or part not in self._allowed or len(self._message) + size > _LARGEST:
            raise self._refusal(part)
        if flags & _GOES_ON and not size:  # fio takes it for the end, and what follows for another message
            raise self._refusal(part)
        if len(self._heard) < begin + size:
            return None
        self._message += self._heard[begin : begin + size]
        self._at, self._opcode = begin + size, part
        if flags & _GOES_ON:
            return False
        message, self._message, self._opcode = bytes(self._message), bytearray(), 0
        if not self._allowed[part](message):
            raise self._refusal(part)
        return True

    def _refusal(self, opcode: int) -> MeasurementError:
        return MeasurementError(f"{self._what} what is not its to ask for (message {opcode} of fio's)")
