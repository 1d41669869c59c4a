"""What a bench writes, counted against the limits of its device."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

from iogate.audit.snapshot import Snapshot, counters_of, given_since, written_between
from iogate.errors import IogateError
from iogate.measure.invocation import Invocation
from iogate.measure.sites import Site, Sites
from iogate.model import Device, Needs, Output
from iogate.target.flushing import unflushed
from iogate.target.wear import Wear


class WearAccount:
    """The bytes that engines write, and that are laid out for them, however each of it ends: the most that is
    known counts before the first is written, as a run that is killed says nothing more.

    Its methods raise TargetError (`wear`) if more must not be written, or if the count cannot be kept.
    """

    def __init__(self, device: Device, sites: Sites, session: str = "") -> None:
        self._wear = Wear(device, session=session)
        self._sites = sites
        self._laid_out = 0

    @contextlib.contextmanager
    def moved(self, swapped: bool) -> Iterator[None]:
        """Count what brings the arms to their places, unless it is refused."""
        planned = self._sites.moving(swapped)
        if planned:
            self._wear.check(0, planned)
        with self._reserved(planned, self._newly_laid_out):
            yield

    @contextlib.contextmanager
    def laid_out(self, needs: Needs, site: Site, copy: int) -> Iterator[None]:
        """Count what is laid out meanwhile for a repetition, unless that must not write what it would; one
        that writes nothing may always run.
        """
        missing = site.missing(needs, copy)
        if missing or needs.written != 0:
            self._wear.check(needs.written, missing + _held_back(needs))
        number = site.target.number
        before = counters_of(number) if missing and self._wear.limited else None
        with self._reserved(missing, lambda: max(self._newly_laid_out(), given_since(before, number) or 0)):
            yield

    @contextlib.contextmanager
    def written(self, runs: Sequence[Invocation], before: Sequence[Snapshot]) -> Iterator[list[Output]]:
        """Count what engines write at the same time, however they end, as Ctrl-C does; their outputs go into
        the list that is handed out.
        """
        outputs: list[Output] = []
        self.watch(runs, before)
        planned = sum(run.needs.written or 0 for run in runs)
        with self._reserved(planned, lambda: self._worn(runs, before, outputs)):
            yield outputs

    def watch(self, runs: Sequence[Invocation], before: Sequence[Snapshot]) -> None:
        """Raise TargetError (`wear`) if engines that write have reached a limit since these readings: by time
        alone, of which no more is known before, or more than they were planned to. Those by time are refused
        where they would not be ended there, as nobody counts.
        """
        if self._wear.limited and any(run.needs.written != 0 for run in runs):
            planned = sum(run.needs.written or 0 for run in runs)
            beyond = self._given_since(runs, before) - planned
            if any(run.needs.written is None for run in runs):
                held_back = sum(_held_back(run.needs) for run in runs)
                beyond += min(held_back, unflushed()) if held_back else 0
                self._wear.require_left(beyond, "that is reached, and what writes by time alone was ended")
            elif beyond > 0:
                said = "that is passed, and what wrote more than was planned was ended"
                self._wear.require_left(beyond - 1, said)  # all that is left may be written

    def _given_since(self, runs: Sequence[Invocation], before: Sequence[Snapshot]) -> int:
        """Return the bytes that the targets were given to write since these readings. Raises TargetError
        (`wear`) where nobody counts what is written by time alone.
        """
        given: dict[str | None, int] = {}
        for run, earlier in zip(runs, before, strict=True):
            target = run.site.target
            counted = given_since(earlier.disk, target.number)
            if counted is None and run.needs.written is None:
                raise self._wear.uncounted(target.path)
            given[target.number] = counted or 0
        return sum(given.values())

    def driven(self, output: Output, counted: int) -> None:
        """Count what a repetition wrote that somebody else drove, as its engine claims, or as the device was
        given in that time if that is more.
        """
        self._wear.record(max(_claimed(output), counted))

    def given_up(self, run: Invocation, before: Snapshot) -> None:
        """Count what a repetition has written since a reading where nobody says how much."""
        self._wear.record(self._worn([run], [before], []))

    @contextlib.contextmanager
    def _reserved(self, planned: int, written: Callable[[], int]) -> Iterator[None]:
        """Count `planned` bytes from now on, and afterwards those that were `written` in their place."""
        day = self._wear.record(planned)
        try:
            yield
        except BaseException:
            with contextlib.suppress(IogateError):  # the first error says more
                self._settle(written() - planned, day)
            raise
        self._settle(written() - planned, day)

    def _settle(self, more: int, day: str) -> None:
        """Count what was written beyond a reservation, or take back from its day what was not."""
        self._wear.record(more, day if more < 0 else "")

    def _newly_laid_out(self) -> int:
        """Return the bytes that were laid out since this was last asked."""
        before, self._laid_out = self._laid_out, self._sites.laid_out
        return self._laid_out - before

    def _worn(self, runs: Sequence[Invocation], before: Sequence[Snapshot], outputs: Sequence[Output]) -> int:
        """Return the bytes that were written: what the engines claim, or what the devices were given if that
        is more, as it is with a ramp; without their outputs the latter, else the most that was planned.
        """
        if not self._wear.limited:
            return 0
        given = {
            run.site.target.number: written_between(earlier.disk, run.look().disk)
            for run, earlier in zip(runs, before, strict=True)
            if run.needs.target and run.needs.writes
        }
        counted = [figure for figure in given.values() if figure is not None]
        if len(outputs) == len(runs):
            return max(sum(map(_claimed, outputs)), sum(counted))
        if len(counted) == len(given):
            return sum(counted)
        return sum(run.needs.written or 0 for run in runs)


def _held_back(needs: Needs) -> int:
    """Return the most bytes that the page cache may hold back of what a workload writes by time alone: they
    are written once it has been ended, too.
    """
    return needs.size * needs.files if needs.written is None and not needs.direct else 0


def _claimed(output: Output) -> int:
    """Return the bytes that an engine claims to have written."""
    return output.traffic["write"].bytes if "write" in output.traffic else 0
