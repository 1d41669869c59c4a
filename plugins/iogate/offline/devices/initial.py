"""`iogate device init`: a profile from what this machine is, for people to review."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from iogate import __version__
from iogate.audit.snapshot.link import Link
from iogate.declare.device import LOCAL, DeviceFile, check_name
from iogate.declare.project import find_project, require_within
from iogate.errors import InputError
from iogate.formats import yamlio
from iogate.formats.held import held_folder, make_within
from iogate.formats.schema import check_document
from iogate.host.environment import INDIVIDUAL
from iogate.model import Environment
from iogate.remote.survey import Survey, survey
from iogate.target.places import TargetPlace, target_told
from iogate.units import one_line, printable

KIND = ("machine", "board", "disk")
"""What tells a kind of machine from another."""


def init(name: str, target: str | None = None, baselines: Path | None = None, host: str | None = None) -> str:
    """Write the profile of a device that has none, and say where; of the machine at a host, if one is named.
    Raises IogateError: nothing is overwritten.
    """
    check_name(name)
    project = find_project(Path.cwd(), Path.cwd())
    folder = (baselines or project.baselines) / name
    file = folder / "device.yaml"
    if os.path.lexists(file):
        raise InputError(f"{file} is there already", remedy=f"look at it: iogate device check {name}")
    if baselines is None:
        require_within(folder.parent, project.root)
    named = (target if host else os.path.abspath(target)) if target else "."
    found = _survey_at(host, named) if host else survey(named, project.root)
    text = printable(profile_text(name, named, found, host))
    check_document(DeviceFile, yamlio.loads(text, str(file)))
    write_new(file, text)
    return one_line(f"{file} is written: review it, then iogate device check {name}")


class Silent:
    """A watcher that tells nobody."""

    def tick(self, elapsed: float, bandwidth: float | None) -> None:
        """Tell nobody."""

    def laying_out(self, done: int, total: int) -> None:
        """Tell nobody."""

    def notice(self, text: str) -> None:
        """Tell nobody."""


def write_new(file: Path, text: str) -> None:
    """Write a file that is not there. Raises InputError."""
    try:
        if file.parent.is_symlink():
            raise InputError(f"{file.parent} is a symbolic link", remedy="name a folder of its own")
        with held_folder(file.parent, make=True) as folder:
            make_within(folder, file.name, text)
    except OSError as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error


def _survey_at(host: str, named: str) -> Survey:
    from iogate.remote.calls import FarCalls

    with contextlib.closing(FarCalls(host, Path(os.devnull), Silent())) as calls:
        return calls.survey(named)


def profile_text(name: str, named: str, found: Survey, host: str | None = None) -> str:
    """Return a profile with comments: what it says, and what it could say instead. What a host says of
    itself in one line begins no other: it would be a key of the profile.
    """
    where = [f"host: {_quoted(host)}   # docs/remote.md", ""] if host else []
    head = profile_head(name, found.environment)
    parts = (head, where, _target(named, found, host), _link(found.link), _rest(name))
    return "\n".join("?".join(line.splitlines()) for part in parts for line in part)


def profile_head(name: str, environment: Environment) -> Iterator[str]:
    """Yield the lines of what the device is."""
    identity = environment.identity
    yield f"# The profile of {name}, begun by iogate {__version__} from what the machine is. Review it;"
    yield f"# docs/devices.md explains them, `iogate device check {name}` holds them against the machine."
    yield ""
    told = [identity.get("machine") or identity.get("cpu"), identity.get("disk")]
    yield f"description: {_quoted(', '.join(filter(None, told)) or 'a machine')}"
    yield ""
    kind = {key: identity[key] for key in KIND if key in identity} or {
        key: identity[key] for key in ("cpu",) if key in identity
    }
    one = {key: identity[key] for key in INDIVIDUAL if key in identity}
    if kind:
        yield "# What must be this machine, or there is no verdict: names with patterns (* ? [...])."
        yield "identity:"
        yield from _facts(kind, "  ")
    else:
        yield "# identity: nothing is known here that tells this machine from others"
    if one:
        yield "# With these it is this machine alone; a public repository is no place for them:"
        yield from _facts(one, "#  ")
    yield ""


def _facts(facts: Mapping[str, str], indent: str) -> Iterator[str]:
    yield from (f"{indent}{key}: {_quoted(value)}" for key, value in facts.items())


def _target(named: str, found: Survey, host: str | None) -> Iterator[str]:
    target = found.target
    what = "" if named != "." else "where the host begins, " if host else "the project's folder, "
    if target.kind == "directory":
        yield "# Where the I/O goes: iogate works in a folder of its own there, and removes it."
    yield f"target: {_quoted(named)}   # {what}{target_told(target)}"
    if found.itself:
        yield from _consent(found.itself)
    others = [place for place in found.directories if place.path != str(target.path)]
    disks = [place for place in found.devices if place.path != str(target.path)]
    yield from _comments("Directories that would be allowed:", [one for one in others if not one.why])
    yield from _comments("Directories that would be refused:", [one for one in others if one.why])
    free = [one for one in disks if not one.why]
    yield from _comments("Block devices that could be written to, with --io-destroy (docs/targets.md):", free)
    yield from _comments("Block devices that would be refused:", [one for one in disks if one.why])
    yield ""


def _consent(place: TargetPlace) -> Iterator[str]:
    """Yield what names a block device for good, so that it can be written to with --io-destroy as well."""
    if place.why:
        yield f"# It can be read only: to be written to, {' '.join(place.why.split())}"
    if place.target_id:
        yield "# All that is on it is lost if this is said, and --io-destroy on the command line:"
        yield f"# target_id: {json.dumps(dict(place.target_id), ensure_ascii=False)}"


def _comments(title: str, places: list[TargetPlace]) -> Iterator[str]:
    """Yield places as comments below a title; nothing if there are none."""
    if places:
        yield f"# {title}"
    for place in places:
        told = place.why or place.told
        yield f"#   target: {_quoted(place.path)}   # {' '.join(told.split())}"
        if place.target_id and not place.why:
            yield f"#   target_id: {json.dumps(dict(place.target_id), ensure_ascii=False)}"


def _link(link: Link | None) -> Iterator[str]:
    yield "# What connects the disk: no honest figure is faster, and what is faster is not believed."
    if link is None:
        yield '# link: {bandwidth: 7.88 GB/s, description: "PCIe 4.0 x4"}   # not known here'
    else:
        better = f"; it could be {link.best}" if link.best else ""
        facts = f"bandwidth: {link.limit / 1e9:.3g} GB/s, description: {_quoted(link.name)}"
        yield f"link: {{{facts}}}   # as it is now{better}"
    yield ""


def _rest(name: str) -> Iterator[str]:
    yield "# accepts: model   # its baselines hold for any machine of the model, and not for this one alone"
    yield "# suites: [quick, acceptance]   # which apply; all if left out"
    if name == LOCAL:
        yield "missing: record   # a workload without a baseline: fail, skip, record"
        yield "learn: true       # add sessions to a baseline that cannot resolve its tolerance yet"
    else:
        yield "missing: fail     # a workload without a baseline: fail, skip, record"
        yield "# learn: true     # add sessions to a baseline that cannot resolve its tolerance yet"
    yield "# wear: 1T/day     # the most that may be written"
    yield ""


def _quoted(text: str) -> str:
    """Return text as a YAML scalar, which any JSON string is."""
    return json.dumps(printable(text), ensure_ascii=False)
