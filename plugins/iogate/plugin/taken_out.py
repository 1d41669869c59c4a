"""What measures, and a conftest.py or a plugin takes out of a run without a word."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import pytest

from iogate.plugin.items import WorkloadItem
from iogate.plugin.others import leaves_out_unchanged

_SHARES = ("num_shards", "test-group-count")
"""Options by which pytest-shard and pytest-test-groups give each of several runs a share, without a word to
pytest: who asked for that knows it.
"""
_WHOLE = ("1", "-1")


class TakenOut:
    """Knows what pytest collected, and what it was told to be left out: what is left out and was not told,
    nobody hears of. `measures` tells whether a test in Python does.
    """

    def __init__(self, config: pytest.Config, measures: Callable[[pytest.Item], bool]) -> None:
        self._config = config
        self._measures = measures
        self._collected: list[pytest.Item] = []
        self._told: set[pytest.Item] = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Note what was collected, before anybody takes something out."""
        self._collected = list(items)
        return (yield)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note what is left out as pytest has it, which counts it."""
        self._told.update(items)

    def from_run(self, items: Sequence[pytest.Item]) -> list[pytest.Item]:
        """Return what was taken out of the run, whose `items` are left, of what measures."""
        shares = any(str(self._config.getoption(name, None) or 1) not in _WHOLE for name in _SHARES)
        if shares or leaves_out_unchanged(self._config):  # of what pytest-testmon leaves out, all is told
            return []
        known = self._told.union(items)
        missing = (item for item in self._collected if item not in known)
        return [item for item in missing if isinstance(item, WorkloadItem) or self._measures(item)]
