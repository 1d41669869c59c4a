"""Tests written in Python that measure: what their workloads are called, and what is refused of them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import InputError, Position
from iogate.units import printable

if TYPE_CHECKING:
    from iogate.measure.trial import Trial
    from iogate.model import Workload


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
    """Return whether a test takes `measure`."""
    return "measure" in getattr(item, "fixturenames", ())


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
