"""Files and folders as sessions: results files of iogate, and outputs of engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from iogate import engines
from iogate.errors import InputError, Position
from iogate.model import Repetition, Workload
from iogate.offline.compare.sessions import StoredMeasurement, StoredSession, join
from iogate.offline.compare.stored import read_stored
from iogate.offline.folders import files_of, is_results
from iogate.offline.outputs import OutputFile, OutputJob, findings, parse_output, read_bytes, refuse_twice


def load_old(paths: Sequence[Path]) -> list[StoredSession]:
    """Return the sessions in these files and folders. Raises IogateError if one cannot be read."""
    return [session for path in paths for session in load(path)]


def load_candidate(path: Path) -> StoredSession:
    """Return the session in this file or folder. Several results files are taken together: then the
    differences between their sessions count as noise of the repetitions, which makes no verdict more certain.
    """
    sessions = load(path)
    found = sessions[-1]
    if len(sessions) == 1:
        return found
    measured: dict[tuple[str, str], list[StoredMeasurement]] = {}
    for session in sessions:
        for key, item in session.measured.items():
            measured.setdefault(key, []).append(item)
    files = tuple(file for session in sessions for file in session.files)
    begun: dict[str, bool] = {}
    for session in sessions:  # the retry of a job comes to what the job broke off before
        begun.update({id: came or begun.get(id, False) for id, came in session.begun.items()})
    return replace(
        found,
        files=files,
        measured={key: join(items) for key, items in measured.items()},
        parts=tuple(session.id for session in sessions),
        begun=begun,
    )


def load(path: Path) -> list[StoredSession]:
    """Return the sessions of a path: each results file is one, an engine's output is one, and the outputs in
    a folder are the repetitions of one.
    """
    files = files_of(path)
    contents = [(file, read_bytes(file)) for file in files]
    stored = [file for file, data in contents if is_results(data)]
    if stored and len(stored) < len(files):
        other = next(file for file in files if file not in stored)
        raise InputError(f"{path} mixes results of iogate ({stored[0].name}) and other files ({other.name})")
    if stored:
        return [read_stored(data, str(file)) for file, data in contents]
    return [_session(path, [parse_output(data, str(file)) for file, data in contents])]


def _session(path: Path, files: Sequence[OutputFile]) -> StoredSession:
    """Return the outputs of engines as one session."""
    refuse_twice([(file.identity, file.name) for file in files])
    jobs: dict[tuple[str, str], list[StoredMeasurement]] = {}
    for file in files:
        for job in file.jobs:
            item = _measurement(job)
            jobs.setdefault(item.key, []).append(item)
    return StoredSession(
        id=files[0].digest if len(files) == 1 else "+".join(sorted(file.digest for file in files)),
        files=tuple(file.name for file in files),
        measured={key: join(items) for key, items in jobs.items()},
        outputs=True,
        parts=tuple(file.identity for file in files),
    )


def _measurement(job: OutputJob) -> StoredMeasurement:
    """Return a job as one repetition of a workload of its name."""
    together = {"beside": ", ".join(job.beside)} if job.beside else {}
    workload = Workload(job.name, "", job.engine, {**job.options, **together}, Position(job.file))
    found = findings(job)
    invalid = next((finding.message for finding in found if finding.severity == "invalid"), "")
    seconds = max((traffic.seconds for traffic in job.output.traffic.values()), default=0.0)
    return StoredMeasurement(
        workload=workload,
        repetitions=(Repetition(job.output, seconds, job.file),),
        gating=_gating(job),
        refused=f"{job.file}: {invalid}" if invalid else "",
        whole=job.whole,
        seconds=seconds,
        findings=tuple(finding for finding in found if finding.severity != "note"),
    )


def _gating(job: OutputJob) -> tuple[str, ...]:
    """Return the metrics that the engine gates by default, for what was done in this job."""
    engine = engines.load(job.engine)
    if isinstance(engine, engines.GatesOutputs):
        return engine.gating_of(job.output)
    try:
        return engine.gating(Workload(job.name, "", job.engine, job.options, Position(job.file)))
    except (KeyError, TypeError, ValueError):
        return ()  # the output says too little of its options
