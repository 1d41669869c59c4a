"""Two equal slots on one disk, in which the file systems of two images change places.

Every byte of a slot is written, zeros included, so that its blocks are on the device; it is never discarded
from, and its loop device works past the page cache. The images are only read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from iogate.errors import TargetError
from iogate.host import loop
from iogate.host.backing_file import Identity
from iogate.host.blockdevice import BlockDevice
from iogate.host.openers import keepers_of, process_text
from iogate.host.unmounting import unmounted_with_us
from iogate.model import Device, Needs
from iogate.target.images.btrfs import give_own_uuid
from iogate.target.images.copying import Source, copy, open_slot, required_space, source_of
from iogate.target.images.image import Image, check_different
from iogate.target.layout import Tick, refusal
from iogate.target.leftovers import reclaimable
from iogate.target.locks import Notice
from iogate.target.opening import open_target
from iogate.target.refusals import refusals
from iogate.target.resolve import Target, changed_error, resolve
from iogate.target.scratch import FolderScratch, room
from iogate.units import format_quantity

_NAMES = ("base", "candidate")
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

    All is made in the run's folder in `place` by what is held open of it, whatever its name leads to by now.
    `block` is the least that direct I/O takes below the slots.
    """

    def __init__(self, place: FolderScratch, arms: tuple[Source, Source], block: int) -> None:
        assert place.folder
        self._place = place
        self._held = place.folder
        self._block = block
        self._arms = arms
        self._size = max(source.room for source in arms)
        self._slots: list[int] = []
        self._files: dict[str, Identity] = {}
        self._points = [self._held / name for name in _NAMES]
        self._swapped = False
        self.space = 2 * self._size

    @property
    def folders(self) -> tuple[Path, Path]:
        """Where the file systems of base and candidate are mounted."""
        base, candidate = (self._place.path / self._held.name / name for name in _NAMES)
        return base, candidate

    def targets(self, device: Device) -> list[Target]:
        """Return both file systems as targets of a device. Raises TargetError: `changed` if the name of one
        leads elsewhere.
        """
        found = []
        for folder, point in zip(self.folders, self._points, strict=True):
            try:
                target = resolve(device, Path("/"), str(folder))
                same = target.identity == loop.identity(point)
            except (TargetError, OSError) as error:
                raise changed_error(folder) from error
            if not same:
                raise changed_error(folder)
            found.append(target)
        return found

    def swap(self, tick: Tick | None = None) -> None:
        """Copy each image anew, into the slot of the other, and mount it again: what was written to it is
        lost. Nothing may be open there. Raises TargetError.
        """
        self._swapped = not self._swapped
        self.fill(tick)

    def fill(self, tick: Tick | None = None) -> None:
        """Copy both images into their slots, and mount them. Raises TargetError: `changed` if the run's
        folder is not where it was, before or after.
        """
        self._place.check()
        still = self._release()
        if still:
            raise _in_use(still, self._place.path)
        if not self._slots:
            self._make()
        slots = self._slots[::-1] if self._swapped else self._slots
        for slot, source in zip(slots, self._arms, strict=True):
            copy(source, slot, self._size, tick)
            if source.contents.kind == "btrfs":
                self._rename(source, slot)
        devices = [
            loop.attach(
                Path(f"/proc/self/fd/{slot}"),
                source.lead,
                source.contents.length,
                max(source.contents.sector, self._block),
            )
            for slot, source in zip(slots, self._arms, strict=True)
        ]
        for device, source, point in zip(devices, self._arms, self._points, strict=True):
            with _of_image(source.image):
                loop.mount(device, point, source.contents.kind, _OPTIONS[source.contents.kind])
        self._place.check()

    def close(self, notice: Notice) -> None:
        """Unmount and detach both, as soon as nobody is there; `notice` is told of what stays until then."""
        still = self._release()
        for slot in self._slots:
            os.close(slot)
        if still:
            notice(f"{_in_use(still, self._place.path).message}; until then it stays, and takes its space")

    def _make(self) -> None:
        """Make the slots and where they are mounted. Raises TargetError."""
        for name in ("slot-0", "slot-1"):
            self._slots.append(open_slot(self._held / name))
            self._files[name] = loop.identity(self._slots[-1])
        for point in self._points:
            try:
                point.mkdir(mode=0o700)
            except OSError as error:
                raise refusal(error, f"cannot make folders in {self._place.path}") from error

    def _release(self) -> list[BlockDevice]:
        return loop.release(self._files, self._points)

    def _rename(self, source: Source, slot: int) -> None:
        """Give the copy of a btrfs a UUID of its own, before the kernel sees it. Raises TargetError."""
        try:
            with _of_image(source.image):
                give_own_uuid(f"/proc/self/fd/{slot}", source.lead)
        except OSError as error:
            raise refusal(error, f"cannot write in {self._place.path}") from error


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
        assert isinstance(place, FolderScratch) and place.folder
        home = place.folder
        sources = source_of(base, home / "base.raw"), source_of(candidate, home / "candidate.raw")
        if sources[0].contents == sources[1].contents:
            check_different(Image(base.path), Image(candidate.path))
        slots = Slots(place, sources, target.block)
        stack.enter_context(unmounted_with_us(home, _NAMES))
        stack.callback(slots.close, notice)
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
        _check_room(room(target.path) + reclaimable(target.path)[0], required_space(base, candidate), folder)
    except TargetError as error:
        return [error]
    except OSError as error:
        return [refusal(error, f"cannot look at {folder}")]
    return found


# ------------------------------------------------------------ what is asked first


def _in_use(devices: Sequence[BlockDevice], folder: Path) -> TargetError:
    """Return the refusal of what cannot be detached, with who keeps it."""
    names = ", ".join(f"/dev/{device.name}" for device in devices)
    keepers = keepers_of(frozenset(device.number for device in devices))
    by = f": {', '.join(process_text(pid) for pid in keepers)}" if keepers else ""
    return TargetError(
        f"{names} of {folder} {'is' if len(devices) == 1 else 'are'} still in use{by}",
        rule="locked",
        remedy="end what works there; a mount namespace that is made during the run (unshare --mount) keeps "
        "what is mounted then",
    )


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
