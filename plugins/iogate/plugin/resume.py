"""`--io-resume`: a run goes on with a session that was cut off; what was decided stays decided."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iogate.declare.project import BASELINES
from iogate.errors import InputError, TargetError
from iogate.host.exposure import danger
from iogate.measure.local_bench import folder_name
from iogate.plugin.baselines import baseline_of
from iogate.report.json_file import NAME
from iogate.report.origin import hindrance
from iogate.report.recording import gate_record
from iogate.report.resuming import (
    Selection,
    decided,
    held_against_other,
    last_session,
    obstacles,
    require_same,
    restored,
    session_in,
    why_none,
)
from iogate.report.session_folders import SessionFolder
from iogate.target.images import Image, Stamp, is_image
from iogate.units import printable

if TYPE_CHECKING:
    from iogate.measure.session import Session
    from iogate.measure.settings import Settings
    from iogate.measure.trial import Trial
    from iogate.model import Device, WorkloadResult
    from iogate.report.results import Results, WorkloadRecord
    from iogate.target.resolve import Target


def session_to_resume(
    settings: Settings, asked: Selection, commit: str | None, images: Mapping[str, str]
) -> tuple[Resumption | None, str]:
    """Return the last session of what is asked if it was cut off, and is of the commit that the project is
    at, and of these `images`; else None, and why there is none.

    What it says counts from when its folder is locked: until then the run that began it may be alive.
    """
    results = Path(os.path.realpath(settings.results))
    found = last_session(results, asked)
    if found is None:
        why = why_none(results, asked)
        why = f" ({why})" if why else ""
        return None, f"--io-resume: no session of these workloads is kept{why}: all are measured"
    if why := danger(str(results)):
        why = f"--io-resume: session {found.session} lies where others could replace it: {printable(why)}"
        return None, f"{why}: all are measured anew"
    path = results / found.session
    folder = SessionFolder(path)
    known = session_in(path, asked)
    if known is None:
        why = "is gone"
    else:
        why = hindrance(known, path / NAME, commit) if folder.mine else "is still going on, in another run"
        if not why and known.run and known.run.images != images:
            why = "is of other images of these names"
        if not why:
            return Resumption(known, path, folder), ""
    folder.close()
    return None, f"--io-resume: session {found.session} {why}: all are measured anew"


def images_of(settings: Settings) -> dict[str, str]:
    """Return what the images of a pair are now, by option: a pipeline calls each new one alike. Of images
    elsewhere nothing is known.
    """
    found = {}
    for name, text in (("--io-against", settings.against), ("--io-target", settings.target)):
        if text and is_image(text):
            with contextlib.suppress(OSError):  # it is gone by now, which opening it will tell
                found[name] = str(Stamp.of(Image.parse(text).path))
    return found


def deciding_options(settings: Settings, device: Device, target: Target, missing: str) -> dict[str, str]:
    """Return the options that change what is measured or decided, beside suites and the gate's, and what the
    profile names by now, and what is under it: a checkout may be elsewhere.
    """
    usual = settings.baselines == settings.root / BASELINES  # a later job may have it elsewhere
    given = {
        "--io-host": settings.host,
        "--io-target": settings.target and os.path.normpath(settings.target),
        "--io-against": settings.against and os.path.normpath(settings.against),
        "--io-slice": settings.slice,
        "--io-max-blocks": settings.gate_options.max_blocks,
        "--io-baselines": None if usual else settings.baselines,
        "--io-budget": settings.budget,
        "--io-missing": missing,
        "the profile's target": None if settings.target else os.path.normpath(device.target),
        "the device under the target": target.number,
        "the profile's host": None if settings.host else device.host or None,
        "the profile's hosts": " ".join(device.hosts) or None,
        "--update-baselines": settings.update,
    }
    return {name: str(value) for name, value in given.items() if value is not None}


class Resumption:
    """A session that was cut off, and its folder, which is locked."""

    def __init__(self, known: Results, path: Path, folder: SessionFolder) -> None:
        self.known = known
        self.session = known.session
        self.folder = folder
        self._path = path
        self._taken = decided(known)
        self._over: set[str] = set()
        self.going = False
        """Whether it is gone on with, and nothing refused."""

    @property
    def decided(self) -> Mapping[str, WorkloadRecord]:
        """What is decided, by id."""
        return self._taken

    @property
    def spent(self) -> float:
        """Seconds of device time that went into what is decided."""
        return sum(item.device_seconds for item in self._taken.values())

    def check(
        self, trials: Iterable[Trial], session: Session, settings: Settings, options: Mapping[str, str]
    ) -> None:
        """Raise InputError if it was of another machine, of other options or of other declarations."""
        workloads = {trial.id: trial.workload for trial in trials}
        gate = gate_record(settings.gate_options)
        require_same(self.known, obstacles(self.known, workloads, session.environment, gate, options))

    def drop_outdated(self, trials: Iterable[Trial]) -> str:
        """Leave what was held against another baseline than it has now to be measured anew. Return what that
        is, for people. What the target refuses by now stays decided as it was.
        """
        outdated = []
        for trial in trials:
            if trial.result and isinstance(trial.result.failure, TargetError):
                continue
            baseline = None if trial.result else baseline_of(trial.judge)
            record = self._taken.get(trial.id)
            if record and held_against_other(record, baseline):
                del self._taken[trial.id]
                outdated.append(printable(trial.workload.name))
        who = ", ".join(outdated)
        return f"measured anew, as the baseline is another one by now: {who}" if who else ""

    def take_over(self, trials: Sequence[Trial]) -> Iterator[tuple[WorkloadResult, WorkloadRecord]]:
        """Yield what is decided, and decide the trials so."""
        for trial in trials:
            record = self._taken.get(trial.id)
            if record:
                self._over.add(trial.id)
                version = self.known.versions.get(record.engine, "")
                trial.result = restored(record, trial.workload, version)
                yield trial.result, record

    @property
    def engine_versions(self) -> dict[str, str]:
        """The versions of the engines of what waits."""
        names = {record.engine for record in self.waiting}
        return {name: version for name, version in self.known.versions.items() if name in names}

    @property
    def waiting_hashes(self) -> dict[str, str]:
        """How what waits was declared, by id."""
        assert self.known.run
        return {record.id: self.known.run.selection[record.id] for record in self.waiting}

    @property
    def waiting(self) -> list[WorkloadRecord]:
        """What tests in Python have decided, and not asked for yet: suites have all of theirs by then."""
        return [record for id, record in self._taken.items() if self.going and id not in self._over]

    def text(self, trials: Sequence[Trial], outdated: str) -> str:
        """Return what is gone on with, for people: what suites have is taken over by now."""
        told = [f"{len(self._over)} of {len(trials)} workloads"] if trials else []
        if self.known.run and self.known.run.tests:
            told.append(f"{len(self.waiting)} of tests in Python")
        lines = [f"going on with session {self.session}: {' and '.join(told)} are decided", outdated]
        if len(told) == 1 and len(self._over) == len(trials) > 0:
            lines.append("nothing is left to measure: the verdicts are those of then")
        return "\n".join(filter(None, lines))

    def clear(self, trials: Iterable[Trial]) -> None:
        """Take the target, so that nobody else is at it, and remove raw files of undecided workloads: none of
        them may pass for a new one. Raises IogateError.
        """
        for trial in trials:
            if trial.id in self._taken:
                continue
            if trial.needs.target and trial.result is None:
                trial.arm.bench.open()
            try:
                shutil.rmtree(self._path / folder_name(trial.id))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise InputError(f"cannot remove {error.filename}: {error.strerror}") from error
