"""Taking a target for a run, one at a time, and leaving it as it was."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from iogate.errors import TargetError
from iogate.formats.held import path_of, require_own_processes
from iogate.host.blockdevice import BlockDevice
from iogate.host.mounts import WITHOUT_OWNERS, number_text
from iogate.host.openers import unseen
from iogate.model import Device, Needs, Reads
from iogate.target import destroy
from iogate.target.blank import Blocks, Parts, hole_shares, written_of
from iogate.target.home import scratch_folder
from iogate.target.layout import Tick, refusal
from iogate.target.leftovers import occupants, remove_leftovers
from iogate.target.locks import Fellows, Notice, hold, hold_disks
from iogate.target.refusals import refusals
from iogate.target.resolve import LEADS_ELSEWHERE, Target, changed_error
from iogate.target.scratch import CheckNeeds, FolderScratch, Scratch, quotable

_ALONE = Fellows()
_SECTOR = 512  # of /sys, whatever the device's own is


@contextlib.contextmanager
def open_target(
    target: Target,
    *,
    device: Device,
    consent: str | None = None,
    heed: bool = False,
    notice: Notice = print,
    fellows: Fellows = _ALONE,
) -> Iterator[Scratch]:
    """Take a target for this run: no other may use it, nor the disks under it, and what crashed runs left in
    a directory is removed. At the end, however it comes, the target is as it was (what workloads wrote to a
    block device aside).

    Locks of others that cannot stop this user are passed over with a `notice`, unless to `heed` them is
    asked for. What only `fellows` have taken is free for this one, too. Raises TargetError.
    """

    def check(needs: Needs) -> None:
        for error in refusals(target, needs, device=device, consent=consent):
            raise error

    try:
        require_own_processes()
    except OSError as error:  # what is written would go to whatever another process has open
        raise TargetError(f"refusing {target.path}: {error.strerror}", rule="processes") from error
    with contextlib.ExitStack() as stack:
        disks = (number for number in disks_under(target) if number not in fellows.disks)
        stack.enter_context(hold_disks(disks, heed, notice))
        if target.kind == "device":
            held = stack.enter_context(_device(target))
            yield stack.enter_context(_DeviceScratch(target, held, check, notice))
            return
        parent = stack.enter_context(_directory(target))
        known = occupants(parent) if fellows.folders else set()
        if not known or not known <= set(fellows.folders):
            stack.enter_context(hold(parent, str(target.path), heed, notice))
        remove_leftovers(parent, target.path, spared=fellows.folders)
        home = stack.enter_context(
            scratch_folder(parent, target.path, owners=target.file_system not in WITHOUT_OWNERS)
        )
        yield FolderScratch(home, check, in_place=target.in_place)


class _DeviceScratch(contextlib.ExitStack):
    """A run's place on a block device: the device itself, claimed from the first workload that writes.

    It is reached by what is held open as `descriptor`: whoever may write to the directory of its node could
    put a link to another device in its place.
    """

    def __init__(self, target: Target, descriptor: int, check: CheckNeeds, notice: Notice) -> None:
        super().__init__()
        self._notice = notice
        self._held = path_of(descriptor)
        self.folder: Path | None = None
        self.written = 0
        self._target = target
        self._check = check
        self._claimed = False
        self._blocks = self._all_unseen()
        self._held_by_file: list[tuple[int, int]] | None = None

    def data(self, needs: Needs, tick: Tick | None = None, number: int = 0) -> Path:
        if needs.writes and not self._claimed and self._target.number:
            self._check(needs)
            self.enter_context(destroy.claim(BlockDevice(self._target.number), self._target.path))
            self._claimed = True
            if others := unseen():
                self._notice(
                    f"{self._target.path} is written to, and what {others} have open cannot be seen: one "
                    "that uses it, and has not mounted or locked it, would be overwritten"
                )
        self._check(needs)
        self._blocks, self._held_by_file = self._all_unseen(), None
        return self._held

    def missing(self, needs: Needs, number: int = 0) -> int:
        return 0

    def look_ahead(self, jobs: Sequence[Reads]) -> None:
        self._blocks.look_ahead(jobs)
        self._held_by_file = self._written()

    def blank(self, parts: Parts) -> Mapping[str, float] | None:
        found = self._blocks.shares(parts)
        return found and {**found, **self._holes(parts)}

    def _all_unseen(self) -> Blocks:
        return Blocks(self._held, self._target.block)

    def _holes(self, parts: Parts) -> dict[str, float]:
        """Return what of the file of a loop device, or of a partition of one, is nowhere on its disk; nothing
        of another device.
        """
        held = self._written() if self._held_by_file is None else self._held_by_file
        if held is None or not self._target.number:
            return {}
        device = BlockDevice(self._target.number)
        within = _SECTOR * int(device.attribute("start") or 0)
        return hole_shares(held, parts, int(device.whole.attribute("loop/offset") or 0) + within)

    def _written(self) -> list[tuple[int, int]] | None:
        file = BlockDevice(self._target.number).whole.backing_file if self._target.number else ""
        return written_of(Path(file)) if file else None

    def check(self) -> None:
        """Do nothing: a device has no folder."""

    def readable(self, text: str) -> str:
        return text.replace(str(self._held), quotable(self._target.path))


def disks_under(target: Target) -> list[str]:
    """Return the disks under a target; for a file system without any, its own number."""
    if target.number:
        return [disk.number for disk in BlockDevice(target.number).disks()]
    return [number_text(target.identity[0])]


def _unopened(target: Target, error: OSError) -> TargetError:
    """Return why a target that was resolved cannot be opened."""
    if error.errno in LEADS_ELSEWHERE:
        return changed_error(target.path)
    return refusal(error, f"cannot open {target.path}")


@contextlib.contextmanager
def _device(target: Target) -> Iterator[int]:
    """Open the block device for reading. Raises TargetError if it is not the one that was resolved."""
    try:
        descriptor = os.open(target.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unopened(target, error) from error
    try:
        if number_text(os.fstat(descriptor).st_rdev) != target.number:
            raise changed_error(target.path)
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _directory(target: Target) -> Iterator[int]:
    """Open the directory. Raises TargetError if it is not the one that was resolved."""
    try:
        descriptor = os.open(target.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _unopened(target, error) from error
    try:
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != target.identity:
            raise changed_error(target.path)
        yield descriptor
    finally:
        os.close(descriptor)
