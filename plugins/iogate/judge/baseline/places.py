"""Where a baseline lies, and which one beside it could be what is looked for under another name."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from iogate.errors import BaselineError
from iogate.host.environment import identity_changes
from iogate.judge.baseline.file import PROFILE, load_baselines
from iogate.model import Baseline, Workload, hash_of


def suite_of(path: Path) -> str:
    """Return of which suite a file is the baseline by its place: its path in its device's folder."""
    path = Path(os.path.abspath(path))
    known = [folder for folder in path.parents if os.path.isfile(folder / PROFILE)]
    known += [folder for folder in path.parents if folder.parent.name == "baselines"]
    return path.relative_to((known or [path.parent])[0]).with_suffix("").as_posix()


def baseline_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the baseline files of a device, each with its suite. Raises BaselineError."""
    try:
        found = sorted(folder.rglob("*.yaml"))
    except OSError as error:  # a folder in it is gone by now
        raise BaselineError(f"cannot read {folder}: {error.strerror}") from error
    for path in found:
        if path != folder / PROFILE and not path.name.startswith("."):
            yield path, path.relative_to(folder).with_suffix("").as_posix()


def baselines_beside(folder: Path, identity: Mapping[str, str]) -> Iterator[Baseline]:
    """Yield the baselines in the folders beside a device's: of other profiles of the same machine and disk,
    as far as those tell. What cannot be read is passed over.
    """
    for other in sorted(folder.parent.glob("*/")):
        if other.name == folder.name or other.name.startswith(".") or other.is_symlink():
            continue  # a link may lead anywhere
        with contextlib.suppress(BaselineError):
            for path, suite in baseline_files(other):
                with contextlib.suppress(BaselineError):
                    for baseline in load_baselines(path, suite).values():
                        known = baseline.environment.identity
                        if known and not identity_changes(known, identity):
                            yield baseline


Exists = Callable[[str, str], bool]
"""Whether a suite has a workload; an empty name asks for the suite itself."""

Known = Mapping[str, Sequence[tuple[Path, str, str]]]
"""The workloads of a device as the file of their baseline, suite and name, by the hash of the definition."""


def known_definitions(folder: Path) -> Known:
    """Return the definitions that a device has baselines of; what cannot be read is passed over."""
    found: dict[str, list[tuple[Path, str, str]]] = {}
    for path, suite in baseline_files(folder):
        try:
            for name, baseline in load_baselines(path, suite).items():
                found.setdefault(hash_of(baseline.definition), []).append((path, suite, name))
        except BaselineError:
            continue
    return found


def known_elsewhere(known: Known, own: Path, workload: Workload, exists: Exists) -> str:
    """Return where a device has a baseline of the very definition of a workload that has none, with the
    command that makes it the workload's own; empty if there is none.

    It is under another name, which no longer `exists`, in its own suite's file, which is `own`, or under its
    own name in that of a suite that no longer exists.
    """
    places = known.get(workload.definition_hash, ())
    for path, _, name in places:
        if path == own and name != workload.name and not exists(workload.suite, name):
            command = ("--workload", name, workload.name)
            return _told(path, f"{name!r}, of this very definition: if that is its old name", *command)
    for path, suite, name in places:
        if name == workload.name and not own.exists() and not exists(suite, ""):
            return _told(path, f"{name!r}, of this very definition: if the suite was moved", near_path(own))
    return ""


def rename_command(path: Path, *more: str) -> str:
    """Return the command that mends what a baseline is called."""
    return shlex.join(("iogate", "baseline", "rename", near_path(path), *more))


def _told(path: Path, what: str, *more: str) -> str:
    return f"{near_path(path)} has {what}: {rename_command(path, *more)}"


def near_path(path: Path) -> str:
    """Return a path as short as it can be from where the user is."""
    path = Path(os.path.abspath(path))
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
