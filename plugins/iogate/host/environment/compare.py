"""What differs between two environments, and between a machine and what it must be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from iogate.formats.words import nearest
from iogate.host.mounts import IN_PLACE, OF_ONE_MACHINE
from iogate.model import Environment
from iogate.units import printable

IDENTITY = (
    *("machine", "board", "serial", "cpu", "cores", "memory"),
    *("disk", "disk_serial", "disk_wwid", "disk_capacity"),
)
"""The names that a device's profile can match."""

INDIVIDUAL = ("serial", "disk_serial", "disk_wwid")
"""Those that tell one machine from another of its model; the others tell what model it is."""

_OF_EACH_DISK = ("disk", "disk_serial", "disk_wwid", "disk_capacity", "disk_firmware")
"""What each disk of an array says, in the order of their kernel names, which change places at a boot."""

_READ_BY_ANYBODY = ("disk", "disk_capacity")

_NO_CPU = re.compile(r"ARMv\d+ Processor rev \d+ .*")
"""What some kernels say of each Arm processor, and others not: 32-bit ones, and NVIDIA's. It names none."""

_NEW = frozenset({"folder_attributes", "data_files"})
"""Of which baselines of before know nothing."""

_MATERIAL: Mapping[str, tuple[float, float]] = {
    # name: (absolute, relative) change that explains something; anything else differs if its text does
    "memory": (1.0, 0.10),  # in whole GiB: what a kernel keeps for itself makes 7 GiB of 8
    "cpu_frequency": (0.0, 0.10),
    "cpu_limit": (0.0, 0.05),  # not known of older baselines, as the next one
    "memory_limit": (0.0, 0.05),
    "load": (float("inf"), 0.0),  # it moves by the minute; the audit looks at it
    "temperature": (10.0, 0.0),
    "disk_temperature": (10.0, 0.0),
    "free_space": (10.0, 0.0),
    "uptime": (float("inf"), 0.0),
}


def model_of(identity: Mapping[str, str]) -> dict[str, str]:
    """Return what of an identity tells the model of a machine."""
    return {name: text for name, text in identity.items() if name not in INDIVIDUAL}


def identity_mismatch(expected_patterns: Mapping[str, str], observed: Mapping[str, str]) -> list[str]:
    """Return what of an observed identity does not match the patterns (fnmatch(3), case counts); empty if all
    does.

    A name that was not observed does not match.
    """
    messages = []
    for name, pattern in expected_patterns.items():
        value = observed.get(name)
        if value is None:
            hint = "" if name in IDENTITY else nearest(name, IDENTITY) or f" (known: {', '.join(IDENTITY)})"
            messages.append(f"{name} is not known here, and must match {pattern!r}{hint}")
        elif value != pattern and not fnmatchcase(value, pattern):
            messages.append(f"{name} is {value!r}, and must match {pattern!r}")
    return [printable(message) for message in messages]


def identity_changes(
    old: Mapping[str, str], new: Mapping[str, str], model: Mapping[str, str] | None = None
) -> list[str]:
    """Return how the machine differs from the one of a baseline; empty if it is the same, as far as both
    know, or another one of the same `model`, if that is asked for: what both match its patterns by is no
    difference.

    A name that only one of them knows says nothing: serial numbers can often be read by root only.
    """
    shared = (old.keys() & new.keys()) - set(_renamed(old, new))
    if model is not None:
        alike = (
            name
            for name in model
            if not any(identity_mismatch({name: model[name]}, one) for one in (old, new))
        )
        shared -= {*INDIVIDUAL, *alike}
    return _changes(*({name: one[name] for name in one if name in shared} for one in (old, new)))


def lost_disk(old: Environment, new: Environment) -> str:
    """Return which disk a baseline is of, where of the one here nothing is known; empty if something is.

    Models and capacities can be read by anybody: it is none, as where a volume was not mounted and its folder
    lies on an overlay or on the network. One and the same file system of several disks says nothing, as its
    disks are not always found in a container.
    """
    known = [old.identity[name] for name in _READ_BY_ANYBODY if name in old.identity]
    none = bool(new.identity) and not any(name in new.identity for name in _OF_EACH_DISK)
    kinds = {one.subject.get("file_system", "") for one in (old, new)}
    if not (known and none) or (len(kinds) == 1 and kinds <= OF_ONE_MACHINE):
        return ""
    return printable(f"its disk was {known[0]}, and nothing is known of a disk here")


def shared_data(old: Environment, new: Environment) -> bool:
    """Return whether workloads shared the files of data in a baseline that have their own here: reads and
    writes have another speed then, where a file system does not write in place. What another file system
    recorded, which does, is held against this one.
    """
    apart = [one.subject.get("data_files") == "apart" for one in (old, new)]
    kinds = [one.subject.get("file_system", "") for one in (old, new)]
    return apart == [False, True] and kinds[0] != "" and (kinds[0] == kinds[1] or kinds[0] not in IN_PLACE)


def _renamed(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    """Yield what another kernel or firmware may call otherwise on one and the same machine."""
    if any(_NO_CPU.fullmatch(one.get("cpu", "")) for one in (old, new)):
        yield "cpu"
    # NVIDIA's device trees and PCs' firmware have renamed boards; the serial number is of one board alone.
    if old.get("serial") and old["serial"] == new.get("serial"):
        yield from ("machine", "board")
    # An NVMe disk whose EUI-64 the kernel has learnt not to trust gets a wwid made of its serial number.
    serials, kinds = ([one.get(name, "") for one in (old, new)] for name in ("disk_serial", "disk_wwid"))
    if serials[0] and not material("disk_serial", *serials) and _kinds(kinds[0]) != _kinds(kinds[1]):
        yield "disk_wwid"


def _kinds(identifiers: str) -> list[str]:
    """Return of which kind (`eui`, `nvme`, `naa`) the world-wide identifiers of disks are."""
    return sorted(one.partition(".")[0] for one in identifiers.split(", ") if "." in one)


def differences(old: Environment, new: Environment) -> list[str]:
    """Return what differs between two environments: the first suspects where a performance does.

    Machine first, then software, then state, where only changes count that can explain something.
    """
    return [
        *identity_changes(old.identity, new.identity),
        *_changes(old.subject, new.subject),
        *_changes(old.state, new.state),
    ]


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    messages = []
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before is None:
            message = "" if name in {*_MATERIAL, *_NEW} else f"{name} was not known, is {after}"
        elif after is None:
            message = "" if name in _MATERIAL else f"{name} was {before}, is not known"
        else:
            message = f"{name} was {before}, is {after}" if material(name, before, after) else ""
        if message:
            messages.append(printable(message))
    return messages


def material(name: str, before: str, after: str) -> bool:
    """Return whether two values of a fact differ by what can explain something."""
    if before == after:
        return False
    if name in _OF_EACH_DISK:
        return sorted(before.split(", ")) != sorted(after.split(", "))
    if name not in _MATERIAL:
        return True
    absolute, relative = _MATERIAL[name]
    numbers = [re.match(r"-?\d+(\.\d+)?", text) for text in (before, after)]
    if not (numbers[0] and numbers[1]):
        return absolute != float("inf")
    old, new = float(numbers[0][0]), float(numbers[1][0])
    return abs(new - old) > max(absolute, relative * abs(old))
