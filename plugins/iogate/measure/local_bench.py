"""The bench that is this machine."""

from __future__ import annotations

import contextlib
import errno
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from iogate import engines
from iogate.audit import Evidence, audit
from iogate.audit.snapshot import Snapshot, written_between
from iogate.errors import EngineError, InputError, TargetError
from iogate.formats.reading import read_at_once
from iogate.host import process
from iogate.host.alternation import Call, TooFewSlices, Turns, alternate
from iogate.host.blockdevice import BlockDevice
from iogate.host.environment import identity_mismatch, observe
from iogate.host.meter import Meter
from iogate.host.own_folder import engine_folder, own_file
from iogate.host.process import Completed
from iogate.measure.bench import Pair, Places, Watcher
from iogate.measure.invocation import Invocation
from iogate.measure.pairing import LONG, arm_of, block_of, figures_of_slices
from iogate.measure.settings import Settings
from iogate.measure.sites import Site, sites_of
from iogate.measure.wear_account import WearAccount
from iogate.model import (
    ARMS,
    Audited,
    Command,
    Device,
    Environment,
    Needs,
    Output,
    Place,
    Reads,
    Region,
    Repetition,
    Workload,
)
from iogate.target import Fellows, ReadAhead, Target, disks_under, drop, flush
from iogate.target.layout import refusal

_OUTPUT_LIMIT = 256 * 2**20
_ATTEMPTS = 3  # at a block on a machine that is busy


class LocalBench:
    """This machine as a bench. Targets are opened when first needed; at `close` they are as they were.

    `folder` keeps the raw files of repetitions. Raises TargetError if a target cannot be found.
    """

    hosts: tuple[str, ...] = ()
    _more_room = "free space there, or name another folder: --io-results=DIR"
    _another_folder = "make it writable, or name another folder: --io-results=DIR"

    def __init__(
        self,
        settings: Settings,
        device: Device,
        folder: Path,
        watcher: Watcher,
        handicap: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        self.name = device.name
        self._sites = sites_of(settings, device, watcher)
        self._device = device
        self._folder = folder
        self._watcher = watcher
        self.slice = settings.slice
        self._handicap = handicap
        self._wear = WearAccount(device, self._sites, settings.session)
        self._held = contextlib.ExitStack()
        """The folders of the last repetition."""
        self._read_ahead = ReadAhead()

    @property
    def target(self) -> Target:
        return self._sites.candidate.target

    @property
    def places(self) -> Places:
        return self._sites.places

    @property
    def base(self) -> str:
        return self._sites.base

    @property
    def candidate(self) -> str:
        return self._sites.named

    def observe(self) -> Environment:
        environment = observe(self.target.number, self.target.path, in_place=self.target.in_place)
        mismatch = identity_mismatch(self._device.identity, environment.identity)
        if mismatch:
            raise InputError(
                f"this machine is not the device {self.name}: {'; '.join(mismatch)}",
                position=self._device.position,
                remedy="name the right --device, or mend the identity in its profile",
            )
        return environment

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        return self._sites.refusals(needs)

    def command(self, workload: Workload, place: Place) -> Command:
        return engines.load(workload.engine).command(workload, place)

    def open(self) -> None:
        with self._wear.moved(False):
            self._sites.open()

    def close(self) -> None:
        self._held.close()
        try:
            self._sites.close()
        except OSError as error:  # the device, or the file system, is gone
            raise refusal(error, f"cannot clean up {self.target.path}") from error

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        return self._run(self.prepare(id, workload, label, gating, arm))

    # ------------------------------------------------------------ as one of several clients

    def join(self, fellows: Fellows) -> str:
        """Take the target beside others of this run, and return the name of the scratch folder there; empty
        on a block device. Raises TargetError.
        """
        self._sites.candidate.fellows = fellows
        self.open()
        folder = self._sites.candidate.take().folder
        return Path(self._sites.candidate.readable(str(folder))).parent.name if folder else ""

    @property
    def disks(self) -> list[str]:
        """The disks under the target."""
        return disks_under(self.target)

    def prepare(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Invocation:
        """Make a repetition ready to begin: its data are laid out. Raises EngineError or TargetError."""
        process.require_ended()
        self._held.close()
        folder = self._folder / folder_name(id) / str(label)
        return self._prepare(workload, folder, gating, *self._sites.arm(arm, swapped=False))

    def look_back(
        self,
        run: Invocation,
        output: Output,
        seconds: float,
        between: tuple[Snapshot, Snapshot],
        **beside: Any,
    ) -> Audited:
        """Count what a repetition wrote that somebody else drove, and return what the audit finds; `beside`
        is what the evidence has of the other clients on this machine. Raises TargetError.
        """
        self._read_ahead.note(run.buffered)
        if run.needs.target:
            run.site.check()
        counted = written_between(*(reading.disk for reading in between)) if run.needs.writes else None
        others = beside["beside"]["write"].bytes if "write" in beside.get("beside", {}) else 0
        self._wear.driven(output, (counted or 0) - others)
        return self._audit(run, output, seconds, *between, **beside)

    def watch(self, run: Invocation, before: Snapshot) -> None:
        """Raise TargetError (`wear`) if a repetition that somebody else drives may not go on writing."""
        self._wear.watch([run], [before])

    def give_up(self, run: Invocation, before: Snapshot | None) -> None:
        """Count what a repetition that somebody else drove has written since a reading (None: it was not
        begun), where nobody says how much. Raises TargetError.
        """
        if before:
            self._wear.given_up(run, before)

    # ------------------------------------------------------------ one engine invocation

    def _parse(self, engine: str, text: str, name: str, completed: Completed) -> Output:
        """Return what an engine says in a text of that name. Raises OutputError."""
        return engines.load(engine).parse(text, name=name, completed=completed)

    def _prepare(
        self, workload: Workload, folder: Path, gating: Sequence[str], site: Site, copy: int = 0
    ) -> Invocation:
        """Lay out the data and write the job file. Raises EngineError or TargetError."""
        engine = engines.load(workload.engine)
        needs = engine.needs(workload)
        with self._wear.laid_out(needs, site, copy):
            place = site.place(needs, folder, self._watcher.laying_out, copy)
        if isinstance(engine, engines.PreparesProgram):
            engine.prepare()
        command = engine.command(workload, place)
        held = self._keep(folder, command.files)
        if needs.target:
            self._read_ahead.forget(site.target.number)
            flush(site.target.path)
            drop(() if needs.cached else (place.data, *place.more))
        jobs = _jobs(engine, workload, needs)
        if needs.writes and jobs:
            site.look_ahead(jobs)
        return Invocation(workload, needs, site, place, command, gating, held, jobs)

    def _keep(self, folder: Path, files: Mapping[str, str]) -> Path:
        """Make a folder with these files in it, and return what leads to it. Raises EngineError."""
        try:
            held = self._held.enter_context(engine_folder(folder, self._folder.parent))
            for name, text in files.items():
                with open(held / name, "wb", opener=own_file) as stream:
                    stream.write(text.encode(errors="surrogateescape"))
            return held
        except OSError as error:
            message = f"cannot keep raw files in {folder}: {error.strerror or error}"
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise EngineError(message, remedy=self._more_room if full else self._another_folder) from error

    def _run(self, run: Invocation, other: Site | None = None) -> Repetition:
        """Return a repetition; the `other` site is that of the other arm of a pair."""
        self._read_ahead.note(run.buffered)
        before = run.look()
        meter = Meter(run.site.target.number if run.needs.target else None)
        with self._wear.written([run], [before]) as outputs:
            completed = process.run(
                run.command.argv,
                folder=run.held,
                timeout=run.command.timeout,
                tick=self._ticking([run], [before], meter),
                goes_on=lambda elapsed: meter.goes_on(elapsed, run.command.longest),
            )
            output = self._read(run, completed)
            outputs.append(output)
        series = tuple(meter.series)
        after = run.look()
        beside = other.blank(run.parts(output)) if other and other.target.kind == "device" else None
        found = self._audit(run, output, completed.seconds, before, after, series=series, blank_beside=beside)
        output = replace(output, metrics={**output.metrics, **found.metrics})
        repetition = Repetition(output, completed.seconds, str(run.folder), found.findings, series)
        return replace(repetition, **run.call)

    def _ticking(
        self, runs: Sequence[Invocation], before: Sequence[Snapshot], meter: Meter
    ) -> Callable[[float], None]:
        """Return what is called as engines go on, and raises TargetError (`wear`) where they may not."""

        def tick(elapsed: float) -> None:
            self._wear.watch(runs, before)
            self._watcher.tick(elapsed, meter.tick())

        return tick

    def _read(self, run: Invocation, completed: Completed) -> Output:
        """Return what an engine says. Raises TargetError or OutputError."""
        if run.needs.target:
            run.site.check()
        command, readable = run.command, run.site.readable if run.needs.target else str
        completed = replace(completed, stdout=readable(completed.stdout), stderr=readable(completed.stderr))
        name = str(run.folder / (command.output or "stdout"))
        text = readable(_read(run.held / command.output, name)) if command.output else completed.stdout
        return self._parse(run.workload.engine, text, name, completed)

    def _audit(
        self,
        run: Invocation,
        output: Output,
        seconds: float,
        before: Snapshot,
        after: Snapshot,
        **beside: Any,
    ) -> Audited:
        """Return what the audit finds; `beside` is what the evidence has of others at work there."""
        evidence = Evidence.of(
            run.workload,
            output,
            run.needs,
            gating=run.gating,
            seconds=seconds,
            before=before,
            after=after,
            link=self._device.link,
            blank=run.site.blank(run.parts(output)),
            **beside,
        )
        return Audited(audit(evidence, run.workload.waive), evidence.filled)

    # ------------------------------------------------------------ a block of a pair

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        process.require_ended()
        self._held.close()
        folder = self._folder / folder_name(id) / str(label)
        begun = time.monotonic()
        if pair.slices:
            block = self._by_slices(pair, folder, pair.slices)
        else:
            block = self._by_runs(pair, folder, gating)
        seconds = time.monotonic() - begun
        return replace(block, seconds=seconds, swapped=pair.swapped, seed=pair.seed)

    def _arms(self, pair: Pair, folder: Path) -> tuple[Invocation, Invocation]:
        first, second = (
            self._prepare(workload, folder / ARMS[arm], (), *self._place(pair, arm))
            for arm, workload in enumerate(pair.workloads)
        )
        return first, second

    def _place(self, pair: Pair, arm: int) -> tuple[Site, int]:
        """Return where an arm works in this block: where one writes to what it would fragment for the other,
        each has a file of its own.
        """
        if pair.places == "one":
            site, copy = self._sites.arm(1, swapped=False)
            needs = (engines.load(item.engine).needs(item) for item in pair.workloads)
            return site, copy if site.target.in_place or not any(one.writes for one in needs) else arm
        with self._wear.moved(pair.swapped):
            return self._sites.arm(arm, pair.swapped)

    def _by_slices(self, pair: Pair, folder: Path, slices: int) -> Repetition:
        """Return a block of slices, tried again where a busy machine left time for too few."""
        for _ in range(_ATTEMPTS - 1):
            with contextlib.suppress(TooFewSlices):
                return self._side_by_side(pair, folder, slices)
        return self._side_by_side(pair, folder, slices)

    def _side_by_side(self, pair: Pair, folder: Path, slices: int) -> Repetition:
        """Return a block of slices: both engines run side by side, one of them is always stopped."""
        turns = Turns(pair.slice, handicap=self._handicap)
        runs = self._arms(pair, folder)
        self._read_ahead.note(file for run in runs for file in run.buffered)
        before = [run.look() for run in runs]
        meter = Meter(runs[1].site.target.number)
        calls = tuple(_call(run, turns.lasting(slices)) for run in runs)
        with self._wear.written(runs, before) as outputs:
            done = alternate(
                (calls[0], calls[1]),
                turns,
                pair.seed,
                tick=self._ticking(runs, before, meter),
            )
            outputs.extend(self._read(run, each) for run, each in zip(runs, done.completed, strict=True))
        numbers = [run.site.target.number for run in runs]
        shared = numbers[0] == numbers[1] or bool(_disks(numbers[0]) & _disks(numbers[1]))
        arms = []
        for number, run in enumerate(runs):
            own = [item for item in done.slices if item.arm == ARMS[number]]
            found = self._audit(
                run,
                outputs[number],
                done.completed[number].seconds,
                before[number],
                run.look(),
                beside=outputs[1 - number].traffic if shared else {},
                blank_beside=runs[1 - number].site.blank(run.parts(outputs[number])),
                apart=numbers[0] != numbers[1],
                slices=own,
            )
            output = figures_of_slices(outputs[number], own, ARMS[number])
            seconds = sum(item.seconds for item in own)
            arms.append(Repetition(output, seconds, str(run.folder), found.findings, **run.call))
        return block_of(arms, done.slices)

    def _by_runs(self, pair: Pair, folder: Path, gating: Sequence[str]) -> Repetition:
        """Return a block of whole runs by turns: of short ones two each."""
        first = Random(pair.seed).randrange(2)
        order = (first, 1 - first)
        kept: tuple[list[Repetition], list[Repetition]] = ([], [])
        for round, turn in enumerate((order, order[::-1])):
            for arm in turn:
                place = self._place(pair, arm)
                within = folder / ARMS[arm] / str(round + 1)
                run = self._prepare(pair.workloads[arm], within, gating, *place)
                kept[arm].append(self._run(run, self._place(pair, 1 - arm)[0]))
            if sum(item.seconds for arm in kept for item in arm) > LONG:
                break
        return block_of([arm_of(arm, folder / ARMS[number]) for number, arm in enumerate(kept)], ())


def _jobs(engine: engines.Engine, workload: Workload, needs: Needs) -> Sequence[Reads]:
    """Return where the jobs of a workload read: all over its data, unless the engine tells."""
    if not (needs.target and needs.reads and needs.size):
        return ()
    if isinstance(engine, engines.TellsPlaces):
        return engine.reads(workload)
    return (Reads((Region(0, needs.size),)),)


def _disks(number: str | None) -> set[str]:
    """Return the disks under a device, by their `major:minor`."""
    return {disk.number for disk in BlockDevice(number).disks()} if number else set()


def _call(run: Invocation, lasting: float) -> Call:
    engine = engines.load(run.workload.engine)
    assert isinstance(engine, engines.Alternates)
    options = run.workload.options
    return Call(
        run.command.argv,
        run.held,
        engine.processes(options),
        lasting,
        run.command.timeout,
        engine.processors(options),
    )


def folder_name(id: str) -> str:
    """Return a folder's name for a pytest id: readable, safe, and unlike that of any other id."""
    readable = re.sub(r"[^A-Za-z0-9=,.-]+", "_", id.rsplit("::", 1)[-1])[:80].strip("._")
    digest = sha256(id.encode(errors="surrogateescape")).hexdigest()
    return f"{readable}-{digest[:8]}"


def _read(path: Path, name: str = "") -> str:
    """Return an engine's output file; empty if it wrote none. Raises EngineError if it is absurdly large."""
    try:
        data = read_at_once(path, _OUTPUT_LIMIT + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise EngineError(f"cannot read {name or path}: {error.strerror}") from error
    if len(data) > _OUTPUT_LIMIT:
        raise EngineError(f"{name or path} is larger than {_OUTPUT_LIMIT >> 20} MiB: not read")
    return data.decode("utf-8", errors="replace")
