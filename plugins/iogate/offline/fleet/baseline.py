"""`iogate fleet --baseline=NAME`: what new devices of the model are accepted against."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from iogate.declare.device import LOCAL, check_name
from iogate.declare.project import find_project
from iogate.errors import InputError
from iogate.judge.baseline import DeviceSession, load_baselines, require_room, store_fleet
from iogate.judge.baseline.fleet import FEWEST, FleetValues
from iogate.judge.baseline.places import near_path
from iogate.model import Baseline, hash_of
from iogate.offline.baseline_log import strength
from iogate.offline.fleet.profile import Profile
from iogate.offline.fleet.values import Fleet
from iogate.report.alike import who
from iogate.units import no_commands, plural, printable


def write_baseline(fleet: Fleet, name: str, baselines: Path | None = None, *, replace: bool = False) -> str:
    """Write the baselines of a fleet, one a suite, and the profile that goes with them if it is known; say
    what was written, and what is needed still. Raises IogateError: all is as it was then, unless a disk is
    full amid several suites.
    """
    check_name(name)
    if name == LOCAL:
        raise InputError(
            f"the device {LOCAL} is whatever machine pytest runs on: a fleet needs a name of its own",
            remedy="--baseline=MODEL",
        )
    project = find_project(Path.cwd(), Path.cwd())
    folder = (baselines or project.baselines) / name
    slower = fleet.standing_out("slower")
    found, said = _suites(fleet, slower)
    for suite in found:
        _require_suite(suite)
        require_room(folder / f"{suite}.yaml", suite, replace=replace)
    profile = Profile(folder, [device for device in fleet.devices if device not in slower], fleet.model)
    profile.require_fit()
    lines = [*_without(fleet, slower), *said]
    for suite, measured in found.items():
        file = folder / f"{suite}.yaml"
        before = load_baselines(file, suite)
        store_fleet(file, name, suite, measured, replace=replace)
        devices = {one.device for _, own in measured.values() for one in own}
        counts = f"{plural(len(measured), 'workload')} of {plural(len(devices), 'device')}"
        lines.append(f"{near_path(file)}: {counts}; one session each, the newest")
        lines += _no_longer(before, measured, devices)
    lines.append(profile.write())
    for suite in found:
        file = folder / f"{suite}.yaml"
        lines += ["", strength(folder, suite, load_baselines(file, suite), project)]
    return no_commands("\n".join(lines))


def _require_suite(suite: str) -> None:
    """Raise InputError for a suite whose name would lead out of the device's folder."""
    parts = PurePosixPath(suite).parts
    for part in parts:
        check_name(part.replace(" ", "_"), "suite")
    if not parts or suite != "/".join(parts) or parts[-1] == "device":
        raise InputError(f"{printable(suite)!r} cannot be the name of a suite")


def _suites(fleet: Fleet, slower: list[str]) -> tuple[Mapping[str, FleetValues], list[str]]:
    """Return what is to be stored by suite, and what is not, and why. Raises InputError if nothing is."""
    found: dict[str, dict[str, tuple[Mapping[str, Any], list[DeviceSession]]]] = {}
    said, unlike = [], []
    for (suite, workload), own in fleet.kept.items():
        newest = {device: items[-1] for device, items in own.items() if device not in slower}
        sessions = [
            DeviceSession(
                _stored(device),
                item.session.id,
                item.session.environment,
                item.values,
                item.runtime,
                item.worked,
            )
            for device, item in newest.items()
            if item.values
        ]
        if len(sessions) < FEWEST:
            said.append(f"{workload} is not in it: {plural(len(sessions), 'device')} of at least {FEWEST}")
            continue
        if len({one.runtime for one in sessions}) > 1:
            unlike.append(workload)
        definition = next(iter(newest.values())).definition
        found.setdefault(suite, {})[workload] = (definition, sessions)
    if not found:
        raise InputError(
            "\n  ".join(
                [f"no baseline: it needs {FEWEST} devices, as fewer cannot show how devices differ", *said]
            ),
            remedy="measure more devices",
        )
    if unlike:
        said.append(
            f"repetitions of {who(unlike)} do not all last as long, as runtime: auto chose: a new device's "
            "are chosen anew; give runtime in seconds"
        )
    return found, said


def _no_longer(
    before: Mapping[str, Baseline], measured: FleetValues, devices: Collection[str]
) -> Iterator[str]:
    """Yield what was in the baseline that was replaced, and is not in the new one: fewer devices resolve
    less, and results are removed without a word to the fleet.
    """
    known = dict.fromkeys(device for one in before.values() for device in one.devices)
    for what, gone in (
        ("workload", [name for name in before if name not in measured]),
        ("device", [device for device in known if device not in devices]),
    ):
        if gone:
            yield f"no longer in it: {plural(len(gone), what)}: {', '.join(gone)}"


def _stored(device: str) -> str:
    """Return what a device is called in a file that may be published: without its serial number."""
    name, bracket, _ = device.partition(" (")
    return f"{name}-{hash_of({'device': device})[:8]}" if bracket else name


def _without(fleet: Fleet, slower: list[str]) -> Iterator[str]:
    """Yield which devices are not in the baseline, and which are although they may not belong there."""
    if slower:
        yield f"not in it: {', '.join(slower)}, slower than the others"
    beyond = [one for one in fleet.standing_out("beyond tolerance", "may be chance") if one not in slower]
    if beyond:
        yield (
            f"in it, although worse than the others by more than the tolerance: {', '.join(beyond)}; if that "
            "is not as it should be, write it again without those results"
        )
