"""Two equal slots on one disk, in which the file systems of two images change places.

Every byte of a slot is written, zeros included, so that its blocks are on the device; it is never discarded
from, and its loop device works past the page cache. The images are only read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import loop
from iogate.host.blockdevice import BlockDevice, btrfs_members
from iogate.host.tools import ask
from iogate.model import Device, Needs
from iogate.target.images.copying import Source, copy, required_space, source_of
from iogate.target.images.image import Image, check_different
from iogate.target.layout import Tick, refusal
from iogate.target.locks import Notice
from iogate.target.opening import open_target
from iogate.target.refusals import refusals
from iogate.target.resolve import Target, resolve
from iogate.target.scratch import reclaimable, room
from iogate.units import format_quantity

_OPTIONS = {
    "btrfs": "nodiscard",
    "ext2": "errors=remount-ro",
    "ext3": "nodiscard,errors=remount-ro",
    "ext4": "nodiscard,errors=remount-ro,noinit_itable",
    "xfs": "nodiscard,nouuid",
}
"""No discards: they would punch holes into the slot. ext4: an image must not ask for a panic of this kernel,
nor initialise itself while it is measured. XFS: clones have one UUID."""


class Slots:
    """Where the file systems of base and candidate are now; `space` are the bytes that both slots take.

    `block` is the least that direct I/O takes below them.
    """

    def __init__(self, home: Path, arms: tuple[Source, Source], block: int) -> None:
        self._home = home
        self._block = block
        self._arms = arms
        self._size = max(source.room for source in arms)
        self._swapped = False
        self.space = 2 * self._size

    @property
    def folders(self) -> tuple[Path, Path]:
        """Where the file systems of base and candidate are mounted."""
        return self._home / "base", self._home / "candidate"

    def swap(self, tick: Tick | None = None) -> None:
        """Copy each image anew, into the slot of the other, and mount it again: what was written to it is
        lost. Nothing may be open there. Raises TargetError.
        """
        self._swapped = not self._swapped
        self.fill(tick)

    def fill(self, tick: Tick | None = None) -> None:
        """Copy both images into their slots, and mount them. Raises TargetError."""
        still = loop.release_below(self._home)
        if still:
            message = (
                f"{', '.join(f'/dev/{device.name}' for device in still)} of {self._home} is still in use"
            )
            raise TargetError(message, rule="locked", remedy="end what works there")
        slots = [self._home / "slot-0", self._home / "slot-1"]
        if self._swapped:
            slots.reverse()
        for slot, source in zip(slots, self._arms, strict=True):
            copy(source, slot, self._size, tick)
        devices = [
            loop.attach(slot, source.lead, source.contents.length, max(source.contents.sector, self._block))
            for slot, source in zip(slots, self._arms, strict=True)
        ]
        self._tell_apart(devices)
        for device, source, folder in zip(devices, self._arms, self.folders, strict=True):
            folder.mkdir(exist_ok=True)
            with _of_image(source.image):
                loop.mount(device, folder, source.contents.kind, _OPTIONS[source.contents.kind])

    def _tell_apart(self, devices: list[BlockDevice]) -> None:
        """Give both copies new UUIDs where btrfs would take them for one file system, or for one that is
        mounted. Others do not mind.
        """
        uuids = [source.contents.uuid for source in self._arms if source.contents.kind == "btrfs"]
        mounted = {uuid for _, uuid in btrfs_members()}
        if len(set(uuids)) == len(uuids) and not mounted.intersection(uuids):
            return
        for device, source in zip(devices, self._arms, strict=True):
            if source.contents.kind == "btrfs":
                answer = ask("btrfstune", "btrfs-progs", "-m", f"/dev/{device.name}")
                if answer.status:
                    message = f"the copy of {source.image} cannot be given a UUID of its own: {answer.reason}"
                    raise TargetError(message, rule="file-system", remedy="see what btrfs check says of it")


@contextlib.contextmanager
def open_slots(
    folder: Path,
    base: Image,
    candidate: Image,
    tick: Tick | None = None,
    *,
    heed: bool = False,
    notice: Notice = print,
) -> Iterator[Slots]:
    """Take a folder for this run, as a target is taken, and mount copies of both images below it. At the end,
    however it comes, all is unmounted, detached and removed; what a killed run left there is removed first.

    `tick` is called while slots are written, with the bytes done of this slot; `heed` and `notice` are those
    of `open_target`. Raises TargetError.
    """
    for error in slot_refusals(folder, base, candidate):
        raise error
    target = _target(folder)
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(open_target(target, device=_profile(folder), heed=heed, notice=notice))
        assert place.folder
        home = Path(os.path.realpath(place.folder))  # mounts are known by where they really are
        stack.callback(loop.release_below, home)
        sources = source_of(base, home / "base.raw"), source_of(candidate, home / "candidate.raw")
        if sources[0].contents == sources[1].contents:
            check_different(Image(base.path), Image(candidate.path))
        slots = Slots(home, sources, target.block)
        _check_room(room(home), slots.space, folder)
        slots.fill(tick)
        yield slots


def slot_refusals(folder: Path, base: Image, candidate: Image) -> list[TargetError]:
    """Return why two images cannot be measured in slots in a folder; empty if they can. Nothing is
    written.
    """
    try:
        _check_rights()
        target = _target(folder)
        found = refusals(target, Needs(writes=True, direct=True), device=_profile(folder), consent=None)
        check_different(base, candidate)
        _check_room(room(target.path) + reclaimable(target.path), required_space(base, candidate), folder)
    except TargetError as error:
        return [error]
    except OSError as error:
        return [refusal(error, f"cannot look at {folder}")]
    return found


# ------------------------------------------------------------ what is asked first


def _check_rights() -> None:
    if os.geteuid():
        raise TargetError(
            "images are attached to loop devices and mounted, which takes root",
            rule="no-root",
            remedy="run as root; without, compare two directories, a copy of the same data "
            "(--io-against=same), or options of a workload (against: in the suite)",
        )


def _target(folder: Path) -> Target:
    target = resolve(_profile(folder), Path("/"))
    if target.kind != "directory":
        message = f"slots for images need a directory, and {target.path} is a block device"
        raise TargetError(message, rule="not-a-directory", remedy="name a directory as the profile's target")
    return target


def _profile(folder: Path) -> Device:
    return Device("images", str(folder.absolute()))


def _check_room(available: int, space: int, folder: Path) -> None:
    if space > available:
        message = (
            f"two slots for these images take {format_quantity(space, 'B')}, of {folder} "
            f"{format_quantity(max(0, available), 'B')} may be used (a reserve stays free)"
        )
        remedy = "free space, or name another folder as the profile's target"
        raise TargetError(message, rule="space", remedy=remedy)


@contextlib.contextmanager
def _of_image(image: Image) -> Iterator[None]:
    """Say of which image a refusal speaks."""
    try:
        yield
    except TargetError as error:
        raise TargetError(f"{image}: {error.message}", rule=error.rule, remedy=error.remedy) from error
