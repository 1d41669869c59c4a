"""A UUID of its own for a copy of a btrfs, by its superblock (struct btrfs_super_block of Linux).

The kernel takes all devices that say one UUID for one file system: it would mount the copy of a disk together
with whatever disk of this machine says the same, and write to that. `btrfstune -m` looks for such disks, too,
and breaks a file system whose log is still to be replayed: so it is done here.
"""

from __future__ import annotations

import hashlib
import os
import struct
import uuid
from collections.abc import Callable, Mapping

from iogate.errors import TargetError

_PLACE = 64 * 2**10
"""Where the superblock lies; its copies are not read by whoever mounts, and written anew then."""
_SIZE = 4096
_CHECKSUM = slice(0, 32)
_UUID = slice(32, 48)
_MAGIC = slice(64, 72)
_FEATURES = struct.Struct("<Q")
_FEATURES_AT = 188
_CHECKSUM_TYPE_AT = 196
_UUID_OF_TREES = slice(571, 587)
_HAS_UUID_OF_TREES = 1 << 10


def give_own_uuid(path: str, start: int) -> None:
    """Give the btrfs that begins there in a file another UUID, which is on the disk when this returns; that
    of its trees stays. Raises OSError, and TargetError (`file-system`) for a damaged superblock, which stays.
    """
    file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        block = bytearray(os.pread(file, _SIZE, start + _PLACE))
        _rename(block)
        os.pwrite(file, block, start + _PLACE)
        os.fsync(file)
    finally:
        os.close(file)


def _rename(block: bytearray) -> None:
    if len(block) < _SIZE or block[_MAGIC] != b"_BHRfS_M" or block[_CHECKSUM] != _checksum(block):
        remedy = "see what btrfs check says of it"
        raise TargetError("the superblock of the btrfs is damaged", rule="file-system", remedy=remedy)
    (features,) = _FEATURES.unpack_from(block, _FEATURES_AT)
    if not features & _HAS_UUID_OF_TREES:
        block[_UUID_OF_TREES] = block[_UUID]
        _FEATURES.pack_into(block, _FEATURES_AT, features | _HAS_UUID_OF_TREES)
    block[_UUID] = uuid.uuid4().bytes
    block[_CHECKSUM] = _checksum(block)


def _checksum(block: bytearray) -> bytes:
    """Return the checksum of a superblock, by the type that it names; nothing for one that is not known."""
    (kind,) = struct.unpack_from("<H", block, _CHECKSUM_TYPE_AT)
    data = bytes(block[_CHECKSUM.stop :])
    return _CHECKSUMS[kind](data).ljust(_CHECKSUM.stop, b"\0") if kind in _CHECKSUMS else b""


def _crc32c(data: bytes) -> bytes:
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return struct.pack("<I", value ^ 0xFFFFFFFF)


_PRIMES = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip
_WORD = 2**64 - 1


def _xxhash64(data: bytes) -> bytes:
    """Return xxHash's 64 bits (github.com/Cyan4973/xxHash, doc/xxhash_spec.md) of a multiple of 32 bytes."""
    first, second, third, fourth, _ = _PRIMES
    lanes = [first + second, second, 0, -first]
    for words in struct.iter_unpack("<4Q", data):
        lanes = [_rounded(lane, word) for lane, word in zip(lanes, words, strict=True)]
    value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    for lane in lanes:
        value = (value ^ _rounded(0, lane)) * first + fourth
    value = value + len(data) & _WORD
    value = (value ^ value >> 33) * second & _WORD
    value = (value ^ value >> 29) * third & _WORD
    return struct.pack("<Q", value ^ value >> 32)


def _rounded(lane: int, word: int) -> int:
    return _rotated(lane + word * _PRIMES[1], 31) * _PRIMES[0] & _WORD


def _rotated(value: int, by: int) -> int:
    value &= _WORD
    return (value << by | value >> 64 - by) & _WORD


_CHECKSUMS: Mapping[int, Callable[[bytes], bytes]] = {
    0: _crc32c,
    1: _xxhash64,
    2: lambda data: hashlib.sha256(data).digest(),
    3: lambda data: hashlib.blake2b(data, digest_size=32).digest(),
}
