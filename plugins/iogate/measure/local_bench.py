"""The bench that is this machine."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from iogate import engines
from iogate.audit import Evidence, audit, snapshot
from iogate.errors import EngineError, InputError, TargetError
from iogate.host import process
from iogate.host.environment import identity_mismatch, observe
from iogate.host.meter import Meter
from iogate.measure.bench import Watcher
from iogate.measure.settings import Settings
from iogate.model import Device, Environment, Needs, Output, Place, Repetition, Workload
from iogate.target import check_unchanged, open_target, refusals, resolve
from iogate.target.scratch import Scratch
from iogate.target.wear import Wear

_OUTPUT_LIMIT = 256 * 2**20


class LocalBench:
    """This machine as a bench. The target is opened when first needed; at `close` it is as it was.

    `folder` keeps the raw files of repetitions. Raises TargetError if the target cannot be found.
    """

    def __init__(self, settings: Settings, device: Device, folder: Path, watcher: Watcher) -> None:
        self.name = device.name
        self.target = resolve(device, settings.root, settings.target)
        self._device = device
        self._consent = settings.destroy
        self._folder = folder
        self._watcher = watcher
        self._wear = Wear(device, settings.root)
        self._laid_out = 0
        self._scratch: Scratch | None = None
        self._stack = contextlib.ExitStack()

    def observe(self) -> Environment:
        environment = observe(self.target.number, self.target.path)
        mismatch = identity_mismatch(self._device.identity, environment.identity)
        if mismatch:
            raise InputError(
                f"this machine is not the device {self.name}: {'; '.join(mismatch)}",
                position=self._device.position,
                remedy="name the right --device, or mend the identity in its profile",
            )
        return environment

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        return refusals(self.target, needs, device=self._device, consent=self._consent)

    def open(self) -> None:
        self._take()

    def close(self) -> None:
        self._scratch = None
        self._stack.close()

    def repeat(self, id: str, workload: Workload, label: int | str, gating: Sequence[str]) -> Repetition:
        engine = engines.load(workload.engine)
        needs = engine.needs(workload)
        folder = self._folder / folder_name(id) / str(label)
        self._wear.check(needs.written)
        place = self._place(needs, folder)
        if isinstance(engine, engines.PreparesProgram):
            engine.prepare()
        command = engine.command(workload, place)
        _put(folder, command.files)
        meter = Meter(self.target.number if needs.target else None)
        before = snapshot(self.target.number, place.data)
        completed = process.run(
            command.argv,
            folder=folder,
            timeout=command.timeout,
            tick=lambda elapsed: self._watcher.tick(elapsed, meter.tick()),
        )
        if needs.target:
            check_unchanged(self.target)
        after = snapshot(self.target.number, place.data)
        text = _read(folder / command.output) if command.output else completed.stdout
        output = engine.parse(text, name=str(folder / (command.output or "stdout")), completed=completed)
        self._count_written(output)
        evidence = Evidence.of(
            workload,
            output,
            needs,
            gating=gating,
            seconds=completed.seconds,
            before=before,
            after=after,
            link=self._device.link,
        )
        findings = audit(evidence, workload.waive)
        return Repetition(output, completed.seconds, str(folder), findings, tuple(meter.series))

    def _take(self) -> Scratch:
        if self._scratch is None:
            self._scratch = self._stack.enter_context(
                open_target(self.target, device=self._device, consent=self._consent)
            )
        return self._scratch

    def _count_written(self, output: Output) -> None:
        laid_out = self._scratch.written if self._scratch else 0
        written = output.traffic["write"].bytes if "write" in output.traffic else 0
        self._wear.record(laid_out - self._laid_out + written)
        self._laid_out = laid_out

    def _place(self, needs: Needs, folder: Path) -> Place:
        if not needs.target:
            return Place(folder, None, folder)
        scratch = self._take()
        return Place(scratch.data(needs, tick=self._watcher.laying_out), scratch.folder, folder)


def folder_name(id: str) -> str:
    """Return a folder's name for a pytest id: readable, safe, and unlike that of any other id."""
    readable = re.sub(r"[^A-Za-z0-9=,.-]+", "_", id.rsplit("::", 1)[-1])[:80].strip("._")
    return f"{readable}-{sha256(id.encode()).hexdigest()[:8]}"


def _put(folder: Path, files: Mapping[str, str]) -> None:
    """Make a folder with these files in it. Raises EngineError if that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise EngineError(
            f"cannot keep raw files in {folder}: {error.strerror}",
            remedy="free space there, or name another folder: --io-results=DIR",
        ) from error


def _read(path: Path) -> str:
    """Return an engine's output file; empty if it wrote none. Raises EngineError if it is absurdly large."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_OUTPUT_LIMIT + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise EngineError(f"cannot read {path}: {error.strerror}") from error
    if len(data) > _OUTPUT_LIMIT:
        raise EngineError(f"{path} is larger than {_OUTPUT_LIMIT >> 20} MiB: not read")
    return data.decode("utf-8", errors="replace")
