"""Which devices are meant, and which of them share a host."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from iogate.errors import IogateError
from iogate.model import Device
from iogate.plugin.options import value_of
from iogate.units import no_commands, printable


def device_names(config: pytest.Config) -> list[str]:
    """Return the devices of `--device`, which parts them by commas; none if it was not given. Raises
    UsageError if the command line has it more than once, for other devices: pytest takes the last alone.
    """
    text = value_of(config, "--device")
    names = _parted(text) if text else []
    given = _given([str(argument) for argument in config.invocation_params.args])
    # a run of one of several has the names of all before its own
    if not all(set(names) <= set(_parted(one)) for one in given):
        raise pytest.UsageError(
            f"--device is given {len(given)} times, and pytest would take the last alone: "
            f"name all of them in one, --device={printable(','.join(given))}"
        )
    return names


def _parted(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _given(arguments: Sequence[str]) -> list[str]:
    """Return what each `--device` of a command line names: `--device=NAME` or `--device NAME`."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    behind = [value for flag, value in itertools.pairwise(options) if flag == "--device"]
    return [one.removeprefix("--device=") for one in options if one.startswith("--device=")] + behind


def load_devices(config: pytest.Config, baselines: Path) -> list[Device]:
    """Return the devices. Raises UsageError if one of them is not known, wrong, or named twice."""
    from iogate.declare.device import load_device

    names = device_names(config)
    problems = []
    if not all(names):
        problems.append(f"--device={printable(','.join(names))} has an empty name: part names by one comma")
    twice = [name for name in dict.fromkeys(names) if name and names.count(name) > 1]
    problems += [f"--device names {printable(name)} twice: a device is measured once" for name in twice]
    devices = []
    for name in filter(None, dict.fromkeys(names)):
        try:
            devices.append(load_device(name, baselines))
        except IogateError as error:
            problems.append(no_commands(str(error)))
    if problems:
        raise pytest.UsageError("\n".join([*problems, "nothing was measured on any of the devices"]))
    return devices


def lanes(devices: Iterable[Device]) -> list[list[Device]]:
    """Return the devices by their hosts, in the order in which they were named; one with several hosts shares
    a lane with whoever has any of them.
    """
    lane_of: dict[str, int] = {}
    numbered = list(devices)
    for number, device in enumerate(numbered):
        own = {host_key(host) for host in device.hosts or (device.host,)}
        joined = {lane_of.setdefault(host, number) for host in own}
        lane_of = {host: min(joined) if lane in joined else lane for host, lane in lane_of.items()}
    found: dict[int, list[Device]] = {}
    for device in numbered:
        found.setdefault(lane_of[host_key((device.hosts or (device.host,))[0])], []).append(device)
    return list(found.values())


def host_key(host: str) -> str:
    """Return what hosts have in common that are one machine, as far as their names tell: another process here
    is here, and the user and the options of ssh say nothing of the machine.
    """
    parts = host.split("//")
    if not host or parts[0].startswith("popen"):
        return ""
    ssh = next((part.removeprefix("ssh=") for part in parts if part.startswith("ssh=")), "")
    return ssh.split()[-1].rpartition("@")[2].lower() if ssh.split() else host
