"""`iogate device check`: whether the machine, here or at its host, is as a device's profile says. No I/O is
done.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from iogate import engines
from iogate.audit.snapshot.link import Link
from iogate.declare.device import load_device
from iogate.declare.overrides import overrides_of
from iogate.declare.project import SUFFIXES, Project, find_project, hide_what_lies_elsewhere
from iogate.declare.suite import load_suite
from iogate.errors import IogateError, TargetError
from iogate.formats.reading import held_input
from iogate.formats.words import nearest
from iogate.host.environment import INDIVIDUAL, identity_changes, identity_mismatch, observe
from iogate.judge.baseline import load_baselines
from iogate.judge.baseline.places import baseline_files, near_path
from iogate.measure.bench import Bench
from iogate.measure.settings import Settings
from iogate.model import Baseline, Device, Needs, Place, Workload
from iogate.offline.devices.initial import Silent
from iogate.remote.survey import link_now
from iogate.target.places import USUAL, target_told
from iogate.target.refusals import refusals
from iogate.target.resolve import Target, resolve
from iogate.units import format_quantity, no_commands, plural

RefusedBy: TypeAlias = Callable[[Needs], Sequence[TargetError]]
"""Returns why a target refuses a workload."""
_OFF = 0.05  # of the rate of a link: names of it are rounded


@dataclass(frozen=True)
class _Found:
    """What was found of a part of the profile: whether it is as it should be, and what to say."""

    part: str
    good: bool
    text: str


def check(name: str, baselines: Path | None = None) -> tuple[str, int]:
    """Return what of a profile holds on this machine, and an exit status: 1 if anything does not. Raises
    InputError for a profile that cannot be read.
    """
    project = find_project(Path.cwd(), Path.cwd())
    baselines = baselines or project.baselines
    device = load_device(name, baselines)
    there = device.host or device.hosts
    found = [_profile(device), *(_elsewhere if there else _machine)(device, project)]
    found += _baselines(device, baselines / device.name)
    lines = []
    for item in found:
        first, *rest = no_commands(item.text).splitlines()
        lines.append(f"{'ok ' if item.good else 'NOT'}  {item.part:<10}  {first}")
        lines += [f"{'':17}{line}" for line in rest]
    return "\n".join(lines), int(any(not item.good for item in found))


def _profile(device: Device) -> _Found:
    where = near_path(Path(device.position.file)) if device.position else "no file, any machine is it"
    return _Found("profile", True, f"{device.name}: {where}")


def _baselines(device: Device, folder: Path) -> Iterator[_Found]:
    """Yield what cannot be read of the baselines of a device, or how many there are, and of which machine
    where others are held against it.
    """
    suites = 0
    known: list[Baseline] = []
    try:
        for path, suite in baseline_files(folder):
            try:
                known += load_baselines(path, suite).values()
                suites += 1
            except IogateError as error:
                yield _Found("baseline", False, str(error))
    except IogateError as error:
        yield _Found("baseline", False, str(error))
    if not known:
        return
    told = f"of {plural(len(known), 'workload')}, in {plural(suites, 'suite')}"
    machines = _machines(known) if device.accepts == "model" else []
    told += "".join(f"\nof the machine with {one}" for one in machines)
    if len(machines) > 1:
        told += "\nrecord all on one of them (--update-baselines): a suite of several takes no session of any"
    yield _Found("baseline", len(machines) < 2, told)


def _machines(known: Sequence[Baseline]) -> list[str]:
    """Return by what those on which baselines were measured differ from others of their model, each once."""
    found: list[Mapping[str, str]] = []
    for identity in (one.environment.identity for one in known):
        own = {name: identity[name] for name in INDIVIDUAL if name in identity}
        if own and not any(not identity_changes(other, own) for other in found):
            found.append(own)
    return [", ".join(f"{name} {text!r}" for name, text in one.items()) for one in found]


def _machine(device: Device, project: Project) -> Iterator[_Found]:
    try:
        target = resolve(device, project.root)
    except TargetError as error:
        yield _Found("target", False, str(error))
        return
    yield from _identity(device, target)
    yield _target(device, target)
    yield from _link(device, lambda: link_now(target))
    workloads = yield from _applying(
        device,
        project,
        lambda needs: refusals(target, needs, device=device, consent=str(target.path)),
    )
    yield from _engines(workloads)


def _elsewhere(device: Device, project: Project) -> Iterator[_Found]:
    """Yield the same of a machine at a host, or of all its clients, as far as they can be asked from here."""
    from iogate.remote.bench import RemoteBench
    from iogate.remote.clients import ClientsBench

    settings = Settings(project.root, host=device.host, destroy=device.target)
    kind: type[RemoteBench | ClientsBench] = ClientsBench if device.hosts else RemoteBench
    try:
        bench = kind(settings, device, Path(os.devnull), Silent())
    except IogateError as error:
        yield _Found("host", False, str(error))
        return
    with contextlib.closing(bench):
        for host in device.hosts or (device.host,):
            yield _Found("host", True, host)
        yield _identity_there(bench, device)
        target = bench.target
        usual = replace(_usual(target), clients=max(1, len(device.hosts)))
        told = [f"{target.path}: {target_told(target)}", *map(str, bench.refusals(usual))]
        yield _Found("target", len(told) == 1, "\n".join(told))
        yield from _link(device, lambda: bench.survey(device.target).link)
        workloads = yield from _applying(device, project, bench.refusals)
        for name in dict.fromkeys(workload.engine for workload in workloads):
            try:
                bench.check([workload for workload in workloads if workload.engine == name])
                yield _Found("engine", True, name)
            except IogateError as error:
                yield _Found("engine", False, f"{name}: {error}")


def _identity_there(bench: Bench, device: Device) -> _Found:
    try:
        return _Found("identity", True, _known(device, bench.observe().identity))
    except IogateError as error:
        return _Found("identity", False, str(error))


def _known(device: Device, observed: Mapping[str, str]) -> str:
    """Return what a machine is, of what the profile names."""
    told = ", ".join(f"{name} {observed[name]!r}" for name in device.identity if name in observed)
    return told or "the profile names none: any machine fits"


def _identity(device: Device, target: Target) -> Iterator[_Found]:
    observed = observe(target.number, target.path).identity
    mismatch = identity_mismatch(device.identity, observed)
    yield _Found("identity", not mismatch, "\n".join(mismatch) or _known(device, observed))


def _target(device: Device, target: Target) -> _Found:
    refused = _refused(device, target)
    told = f"{target.path}: {target_told(target)}"
    return _Found("target", not refused, "\n".join([told, *map(str, refused)]))


def _refused(device: Device, target: Target) -> Sequence[TargetError]:
    """Return why the target would be refused, whatever the size; a block device to those who read."""
    return refusals(target, _usual(target), device=device, consent=str(target.path))


def _usual(target: Target) -> Needs:
    return replace(USUAL, size=0, direct=False, writes=target.kind == "directory")


def _link(device: Device, found: Callable[[], Link | None]) -> Iterator[_Found]:
    if device.link is None:
        return
    link = found()
    said = format_quantity(device.link, "B/s")
    if link is None:
        yield _Found("link", True, f"{said}; what it is now is not known here")
        return
    now = f"{said}; now it is {link.name}, {format_quantity(link.limit, 'B/s')}"
    better = f" (it could be {link.best})" if link.best else ""
    yield _Found("link", link.limit >= device.link * (1 - _OFF), now + better)


def _suites(device: Device, project: Project) -> Iterator[tuple[str, tuple[Workload, ...] | IogateError]]:
    """Yield the suites that apply, each with its workloads or why it cannot be read, and those whose options
    are overridden and which are not there.
    """
    files = {
        path.relative_to(project.root / folder).with_suffix("").as_posix(): path
        for folder in project.folders
        for path in sorted((project.root / folder).rglob("*"))
        if path.suffix in SUFFIXES
    }
    for name in device.suites or files:
        path = files.get(name) or project.suite(name)
        if path is None and project.module(name):
            continue
        if path is None:
            yield name, IogateError(f"there is no such suite in {project.root}{nearest(name, files)}")
            continue
        try:
            with (
                held_input(path, str(path)) as file,
                hide_what_lies_elsewhere(project.root, path, file, str(path)),
            ):
                suite = load_suite(path, suite=name, file=file, overrides=overrides_of(device, name))
            yield name, suite.workloads
        except IogateError as error:
            yield name, error
    for name in sorted(device.overrides.keys() - {"*", *device.suites}):
        if not project.has(name):
            hint = nearest(name, files)
            yield name, IogateError(f"its options are overridden, and there is no such suite{hint}")


def _applying(
    device: Device, project: Project, refused_by: RefusedBy
) -> Generator[_Found, None, list[Workload]]:
    """Yield whether the target takes the suites that apply; return their workloads."""
    workloads: list[Workload] = []
    for suite, found in _suites(device, project):
        if isinstance(found, IogateError):
            yield _Found("suite", False, f"{suite}: {found}")
        else:
            workloads += found
            yield _suite(suite, found, refused_by)
    return workloads


def _suite(name: str, workloads: Sequence[Workload], refused_by: RefusedBy) -> _Found:
    """Return whether the target takes the workloads of a suite."""
    refused: dict[str, int] = {}
    for workload in workloads:
        needs = engines.load(workload.engine).needs(workload)
        for error in refused_by(needs):
            refused[str(error)] = refused.get(str(error), 0) + 1
    told = [f"{name}: {plural(len(workloads), 'workload')}"]
    told += [f"{plural(count, 'workload')} would be refused: {error}" for error, count in refused.items()]
    return _Found("suite", not refused, "\n".join(told))


def _engines(workloads: Sequence[Workload]) -> Iterator[_Found]:
    """Yield whether the programs of the engines are there, and take what the suites ask of them."""
    for name in dict.fromkeys(workload.engine for workload in workloads):
        engine = engines.load(name)
        mine = [workload for workload in workloads if workload.engine == name]
        try:
            command = engine.command(mine[0], Place(Path("data"), Path("."), Path("results")))
            mistakes = [str(error) for error in engine.check(mine)]
            yield _Found("engine", not mistakes, "\n".join([f"{name}: {command.argv[0]}", *mistakes]))
        except IogateError as error:
            yield _Found("engine", False, f"{name}: {error}")
