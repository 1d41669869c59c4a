"""Fixtures of the user's that hold for many tests: what they make (a mount, a power mode) is measured in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from iogate.plugin.items import WorkloadItem, will_run
from iogate.plugin.time_limit import limited

_SESSION = frozenset({"session"})
_SUITE = _SESSION | {"package", "module"}


class Surroundings:
    """Sets up what a conftest.py has for a whole session, or for each suite, before workloads are measured,
    which comes ahead of their own set-up. `let_go` is called before what holds for the session is undone.
    """

    def __init__(self, let_go: Callable[[], None]) -> None:
        self._let_go = let_go
        self._untold: BaseException | None = None
        """What failed ahead of the test that is to tell it."""

    def of_session(
        self, items: Sequence[WorkloadItem], hold: Callable[[ExitStack], None] | None
    ) -> list[WorkloadItem]:
        """Set up what holds for the session and is there for its first test, in front of the first of these
        workloads. Return those that can be measured in it: others fail, or are skipped, in their own set-up.
        `hold` keeps other runs from doing the same until all is undone.
        """
        if not items:
            return []
        first, run = items[0], items[0].session.items
        wide = _wide(first, _SESSION)
        shared = [definition for definition in wide if definition in _wide(run[0], _SESSION)]
        unlike = {(item.parent, *item.fixturenames): item for item in items}.values()
        if hold and any(_wide(item, _SUITE) for item in unlike):
            held = ExitStack()
            hold(held)
            _state(first.session).setup(first.session)
            _state(first.session).addfinalizer(held.close, first.session)  # behind all that is undone
        stands = self._can_be_set_up(first, shared, first if first is run[0] else first.session)
        lost = [] if stands else shared
        return [item for item in items if not any(_fails(it) or it in lost for it in _wide(item, _SESSION))]

    def alike(self, first: WorkloadItem, others: Iterable[WorkloadItem]) -> Iterator[WorkloadItem]:
        """Yield those workloads of the `first` one's suite that are measured in the same as it."""
        wide = _wide(first, _SUITE)
        for item in others:
            if item.fixturenames == first.fixturenames or _wide(item, _SUITE) == wide:
                yield item

    def of_suite(self, first: WorkloadItem) -> bool:
        """Set up what holds for the suite, or the folder, of the `first` test that comes, or for the session
        from there on, and return whether that can be done.
        """
        return self._can_be_set_up(first, _wide(first, _SUITE), first)

    def require(self, item: WorkloadItem) -> None:
        """Raise what a fixture of the suite, or of the session, fails of, or skips by: whatever stands in
        front of it, its workload is not measured without it.
        """
        if not self.of_suite(item):
            for definition in filter(_fails, _wide(item, _SUITE)):
                raise definition.cached_result[2][0]
            pytest.fail("what fixtures make for its suite cannot be set up", pytrace=False)

    def let_go_before(self, session: pytest.Session) -> None:
        """Let go of the target before what is set up for the session by now is undone; where nothing is, that
        can wait until baselines are written.
        """
        finalizers, _ = _state(session).stack.get(session, ([], None))
        if len(finalizers) > 1:  # the first one is the session's own
            _state(session).addfinalizer(self._let_go, session)

    @contextmanager
    def telling(self, item: pytest.Item) -> Iterator[None]:
        """Fail the set-up of a test by what failed ahead of it, where a plugin skips it as that has failed:
        nobody would hear of it.
        """
        __tracebackhide__ = True
        try:
            yield
        except pytest.skip.Exception:
            if (error := self._untold) and will_run(item):
                self._untold = None
                raise error from None
            raise
        except BaseException as error:
            self._untold = None if error is self._untold else self._untold
            raise

    def _can_be_set_up(self, item: WorkloadItem, wide: Sequence[Any], kept: Any) -> bool:
        """Set up fixtures that a workload's test has, and return whether that can be done. What is set up as
        far as `kept`, a test or the session, stays so; pytest knows each, and what it failed of.
        """
        missing = [definition.argname for definition in wide if definition.cached_result is None]
        failed = any(map(_fails, wide))
        if failed or not missing:
            return not failed
        assert item.parent is not None
        carrier: _Carrier = _Carrier.from_parent(item.parent, name=item.name, callobj=_nothing)
        carrier.wide = missing
        try:
            with limited(item):
                _state(item.session).setup(carrier)
        except (KeyboardInterrupt, pytest.exit.Exception):
            raise
        except BaseException as error:  # as pytest has it; the test's own set-up comes to that, too
            self._untold = None if isinstance(error, pytest.skip.Exception) else error
            return False
        finally:
            _state(item.session).teardown_exact(kept)
            self.let_go_before(item.session)
        return True


class _Carrier(pytest.Function):
    """A test that is none: pytest sets up with it what others find set up."""

    wide: Sequence[str] = ()

    def setup(self) -> None:
        for name in self.wide:
            self._request.getfixturevalue(name)


def _wide(item: pytest.Item, scopes: Collection[str]) -> list[Any]:
    """Return the fixtures of these scopes that a test has, also by others, in the order of their set-up."""
    info = getattr(item, "_fixtureinfo", None)  # some tests of other plugins have none
    if not info:
        return []
    manager: Any = item.session._fixturemanager
    seen: set[str] = set()
    found: list[Any] = []

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        known = info.name2fixturedefs.get(name)
        definitions = known or manager.getfixturedefs(name, item) or ()  # a hook may have added the name
        behind: list[Any] = []
        for definition in reversed(definitions):
            for needed in () if known else definition.argnames:
                visit(needed)
            behind.append(definition)
            if name not in definition.argnames:  # else it is around the one of that name that it overrides
                break
        found.extend(reversed(behind))

    for name in getattr(item, "fixturenames", ()):
        visit(name)
    return [definition for definition in found if definition.scope in scopes]


def _fails(definition: Any) -> bool:
    """Return whether a fixture failed, or skipped, as pytest remembers."""
    return definition.cached_result is not None and definition.cached_result[2] is not None


def _nothing() -> None:
    pass


def _state(session: pytest.Session) -> Any:
    """Return what pytest knows of what is set up."""
    return session._setupstate
