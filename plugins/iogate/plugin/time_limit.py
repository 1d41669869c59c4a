"""pytest-timeout on workloads, which are measured before their tests begin.

The limit holds for the wall time of a workload's own repetitions, as they take turns with those of others.
It is pytest-timeout's own timer that ends them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pytest

from iogate.errors import MeasurementError

if TYPE_CHECKING:
    from iogate.measure.bench import Pair
    from iogate.measure.local_bench import LocalBench as _Bench
    from iogate.model import Repetition, Workload
else:
    _Bench = object

_Kind = TypeVar("_Kind")


def timeout_settings(config: pytest.Config) -> Callable[[pytest.Item], Any] | None:
    """Return what tells pytest-timeout's settings for a test; None where that plugin is not."""
    plugin = config.pluginmanager.getplugin("timeout")
    return getattr(plugin, "_get_item_settings", None)


@contextlib.contextmanager
def limited(item: pytest.Item) -> Iterator[None]:
    """Limit the time of what is set up for a test ahead of it. Raises pytest's Failed if it takes longer."""
    settings_of = timeout_settings(item.config)
    settings = settings_of(item) if settings_of else None
    if not settings or not settings.timeout or settings.func_only:
        yield
        return
    item.config.hook.pytest_timeout_set_timer(item=item, settings=settings)
    try:
        yield
    finally:
        item.config.hook.pytest_timeout_cancel_timer(item=item)


@contextlib.contextmanager
def unlimited(item: pytest.Item) -> Iterator[None]:
    """Stop the time of a test while it waits for what is none of its own, and begin it again."""
    settings_of = timeout_settings(item.config)
    settings = settings_of(item) if settings_of else None
    if not settings or not settings.timeout:
        yield
        return
    item.config.hook.pytest_timeout_cancel_timer(item=item)
    try:
        yield
    finally:
        item.config.hook.pytest_timeout_set_timer(item=item, settings=settings)


def timed(kind: type[_Kind]) -> type[_Kind]:
    """Return a kind of bench with the time of each workload limited, once its `limit` was called."""
    return cast("type[_Kind]", type("TimedBench", (TimeLimit, kind), {}))


class TimeLimit(_Bench):
    """What limits the time of each workload on a bench; `items` are the tests by their ids."""

    items: Mapping[str, pytest.Item]
    settings_of: Callable[[pytest.Item], Any]

    def limit(self, items: Mapping[str, pytest.Item], settings_of: Callable[[pytest.Item], Any]) -> None:
        """Limit the workloads of these tests."""
        self.items, self.settings_of = items, settings_of
        self._spent: dict[str, float] = {}

    def repeat(
        self, id: str, workload: Workload, label: int | str, gating: Sequence[str], arm: int = 1
    ) -> Repetition:
        """Run one repetition. Raises MeasurementError if it takes more than what is left of the time."""
        measure = super().repeat
        return self._within_limit(id, lambda: measure(id, workload, label, gating, arm))

    def alternate(self, id: str, pair: Pair, label: int | str, gating: Sequence[str]) -> Repetition:
        """Run one block. Raises MeasurementError if it takes more than what is left of the time."""
        measure = super().alternate
        return self._within_limit(id, lambda: measure(id, pair, label, gating))

    def _within_limit(self, id: str, measure: Callable[[], Repetition]) -> Repetition:
        item = self.items.get(id)
        settings = self.settings_of(item) if item else None
        if item is None or not settings or not settings.timeout or settings.func_only:
            return measure()
        hooks, started = item.config.hook, time.monotonic()
        left = settings.timeout - self._spent.get(id, 0.0)
        try:
            if left <= 0:
                raise _too_long(settings.timeout)
            hooks.pytest_timeout_set_timer(item=item, settings=settings._replace(timeout=left))
            return measure()
        except pytest.fail.Exception:
            raise _too_long(settings.timeout) from None
        finally:
            hooks.pytest_timeout_cancel_timer(item=item)
            self._spent[id] = self._spent.get(id, 0.0) + time.monotonic() - started


def _too_long(seconds: float) -> MeasurementError:
    return MeasurementError(
        f"its repetitions took longer than the {seconds:g} s of pytest-timeout",
        remedy="allow more by --timeout or @pytest.mark.timeout, or shorten them by --io-runtime",
    )
