"""Fixtures of the user's that hold for many tests: what they make (a mount, a power mode) is measured in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest

from iogate.plugin.items import WorkloadItem


class Surroundings:
    """Sets up what a conftest.py has for a whole session, or for each suite, before workloads are measured,
    which comes ahead of their own set-up. `let_go` is called before what holds for the session is undone.
    """

    def __init__(self, let_go: Callable[[], None]) -> None:
        self._let_go = let_go

    def of_session(self, items: Sequence[WorkloadItem]) -> list[WorkloadItem]:
        """Set up what holds for the session, and return the workloads that can be measured in it: the others
        fail, or are skipped, in their own set-up.
        """
        suites = {item.parent: item for item in items}
        ready = {suite: _can_be_set_up(item, {"session"}, item.session) for suite, item in suites.items()}
        if any(_wide(item, {"session"}) for item in suites.values()):
            _state(items[0]).addfinalizer(self._let_go, items[0].session)
        return [item for item in items if ready[item.parent]]

    def of_suite(self, first: WorkloadItem) -> bool:
        """Set up what holds for the suite, or the folder, of the `first` test that comes, and return whether
        that can be done.
        """
        return _can_be_set_up(first, {"package", "module"}, first)


class _Carrier(pytest.Function):
    """A test that is none: pytest sets up with it what others find set up."""

    wide: Sequence[str] = ()

    def setup(self) -> None:
        for name in self.wide:
            self._request.getfixturevalue(name)


def _can_be_set_up(item: WorkloadItem, scopes: Collection[str], kept: Any) -> bool:
    """Set up fixtures of these scopes that a workload's test has, and return whether that can be done. What
    is set up as far as `kept`, a test or the session, stays so; pytest knows each, and what it failed of.
    """
    if not (wide := _wide(item, scopes)):
        return True
    assert item.parent is not None
    carrier: _Carrier = _Carrier.from_parent(item.parent, name=item.name, callobj=_nothing)
    carrier.wide = wide
    try:
        _state(item).setup(carrier)
    except (Exception, pytest.skip.Exception, pytest.fail.Exception):
        return False  # the test's own set-up comes to that, too, and tells it
    finally:
        _state(item).teardown_exact(kept)
    return True


def _wide(item: WorkloadItem, scopes: Collection[str]) -> list[str]:
    """Return the fixtures of these scopes that a test has without asking for them."""
    known = item._fixtureinfo.name2fixturedefs
    return [
        name for name in item._fixtureinfo.initialnames if name in known and known[name][-1].scope in scopes
    ]


def _nothing() -> None:
    pass


def _state(item: pytest.Item) -> Any:
    """Return what pytest knows of what is set up."""
    return item.session._setupstate
