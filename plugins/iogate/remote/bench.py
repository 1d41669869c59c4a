"""The near side: a bench that is elsewhere, whose raw files come home."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from iogate.errors import EngineError, InputError, InputErrors, MeasurementError, TargetError
from iogate.measure.bench import Pair, Places, Watcher
from iogate.measure.local_bench import folder_name
from iogate.measure.settings import Settings
from iogate.model import (
    MOST,
    Command,
    Device,
    Environment,
    Needs,
    Place,
    Repetition,
    Workload,
    metric,
)
from iogate.remote.calls import FarCalls
from iogate.remote.far import Facts, Request
from iogate.target.resolve import Target
from iogate.units import printable

_OFF = 0.05  # of a clock; ones that are set gradually differ by a thousandth at the most (adjtimex(2))


def check_numbers(seconds: float, series: Sequence[float]) -> None:
    """Raise ValueError for a time, or for bandwidths, that cannot be."""
    if not (0 <= seconds <= MOST and all(abs(rate) <= MOST for rate in series)):
        raise ValueError("times or rates without end")


def check_metrics(names: Iterable[str]) -> None:
    """Raise ValueError for a metric that there is none of."""
    for name in names:
        try:
            metric(name)
        except KeyError:
            raise ValueError(f"the metric {name[:100]!r}") from None


class RemoteBench(FarCalls):
    """The machine at a host as a bench; `folder` keeps the raw files of repetitions, here.

    Raises InputError for what is no host, and TargetError if it cannot be had, or has no such target.
    """

    hosts: tuple[str, ...] = ()
    target: Target
    places: Places

    def __init__(
        self,
        settings: Settings,
        device: Device,
        folder: Path,
        watcher: Watcher,
        handicap: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        super().__init__(settings.host or "", folder, watcher)
        self.name = device.name
        self._opened = False
        request = Request(
            replace(device, places={}),
            target=settings.target,
            against=settings.against,
            destroy=settings.destroy,
            wait=settings.wait,
            handicap=handicap,
            session=settings.session,
        )
        try:
            facts: Facts = self._call(Facts, "begin", request)
            self._check(facts.target)
        except BaseException:
            self.close()
            raise
        self.target, self.places = facts.target, facts.places
        self.base, self.candidate, self.slice = facts.base, facts.candidate, settings.slice

    def check(self, workloads: Sequence[Workload]) -> None:
        """Raise InputErrors for what the engines' own programs there would refuse of these workloads, and
        EngineError if one is missing.
        """
        mistakes: list[InputError] = self._call(list[InputError], "check", list(workloads))
        if mistakes:
            raise InputErrors([self._named(mistake) for mistake in mistakes])

    def observe(self) -> Environment:
        found: Environment = self._call(Environment, "observe")
        return found

    def refusals(self, needs: Needs) -> Sequence[TargetError]:
        if self._connection.post.lost:
            return [TargetError(self._connection.why_lost(), rule="host")]
        found: list[TargetError] = self._call(list[TargetError], "refusals", needs)
        return [self._named(error) for error in found]

    def command(self, workload: Workload, place: Place) -> Command:
        found: Command = self._call(Command, "command", (workload, place))
        return found

    def open(self) -> None:
        if not self._opened and not self._connection.post.lost:
            self._call(type(None), "open")
            self._opened = True

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        return self._measure(id, label, "repeat", (id, workload, label, tuple(gating), arm))

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        return self._measure(id, label, "alternate", (id, pair, label, tuple(gating)))

    def _measure(self, id: str, label: int | str, method: str, asked: Any) -> Repetition:
        """Return what was measured, with its raw files at home. Raises EngineError if they cannot be kept."""
        self._within = PurePosixPath(folder_name(id)) / str(label)
        self._received, self._unkept = 0, None
        try:
            found = self._at_home(self._call(Repetition, method, asked))
        except ValueError as error:
            raise self.not_understood(error) from None
        finally:
            self._within = PurePosixPath()
        self._check_kept()
        self._check_pace()
        return found

    def _check_pace(self) -> None:
        """Raise MeasurementError if the clock there runs faster or slower than ours."""
        ratio = self._connection.post.pace.ratio
        if ratio is not None and abs(ratio - 1) > _OFF:
            raise MeasurementError(
                f"the clock of {printable(self._connection.host)} runs at {ratio:.0%} of the speed of this "
                "machine's: so far off are all rates and times that it says",
                remedy="find out why (its clock source, or it throttles for heat), and measure again",
            )

    def _check_kept(self) -> None:
        """Raise EngineError if raw files could not be kept."""
        if self._unkept:
            raise EngineError(
                f"cannot keep raw files in {self._folder}: {self._unkept.strerror}",
                remedy="free space there, or name another folder: --io-results=DIR",
            )

    def _at_home(self, repetition: Repetition) -> Repetition:
        """Return a repetition whose folders are at home. Raises ValueError for folders of others, and for
        times, rates and metrics that no document can say.
        """
        check_numbers(repetition.seconds, repetition.series)
        for traffic in repetition.output.traffic.values():
            check_numbers(traffic.seconds, ())
        for item in repetition.slices:
            check_numbers(item.seconds, (item.start, item.read, item.written, item.other))
        check_metrics(repetition.metrics)
        base = self._at_home(repetition.base) if repetition.base else None
        return replace(repetition, folder=str(self._path(repetition.folder)), base=base)
