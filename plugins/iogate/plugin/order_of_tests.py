"""The order of tests: of workloads that are measured by turns each comes as soon as it is decided."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from iogate.plugin.items import WorkloadItem
from iogate.plugin.keeping import Keeping
from iogate.plugin.surroundings import Surroundings

if TYPE_CHECKING:
    from iogate.measure.session import Session
    from iogate.measure.trial import Trial


class OrderOfTests:
    """Whose turn it is. `trials` are known by the ids of their tests, and `session` gives the session that
    decides them, which `kept` keeps; `stepwise` tests keep their places.
    """

    def __init__(
        self,
        trials: Mapping[str, Trial],
        session: Callable[[], Session],
        surroundings: Surroundings,
        kept: Keeping,
        *,
        stepwise: bool,
    ) -> None:
        self._trials = trials
        self._session = session
        self._surroundings = surroundings
        self._kept = kept
        self._stepwise = stepwise
        self._before: dict[str, float] = {}

    def of(self, items: Sequence[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
        """Yield the tests in the order in which they are decided, each with the one that may come next.

        Workloads change places within their suite only, so that set-up and teardown of modules stay as
        pytest has them.
        """
        pending = list(items)
        while pending:
            item = self._next(pending)
            pending.remove(item)
            yield item, (pending[0] if pending else None)

    def measured_before(self, item: pytest.Item) -> float:
        """Return the seconds that a test's workload was measured before its set-up, when first asked."""
        return self._before.pop(item.nodeid, 0.0)

    def _next(self, pending: Sequence[pytest.Item]) -> pytest.Item:
        first = pending[0]
        if not isinstance(first, WorkloadItem) or first.nodeid not in self._trials:
            return first
        block = self._block(first, pending)
        if not self._surroundings.of_suite(first):
            return first
        decided = self._session().decide([self._trials[id] for id in block])
        if decided.result:
            self._before[decided.id] = decided.result.device_seconds
        self._kept.keep(decided)
        return block[decided.id]

    def _block(self, first: WorkloadItem, pending: Sequence[pytest.Item]) -> dict[str, WorkloadItem]:
        """Return the workloads that are measured by turns with the first one, by id."""
        same = itertools.takewhile(lambda item: item.parent is first.parent, pending)
        workloads = (item for item in same if isinstance(item, WorkloadItem))
        alike = self._surroundings.alike(first, (item for item in workloads if item.nodeid in self._trials))
        block = {item.nodeid: item for item in alike}
        # For --stepwise, what stands before a failure has passed.
        return {first.nodeid: first} if self._stepwise else block
