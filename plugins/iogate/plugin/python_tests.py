"""Tests written in Python that measure: their workloads, how these are called, what is refused of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from iogate.errors import InputError, InputErrors, Position
from iogate.units import plural, printable

if TYPE_CHECKING:
    from iogate.declare.overrides import Overrides
    from iogate.measure.session import Session
    from iogate.measure.trial import Trial
    from iogate.model import Workload


class PythonTests:
    """What the tests of a run measure that are written in Python: a workload is known when its test declares
    it, and expected until then. `stored` says which workloads of a module of tests have a baseline.
    """

    def __init__(self, stored: Callable[[Path], Collection[str]]) -> None:
        self.items: list[pytest.Item] = []
        self.ended: dict[str, bool] = {}
        """Whether each test came to its end, by its id."""
        self.passed = ""
        """The id of the last test, if it passed."""
        self.modules: dict[Path, set[str]] = {}
        """What the tests are called that may measure, by their module, of all modules collected."""
        self.stored = cache(stored)
        self._by_owner = cache(self._stored_by_owner)
        self.seen: set[Path] = set()
        """The files that pytest took for tests, also those that cannot be collected, or skip themselves."""
        self.are_all = False
        """Whether collecting came to its end here, and not in processes of xdist."""
        self._measured: dict[str, tuple[Workload, Trial]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Note a module of tests, which may have none left. Its id does not say where it is: the root of
        pytest need not be above it.
        """
        report = yield
        if isinstance(collector, pytest.File):
            self.seen.add(collector.path.resolve())
        if report.passed and isinstance(collector, pytest.File) and collector.path.suffix == ".py":
            self.modules.setdefault(collector.path, set())
        return report

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Note a test that may measure, before any is left out."""
        if item.path.suffix == ".py" and may_measure(item):
            self.modules.setdefault(item.path, set()).add(label_of(item))

    def pytest_collection_modifyitems(self) -> None:
        """Note that collecting was not broken off, as `-x` does at a mistake."""
        self.are_all = True

    def without_test(self, named: Callable[[Path], Sequence[str] | None]) -> Iterator[tuple[Path, list[str]]]:
        """Yield the modules that were collected with their workloads that have a baseline and no test: those
        of the classes and tests whose labels are `named`, if a module was not collected whole (None).
        """
        for path, labels in self.modules.items():
            only = named(path)
            within = tuple(f"{label}{sign}" for label in only or () for sign in ".[")
            names = [
                name for name in self.stored(path) if only is None or name in only or name.startswith(within)
            ]
            if lost := [name for name in names if labels.isdisjoint(_owners([name]))]:
                yield path, lost

    def unmeasured(self, item: pytest.Item) -> list[str]:
        """Return what a test that passed has a baseline of, and did not measure to be held against it."""
        measured = {workload.name for workload, _ in self._measured.values() if workload.against is None}
        return [name for name in self._own(item) if name not in measured]

    def _own(self, item: pytest.Item) -> list[str]:
        """Return what a test has a baseline of; nothing if it cannot measure."""
        if item.path.suffix != ".py" or not may_measure(item):
            return []
        return self._by_owner(item.path).get(label_of(item), [])

    def _stored_by_owner(self, path: Path) -> dict[str, list[str]]:
        """Return the workloads of a module that have a baseline, by the labels of the tests that may measure
        them.
        """
        found: dict[str, list[str]] = {}
        for name in self.stored(path):
            for label in _owners([name]):
                found.setdefault(label, []).append(name)
        return found

    def measures(self, item: pytest.Item) -> bool:
        """Return whether a test measures. One that asks for `measure` as it runs, as pytest-bdd's do, is
        known by its baseline.
        """
        return takes_measure(item) or bool(self._own(item))

    @property
    def are_known(self) -> bool:
        """Whether tests measure, or modules have baselines of tests that did."""
        return bool(self.items) or any(map(self.stored, self.modules))

    def expect(self, items: Sequence[pytest.Item]) -> None:
        """Note which tests measure, of those that are to run."""
        self.items = list(filter(self.measures, items))
        self.ended = dict.fromkeys((item.nodeid for item in self.items), False)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note that a test came to its end."""
        if nodeid in self.ended:
            self.ended[nodeid] = True

    @property
    def plan(self) -> str:
        """What a plan says of them, for people: it runs no test."""
        count = plural(len(self.items), "test")
        return f"{count} in Python: what they measure is known when they run" if self.items else ""

    @property
    def left(self) -> int:
        """How many workloads those that did not end are still to measure."""
        return sum(count for id, count in self.coming.items() if not self.ended[id])

    @cached_property
    def coming(self) -> Counter[str]:
        """How many workloads they are still to measure, by the test's id."""
        return expected(self.items, self.stored)

    def trial(self, session: Session, item: pytest.Item, id: str, workload: Workload) -> Trial:
        """Return the trial of what a test measures: what it has measured already, if it runs again, as it
        would else be retried until it passes. Raises InputError if that was something else, or what another
        test measures.
        """
        if id not in self._measured:
            refuse_namesake(id, workload, session.trials)
            self._measured[id] = workload, self._enroll(session, item, id, workload)
        before, trial = self._measured[id]
        if before != workload:
            raise InputError(
                f"{workload.name} was another workload when this test ran before",
                position=workload.position,
                remedy="a test that runs again is not measured again: declare the same each time",
            )
        return trial

    def _enroll(self, session: Session, item: pytest.Item, id: str, workload: Workload) -> Trial:
        """Enroll what a test measures; what is to come is taken to have as many gating metrics."""
        from iogate.judge.appointment import gating_metrics

        if self.coming[item.nodeid]:
            self.coming[item.nodeid] -= 1
        coming = len(gating_metrics(workload)) * self.coming.total()
        return session.enroll([(id, workload)], coming)[0]


def declared(
    item: pytest.Item,
    name: str,
    declaration: Mapping[str, Any],
    suite: str,
    overrides: Overrides,
    given: Mapping[str, Any],
    allow_exec: bool,
) -> Workload:
    """Return the workload that a test declares under a name, with what the device's profile and the command
    line set (`given`). Raises InputErrors, each blamed on whom it comes from.
    """
    from iogate.declare.overrides import check_expanded, merged
    from iogate.declare.workload import declare_workload

    data = merged(declaration, overrides.options)
    try:
        check_expanded(data, "a test in Python")
        return declare_workload(
            label_of(item, name), suite, data, position_of(item), given, allow_exec=allow_exec
        )
    except InputErrors as errors:
        raise InputErrors([overrides.blame(error) or error for error in errors.errors]) from None


def label_of(item: pytest.Item, name: str = "") -> str:
    """Return what the workload of a test is called: as the test, with its classes and the name that it gives
    it, as in `TestDeadline.test_read.small`.
    """
    chain = item.listchain()
    module = max((place for place, node in enumerate(chain) if isinstance(node, pytest.File)), default=-1)
    return ".".join([*(node.name for node in chain[module + 1 :]), *([name] if name else [])])


def position_of(item: pytest.Item) -> Position:
    """Return where a test is defined."""
    path, line, _ = item.location
    return Position(path, (line or 0) + 1)


def takes_measure(item: pytest.Item) -> bool:
    """Return whether a test takes iogate's `measure`, and not a fixture of its project that is called so."""
    return "measure" in getattr(item, "fixturenames", ()) and _is_ours(item)


def _is_ours(item: pytest.Item) -> bool:
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for fixture in reversed(known.get("measure", ())):
        if fixture.func.__module__.startswith("iogate."):
            break
        if "measure" not in fixture.argnames:  # it does not extend the one before
            return False
    return True


def may_measure(item: pytest.Item) -> bool:
    """Return whether a test takes `measure`, or could ask for it as it runs."""
    return not isinstance(item, pytest.Function) or not {"measure", "request"}.isdisjoint(item.fixturenames)


def expected(items: Sequence[pytest.Item], stored: Callable[[Path], Collection[str]]) -> Counter[str]:
    """Return how many workloads each of these tests measures, by its id: as many as it has baselines, of all
    that are `stored` of its module, and at least one.
    """
    known = {path: Counter(_owners(stored(path))) for path in dict.fromkeys(item.path for item in items)}
    return Counter({item.nodeid: max(1, known[item.path][label_of(item)]) for item in items})


def _owners(names: Iterable[str]) -> Iterator[str]:
    """Yield for each workload the labels of all tests that may measure it: `a` and `a.b` for `a.b`."""
    for name in names:
        yield from itertools.accumulate(name.split("."), "{}.{}".format)


def repeated(item: pytest.Item, name: str) -> InputError:
    """Return why a test may not measure under the same name twice: the first result would stand for a state
    that was not measured.
    """
    return InputError(
        f"{label_of(item, name)} measures a second time under this name",
        position=position_of(item),
        remedy="give it a name of its own: measure(..., name='...')",
    )


def refuse_namesake(id: str, workload: Workload, trials: Iterable[Trial]) -> None:
    """Raise InputError if another test has a workload of this suite and name: they would share a baseline."""
    for trial in trials:
        own = trial.workload
        if trial.id != id and (own.suite, own.name) == (workload.suite, workload.name):
            raise InputError(
                f"{own.suite}: {own.name} is also what {printable(trial.id)} measures, and they would share "
                "a baseline",
                position=workload.position,
                remedy="rename one of them",
            )
