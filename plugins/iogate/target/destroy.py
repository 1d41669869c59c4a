"""Writing to a block device: who may, and when never.

It takes two who agree: the profile names the device by an id that stays with it, and the command line names
the device itself (`--io-destroy`). In use, or holding anything that looks like data, it is refused in any
case. The device is then claimed (open(2) with O_EXCL on a block device) before all is checked once more: as
long as the claim is held, the kernel lets nobody mount it, swap on it, or build anything of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from iogate.errors import TargetError
from iogate.host.blockdevice import BlockDevice, btrfs_members, whole_disks
from iogate.host.exports import exports
from iogate.host.flock import lock
from iogate.host.mounts import PROC, backing, block_number, mount_of, mounts, number_text, swaps
from iogate.host.openers import ancestors, openers_of, openers_of_file, process_text
from iogate.model import Device
from iogate.target.signatures import signatures
from iogate.units import printable

BY_ID = Path("/dev/disk/by-id")
_SYSTEM = ("/", "/boot", "/boot/efi", "/usr")
"""What of a profile's identity names a device, and the kind of id that it is."""
_PATTERN = set("*?[")
_PATIENCE = 2.0  # seconds: udev opens a device for a moment whenever something happens to it
_DEEPEST = 32  # loop devices on one another, more than the kernel lets be
_CLAIMED: set[str] = set()  # devices that this process has claimed


@dataclass(frozen=True)
class WritePlan:
    """The plan to write to a device: `numbers` are all devices that it would damage."""

    device: BlockDevice
    path: Path
    profile: Device
    consent: str | None
    numbers: frozenset[str]
    proc: Path = PROC

    def refuse(self, rule: str, why: str, remedy: str) -> TargetError:
        name = f"{self.path} ({self.device.number})"
        return TargetError(printable(f"refusing to write to {name}: {why}"), rule=rule, remedy=remedy)

    def name_of(self, number: str) -> str:
        """Return the kernel's name of a device; `it` for the one that is to be written."""
        return "it" if number == self.device.number else BlockDevice(number, self.device.sys).name


WriteRule = Callable[[WritePlan], Iterator[TargetError]]


def refusals(
    device: BlockDevice, path: Path, profile: Device, consent: str | None, proc: Path = PROC
) -> list[TargetError]:
    """Return why a device must not be written to: one error for each rule that forbids it; empty if none
    does.
    """
    numbers = frozenset(item.number for item in device.damaged())
    plan = WritePlan(device, path, profile, consent, numbers, proc)
    found = [error for rule in _RULES for error in rule(plan)]
    return found or [error for rule in _PATIENT_RULES for error in rule(plan)]


@contextlib.contextmanager
def claim(device: BlockDevice, path: Path) -> Iterator[None]:
    """Hold the device exclusively. Raises TargetError: `busy` if another has it, `changed` if the path leads
    to another device by now.
    """
    try:
        descriptor = _claim(path)
    except OSError as error:
        raise _claim_error(device, path, error) from error
    try:
        number = number_text(os.fstat(descriptor).st_rdev)
        if number != device.number:
            message = f"{path} was the device {device.number} and is {number} now"
            raise TargetError(message, rule="changed", remedy="find out who replaced it, then run again")
        with contextlib.suppress(OSError):  # so that udev does not read it whenever an engine closes it
            lock(descriptor)  # systemd.io/BLOCK_DEVICE_LOCKING
        _CLAIMED.add(device.number)
        yield
    finally:
        _CLAIMED.discard(device.number)
        os.close(descriptor)


def _claim(path: Path) -> int:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.open(path, os.O_RDONLY | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.05)


def _claim_error(device: BlockDevice, path: Path, error: OSError) -> TargetError:
    if error.errno == errno.EBUSY:
        message = f"refusing to write to {path} ({device.number}): another has opened it exclusively"
        remedy = "find out what uses it (lsblk, fuser, /proc/mounts of containers) and end that"
        return TargetError(message, rule="busy", remedy=remedy)
    message = f"cannot open {path} ({device.number}): {error.strerror}"
    return TargetError(message, rule="unreadable", remedy="run as a user who may, such as root")


# ------------------------------------------------------------ the two who agree


def _check_name(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a device that the profile does not name by an id which stays with it, and one of whose names
    leads elsewhere: the id of a dock is the same whatever disk is in it.
    """
    named = _named_ids(plan.profile)
    wrong = [item for item in named if not _agrees(*item, plan.device)]
    if not wrong and any(_leads_to(*item, plan.device) for item in named):
        return
    known = stable_ids(plan.device)
    right = [item for item in named if item not in wrong]
    why = "the profile does not name it by an id that stays with it (a pattern is no name)"
    if right and wrong:
        why = f"the profile names it by {_ids_text(right)}, but by {_ids_text(wrong)} it names another device"
    elif wrong:
        why = f"the profile names another device: {_ids_text(wrong)}"
    has = "; ".join(f"{kind}: {', '.join(values)}" for kind, values in known.items())
    remedy = f"this device has {has}" if has else "this device has no such id: use another one"
    yield plan.refuse("not-named", why, printable(remedy))


def exchanged(device: BlockDevice, path: Path, profile: Device) -> list[TargetError]:
    """Return why a device must not even be read: it lies where the profile's target does, and `target_id`
    names another one, as of a card that was exchanged. Empty if it may.
    """
    if block_number(Path(profile.target)) != device.number:
        return []  # the command line named it
    wrong = [item for item in _named_ids(profile) if _is_another(*item, device)]
    if not wrong:
        return []
    known = "; ".join(f"{kind}: {', '.join(values)}" for kind, values in stable_ids(device).items())
    message = f"{path} ({device.number}) is not what the profile names: {_ids_text(wrong)}"
    remedy = "attach that one, or change target_id" + (f": this device has {known}" if known else "")
    return [TargetError(printable(message), rule="exchanged", remedy=printable(remedy))]


def _ids_text(ids: list[tuple[str, str]]) -> str:
    return ", ".join(f"{kind} {value}" for kind, value in ids)


def _named_ids(profile: Device) -> list[tuple[str, str]]:
    """Return the ids by which a profile names the device to write to, each after its kind: `by_id`, `serial`
    (or world-wide name), `backing_file`.
    """
    found = list(profile.target_id.items())
    if Path(profile.target).parent == BY_ID:
        found.append(("by_id", profile.target))
    return found


def stable_ids(device: BlockDevice, by_id: Path = BY_ID) -> dict[str, list[str]]:
    """Return the ids that name this device and no other, by kind. A partition has no serial number of its
    own.
    """
    links = sorted(by_id.iterdir()) if by_id.is_dir() else []
    found = {"by_id": [link.name for link in links if block_number(link) == device.number]}
    if not device.is_partition:
        others = [disk for disk in whole_disks(device.sys) if disk != device]
        taken = {serial for disk in others for serial in disk.serials}
        found["serial"] = [serial for serial in device.serials if serial not in taken]
        twins = [disk for disk in others if device.shares_its_file_with(disk)]
        lost = device.attribute("loop/backing_file").endswith(
            " (deleted)"
        )  # that name may be another file's now
        found["backing_file"] = (
            [device.backing_file] if device.backing_file and not twins and not lost else []
        )
    return {kind: values for kind, values in found.items() if values}


def _leads_to(kind: str, value: str, device: BlockDevice) -> bool:
    """Return whether an id names this device and no other. A pattern does not."""
    if _PATTERN & set(value):
        return False
    if kind == "by_id":
        return block_number(BY_ID / Path(value).name) == device.number
    values = stable_ids(device).get(kind, [])
    if kind == "backing_file":
        return any(os.path.realpath(value) == os.path.realpath(item) for item in values)
    return value in values


def _agrees(kind: str, value: str, device: BlockDevice) -> bool:
    """Return whether an id leads to this device, or is the serial number of the disk that it is a part of."""
    return _leads_to(kind, value, device) or (kind == "serial" and _leads_to(kind, value, device.whole))


def _is_another(kind: str, value: str, device: BlockDevice) -> bool:
    """Return whether an id is surely not one of this device, though others may have it, too."""
    if _PATTERN & set(value) or (kind == "by_id" and not BY_ID.is_dir()):
        return False
    if kind == "by_id":
        return block_number(BY_ID / Path(value).name) != device.number
    if kind == "backing_file":
        return not device.backing_file or os.path.realpath(value) != os.path.realpath(device.backing_file)
    return value not in (*device.serials, *device.whole.serials)


def _check_consent(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a device that the command line does not name."""
    if plan.consent is None:
        yield plan.refuse("no-consent", "its data would be destroyed", f"to agree: --io-destroy={plan.path}")
        return
    number = block_number(Path(plan.consent))
    if number != plan.device.number:
        other = f"which is {number}" if number else "which is no block device"
        why = f"--io-destroy names {plan.consent}, {other}"
        yield plan.refuse("no-consent", why, "name the device that is the target, or drop the option")


# ------------------------------------------------------------ refused in any case


def _check_read_only(plan: WritePlan) -> Iterator[TargetError]:
    if plan.device.read_only:
        yield plan.refuse("read-only", "it is read-only", "see blockdev --setrw, or its write protection")


def _check_root_disk(plan: WritePlan) -> Iterator[TargetError]:
    system: dict[str, str] = {}
    for point in _SYSTEM:
        for disk in _disks_under(point, plan.device.sys, plan.proc):
            system.setdefault(disk.number, point)
    for disk in plan.device.disks():
        if disk.number in system:
            why = f"it lies on {disk.name}, as {system[disk.number]} of the running system does"
            yield plan.refuse("root-disk", why, "use a disk that the system does not need")


def _disks_under(point: str, sys: Path, proc: Path) -> list[BlockDevice]:
    """Return the disks under a directory of the system, those of a btrfs on several included."""
    mount = mount_of(Path(point), proc)
    held = backing(mount, proc) if mount else None
    number = held.block_number if held else None
    if not number:
        return []
    members = list(btrfs_members(sys))
    systems = {uuid for member, uuid in members if member == number}
    numbers = [number, *(member for member, uuid in members if uuid in systems)]
    return [disk for item in numbers for disk in BlockDevice(item, sys).disks()]


def _check_mounts(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse what is mounted: itself, a partition, what is made of it; of a partition also the whole."""
    numbers = plan.numbers | {plan.device.whole.number}
    found = {
        (number, mount.point)
        for mount in mounts(plan.proc)
        for number in (mount.number, mount.block_number)
        if number in numbers
    }
    for number, point in sorted(found):
        why = f"{plan.name_of(number)} is mounted at {point}"
        yield plan.refuse("mounted", why, f"unmount it if you mean it: umount {point}")


def _check_swap(plan: WritePlan) -> Iterator[TargetError]:
    for name, number in swaps(plan.proc):
        if number in plan.numbers | {plan.device.whole.number}:
            why = f"{plan.name_of(number)} is swap space in use ({name})"
            yield plan.refuse("swap", why, f"swap off it if you mean it: swapoff {name}")


def _check_membership(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a part of something that the kernel made: LVM, md, dm, bcache, a btrfs of several devices."""
    for device in {item.number: item for item in (plan.device.whole, *plan.device.damaged())}.values():
        if device.number in plan.numbers or device == plan.device.whole:
            holders = device.holders
            if holders:
                why = f"{plan.name_of(device.number)} is part of {', '.join(item.name for item in holders)}"
                yield plan.refuse("member", why, "take it out of its LVM, md or dm set first (see lsblk)")
    for number, uuid in btrfs_members(plan.device.sys):
        if number in plan.numbers:
            why = f"{plan.name_of(number)} is part of the btrfs {uuid}, which is mounted"
            yield plan.refuse("member", why, "unmount that file system if you mean it")


def _check_exports(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse what the kernel serves to others, of a partition also the whole: no process has it open."""
    for number, server in exports(plan.device.sys):
        if number in plan.numbers | {plan.device.whole.number}:
            why = f"{plan.name_of(number)} is served to others by {server}"
            yield plan.refuse("served", why, "end that first, if nobody uses it")


def _check_partitions(plan: WritePlan) -> Iterator[TargetError]:
    partitions = plan.device.partitions
    if partitions:
        names = ", ".join(item.name for item in partitions)
        yield plan.refuse("partitioned", f"it has partitions: {names}", _EMPTY_IT.format(plan.path))


def _check_signatures(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a device with data on it, also what a loop device is made of: a part of it is written."""
    paths, device = [plan.path], plan.device
    while device.loop_target and len(paths) < _DEEPEST:
        device = device.loop_target
        paths.append(Path("/dev", device.name))
    for path in paths:
        name = "it" if path == plan.path else f"{path}, which it is made of,"
        try:
            found = signatures(path)
        except OSError as error:
            why = f"what is on {name} cannot be found out: {error.strerror or error}"
            yield plan.refuse("signature", why, "check that it can be read")
            return
        if found:
            remedy = _EMPTY_IT.format(path) if path == plan.path else "name a device that is part of no other"
            yield plan.refuse("signature", f"{name} holds {'; '.join(found)}", remedy)


_EMPTY_IT = "if nobody needs what is on it, say so by hand: wipefs --all {}"


def _check_openers(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a device that a program uses without claiming it, such as a virtual machine, of a partition also
    the whole; and a loop device whose file one uses.
    """
    numbers = plan.numbers | {plan.device.whole.number}
    devices = (BlockDevice(number, plan.device.sys) for number in numbers)
    files = {device.backing_file for device in devices} - {""}
    itself = "it" if plan.device.whole.number in plan.numbers else "it, or the disk that it is part of,"
    asked: list[tuple[str, Callable[[], list[int]]]] = [(itself, lambda: openers_of(numbers, plan.proc))]
    asked += [(f"its file {file}", partial(_openers_of_file, file, plan.proc)) for file in sorted(files)]
    deadline = time.monotonic() + _PATIENCE
    for what, openers in asked:
        try:
            while (users := openers()) and time.monotonic() < deadline:
                time.sleep(0.05)
        except TimeoutError as error:
            (pid,) = error.args
            why = (
                f"who has it open cannot be found out: {process_text(pid, plan.proc)} has too many files open"
            )
            yield plan.refuse("open", why, "end that first")
            return
        if users:
            names = ", ".join(process_text(pid, plan.proc) for pid in users)
            yield plan.refuse("open", f"{what} is open in {names}", "end that first")


def _openers_of_file(file: str, proc: Path) -> list[int]:
    """Return the other processes that have the file of a loop device open, but for those that have begun this
    one, and may have made the device.
    """
    with contextlib.suppress(OSError):  # it has no name any more, or none here
        place = os.open(file, os.O_PATH | os.O_CLOEXEC)
        try:
            found = openers_of_file(place, proc, mapped=True)
        finally:
            os.close(place)
        return [pid for pid in found if pid not in ancestors(proc)]
    return []


def _check_exclusive(plan: WritePlan) -> Iterator[TargetError]:
    """Refuse a device that another has opened exclusively, or one that would be damaged with it, as where a
    loop device on it is mounted in a container. What this process holds is its own, with its partitions.
    """
    if plan.device.number not in _CLAIMED:
        try:
            os.close(_claim(plan.path))
        except OSError as error:
            yield _claim_error(plan.device, plan.path, error)
    for number in sorted(plan.numbers - _CLAIMED):
        device = BlockDevice(number, plan.device.sys)
        if plan.device in (device, device.whole) or device == plan.device.whole:
            continue
        path = Path("/dev", device.name)
        if block_number(path) == number:
            try:
                os.close(_claim(path))
            except OSError as error:
                if error.errno == errno.EBUSY:
                    why = f"{plan.name_of(number)}, which would be damaged, is open exclusively in another"
                    yield plan.refuse("busy", why, "find out what uses it, also in containers, and end that")


_RULES: tuple[WriteRule, ...] = (
    _check_root_disk,
    _check_mounts,
    _check_swap,
    _check_membership,
    _check_exports,
    _check_read_only,
    _check_partitions,
    _check_signatures,
    _check_name,
    _check_consent,
)
_PATIENT_RULES: tuple[WriteRule, ...] = (_check_openers, _check_exclusive)
"""Asked last: each waits a little before it says no."""
