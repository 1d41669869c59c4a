"""`iogate import FILE...`: engine outputs that exist already as the baseline of a device.

Each job of an output is held against the definitions of the suite's workloads, and audited as far as its own
figures allow; one that contradicts them, or itself, never becomes a baseline.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from iogate.declare.device import load_device
from iogate.declare.overrides import overrides_of
from iogate.declare.project import SUFFIXES, SUITES, find_project, require_within
from iogate.declare.suite import Suite, load_suite
from iogate.errors import InputError, InputErrors, IogateError
from iogate.formats.words import nearest
from iogate.judge.addition import admit, judge_session, known_changes, refusal
from iogate.judge.appointment import gating_metrics
from iogate.judge.baseline import changes_table, find, load_baselines, update
from iogate.judge.baseline.values import round_value
from iogate.judge.judge import GateOptions
from iogate.model import Baseline, Device, Environment, Repetition, UpdateMode, Workload, is_measured
from iogate.offline.folders import is_results
from iogate.offline.outputs import (
    OutputFile,
    OutputJob,
    contradictions,
    findings,
    parse_output,
    read_bytes,
    refuse_twice,
    runs_several,
    unstated_options,
)
from iogate.units import no_commands, printable, some_of

_NAMED = 5
_TELLING = 2  # figures that are the same in two measurements only if these are one

Assigned = list[tuple[OutputJob, Workload]]
"""Jobs, each with the workload that it is a repetition of."""


def import_outputs(
    files: Sequence[Path],
    *,
    device: str,
    suite: str,
    baselines: Path | None = None,
    workload: str = "",
    source: str = "",
    append: bool = False,
    force: bool = False,
) -> str:
    """Store the figures of engine outputs as the baseline of a suite's workloads, and say what that changes.

    `suite` is a file, or the name of one in `suites/`; `baselines` are those of its project, if not given. A
    job becomes a repetition of the only workload that its options fit, or of the one named `workload`. With
    a `source` the medians are stored as published figures, else the jobs are the repetitions of one session
    that is marked as imported, `append`ed to those there are or instead of them; one that regressed against
    those is refused, but for `force`. Raises IogateError, and then nothing is written.
    """
    path = _suite_file(suite)
    project = find_project(path, Path.cwd())
    if baselines is None:
        require_within(baselines := project.baselines, project.root)
    profile = load_device(device, baselines)
    declared = _suite(path, project.name(path) if project.holds(path) else path.stem, profile)
    read = _read(files)
    assigned = _assign([job for file in read for job in file.jobs], declared, workload, profile.link)
    file = baselines / device / f"{declared.name}.yaml"
    mode: UpdateMode = "force" if force else "append" if append else "replace"
    session = _session(read)
    judged = [] if source or mode == "replace" else _judge(assigned, declared, file, session, force=force)
    changes = update(
        file,
        device=device,
        suite=declared.name,
        session=session,
        environment=_environment(assigned),
        reason=f"imported from {_names(read)}",
        measured={
            one.name: (one.definition, _values([job for job, other in assigned if other is one]))
            for one in declared.workloads
            if any(other is one for _, other in assigned)
        },
        mode=mode,
        source=source,
        runtimes=_runtimes(assigned),
    )
    kind = "published figures" if source else "imported session"
    lines = [changes_table(changes), *judged, *_remarks(assigned, profile.link), f"{kind} written to {file}"]
    return no_commands("\n".join(lines))


def _runtimes(assigned: Assigned) -> dict[str, float]:
    """Return the seconds of a repetition where `runtime: auto` chooses them and all outputs state them."""
    unstated = {workload.name for job, workload in assigned if "runtime" not in job.options}
    return {
        workload.name: workload.chosen_runtime
        for _, workload in assigned
        if workload.chosen_runtime and workload.name not in unstated
    }


def _suite_file(suite: str) -> Path:
    path = Path(suite)
    return path if path.suffix in SUFFIXES else Path(SUITES) / f"{suite}.yaml"


def _suite(path: Path, name: str, device: Device) -> Suite:
    """Return the suite as it is on that device."""
    overrides = overrides_of(device, name)
    return load_suite(path, suite=name, overrides=overrides, allow_exec=True)  # nothing is run here


def _read(files: Sequence[Path]) -> list[OutputFile]:
    """Return the outputs; all that are refused are told at once."""
    found, refused = [], []
    for file in files:
        try:
            data = read_bytes(file)
            if is_results(data):
                raise InputError(
                    f"{file} is a results file of iogate, no output of an engine",
                    remedy="make baselines with --update-baselines; figures of pairs, taken by turns, "
                    "never are one",
                )
            found.append(parse_output(data, str(file)))
        except IogateError as error:
            refused.append(InputError(str(error)))
    if refused:
        raise InputErrors(refused)
    refuse_twice((file.identity, file.name) for file in found)
    return found


def _assign(jobs: Sequence[OutputJob], suite: Suite, named: str, link: float | None) -> Assigned:
    """Return each job with its workload. Raises InputErrors for those that are no repetition of one."""
    candidates = [workload for workload in suite.workloads if named in ("", workload.name)]
    if not candidates:
        names = [workload.name for workload in suite.workloads]
        hint = nearest(named, names)
        remedy = f"there are {', '.join(names)}"
        raise InputError(f"{suite.name} has no workload {printable(named)!r}{hint}", remedy=remedy)
    assigned: Assigned = []
    refused: list[InputError] = []
    for job in jobs:
        try:
            workload = _fitting(job, candidates)
            _check(job, workload, link)
            assigned.append((job, workload))
        except InputError as error:
            refused.append(error)
    if refused:
        raise InputErrors(refused)
    return assigned


def _fitting(job: OutputJob, candidates: Sequence[Workload]) -> Workload:
    """Return the only workload that a job can be a repetition of. Raises InputError."""
    if job.beside:
        raise InputError(
            printable(f"{job.label} ran beside {', '.join(job.beside)}, so its figures are not its own"),
            remedy="import jobs that ran alone, one after another",
        )
    known = [workload for workload in candidates if workload.engine == job.engine]
    if not known:
        raise InputError(printable(f"{job.label} is of {job.engine}, which no workload here uses"))
    known, several = [one for one in known if not runs_several(one)], known
    if not known:
        names = ", ".join(workload.name for workload in several)
        raise InputError(
            printable(
                f"{job.label} is one job, and what runs several sections of a job file at once: {names}"
            ),
            remedy="record that with --update-baselines",
        )
    against = [contradictions(job, workload) for workload in known]
    fitting = [workload for workload, found in zip(known, against, strict=True) if not found]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(workload.name for workload in fitting)
        raise InputError(
            printable(f"{job.label} fits several workloads: {names}"), remedy="say which: --workload NAME"
        )
    closest = min(against, key=len)
    remedy = "" if len(known) == 1 else "this is the workload that it is closest to"
    raise InputError(printable(f"{job.label}: {'; '.join(closest)}"), remedy=remedy)


def _check(job: OutputJob, workload: Workload, link: float | None) -> None:
    """Raise InputError for figures that must not become a baseline."""
    invalid = [finding for finding in findings(job, workload, link=link) if finding.severity == "invalid"]
    if invalid:
        told = "; ".join(f"{finding.check}: {finding.message}" for finding in invalid)
        raise InputError(printable(f"{job.label}: {told}"), remedy=invalid[0].remedy)
    gating = gating_metrics(workload)
    lacking = [name for name in gating if not is_measured(job.output.metrics.get(name))]
    if lacking:
        raise InputError(printable(f"{job.label} has no {lacking[0]}, which gates {workload.name}"))


def _judge(assigned: Assigned, suite: Suite, file: Path, session: str, *, force: bool) -> list[str]:
    """Return what the baseline says of the session that is to be added to it. Raises InputErrors for what
    regressed, or changed beyond doubt, but for `force`, and for what is in another session of it already.
    """
    known = load_baselines(file, suite.name)
    _refuse_known(assigned, known, session)
    found = [(workload, find(known, workload)[0], gating_metrics(workload)) for workload in suite.workloads]
    jobs = {one.name: [job for job, other in assigned if other is one] for one in suite.workloads}
    against = [item for item in found if item[1] and jobs[item[0].name]]
    gate_options = GateOptions(metrics=max(1, sum(len(gating) for _, _, gating in against)))
    lines, refused = [], []
    for workload, baseline, gating in against:
        assert baseline
        repetitions = [Repetition(job.output, 0.0, job.label) for job in jobs[workload.name]]
        judged = judge_session(workload, baseline, gating, gate_options, repetitions)
        verdict = admit(judged, len(baseline.sessions) + 1, force=force)
        text = printable(f"{workload.name}: {judged.verdict}: {judged.reason.splitlines()[0]}")
        lines.append(text)
        if not verdict.keep:
            why = refusal(judged)
            remedy = "" if judged.verdict == "invalid" else "--force appends it all the same"
            if not why:
                why = known_changes(judged)
                remedy = f"if that stays so, begin anew: without --append; {remedy}"
            refused.append(InputError(f"{text}; not appended: {why}", remedy=remedy))
    if refused:
        raise InputErrors(refused)
    return lines


def _refuse_known(assigned: Assigned, known: Mapping[str, Baseline], session: str) -> None:
    """Raise InputErrors for measurements that another session of their baseline holds: sessions that share
    repetitions differ by less than they would, and the gate would take that for what the device is like.
    """
    refused = []
    for job, workload in assigned:
        baseline, _ = find(known, workload)
        other = _session_with(job, baseline, session) if baseline else ""
        if other:
            refused.append(
                InputError(
                    printable(f"{job.label} is in {other} of the baseline of {workload.name} already"),
                    remedy="give each measurement once: what counts twice looks more certain than it is",
                )
            )
    if refused:
        raise InputErrors(refused)


def _session_with(job: OutputJob, baseline: Baseline, but: str) -> str:
    """Return the session, other than `but`, that has a repetition with all figures of a job; empty if none
    has. One figure alone may be the same by chance.
    """
    figures = {name: round_value(value) for name, value in job.output.metrics.items() if is_measured(value)}
    rows = {name: baseline.by_session(name) for name in figures}
    for session in baseline.sessions:
        shared = {name: rows[name][session] for name in figures if rows[name].get(session)}
        if session == but or len(shared) < _TELLING:
            continue
        for index in range(min(map(len, shared.values()))):
            if all(figures[name] == row[index] for name, row in shared.items()):
                return session
    return ""


def _values(jobs: Sequence[OutputJob]) -> dict[str, list[float]]:
    names = dict.fromkeys(name for job in jobs for name in job.output.metrics)
    return {name: [job.output.metrics[name] for job in jobs if name in job.output.metrics] for name in names}


def _session(files: Sequence[OutputFile]) -> str:
    """Return a name that says what the session is, and that the same files give again."""
    together = hashlib.sha256("".join(sorted(file.digest for file in files)).encode())
    return f"imported-{together.hexdigest()[:12]}"


def _environment(assigned: Assigned) -> Environment:
    """Return what the outputs say of where they ran: the versions of the engines."""
    versions: dict[str, set[str]] = {}
    for job, _ in assigned:
        versions.setdefault(job.engine, set()).add(job.output.engine_version)
    return Environment(subject={name: found.pop() for name, found in versions.items() if len(found) == 1})


def _names(files: Sequence[OutputFile]) -> str:
    return some_of([Path(file.name).name for file in files], _NAMED)


def _remarks(assigned: Assigned, link: float | None) -> Iterator[str]:
    """Yield what was taken for what, on what evidence."""
    for job, workload in assigned:
        yield f"{job.label} -> {workload.name}"
        silent = unstated_options(job, workload)
        if silent:
            yield f"    the output does not say {', '.join(silent)}: taken as in the suite"
        for finding in findings(job, workload, link=link):
            if finding.severity == "suspect":
                yield f"    suspect: {finding.check}: {finding.message}"
