"""Options that a device's profile sets for every workload of a suite, and where it says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from iogate import engines
from iogate.declare.gate import as_mapping
from iogate.errors import InputError, InputErrors, OptionError, Position
from iogate.formats.yamlio import Path_
from iogate.model import Device


@dataclass(frozen=True)
class Overrides:
    """Options by name; `places` are those of their keys in the profile."""

    options: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[Path_, Position] = field(default_factory=dict)

    def blame(self, error: InputError) -> InputError | None:
        """Return an error about one of these options with its place in the profile; None if it is not."""
        if not isinstance(error, OptionError) or not error.path or error.path[0] not in self.options:
            return None
        below = self.options[str(error.path[0])]
        if len(error.path) > 1 and isinstance(below, Mapping) and error.path[1] not in below:
            return None  # the suite says it, beside what the profile does
        lengths = range(len(error.path), 0, -1)
        place = next((self.places[path] for n in lengths if (path := error.path[:n]) in self.places), None)
        remedy = error.remedy or f"{error.path[0]} comes from the overrides of the device's profile"
        return OptionError(error.message, error.path, key=error.key, position=place, remedy=remedy)


def overrides_of(device: Device, suite: str) -> Overrides:
    """Return what a device's profile sets for a suite: what it sets for all of them, and for this one."""
    options: dict[str, Any] = {}
    places: dict[Path_, Position] = {}
    for name in ("*", suite):
        options = merged(options, device.overrides.get(name, {}))
        places |= {path[1:]: place for path, place in device.places.items() if path[:1] == (name,)}
    return Overrides(options, places)


def check_expanded(data: Mapping[str, Any], who: str) -> None:
    """Raise InputErrors of OptionError if keys that make several workloads of one are set where they would do
    nothing.
    """
    if names := [key for key in ("matrix", "exclude") if key in data]:
        message = f"{names[0]} makes workloads in a suite, and does nothing in {who}"
        remedy = "say it in the suite itself; a test in Python can be parametrized"
        raise InputErrors([OptionError(message, (names[0],), remedy=remedy)])


def merged(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a workload that are `shared`, where its `own` say nothing else. What it is gated by,
    what is waived, and what is passed through to an engine, under its name, is replaced key by key: to add
    one must not take away the others.
    """
    data = {**shared, **own}
    for key in shared.keys() & own.keys() & {"gate", "waive", *engines.names()}:
        before, after = shared[key], own[key]
        if key == "gate":
            before, after = as_mapping(before), as_mapping(after)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            data[key] = {**before, **after}
    return data
