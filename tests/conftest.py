"""What holds for all tests: Hypothesis has no clock, and the end of a run says how long each part took.

pytest reads this for a mistyped suite, too, where Hypothesis need not be installed.
"""

from __future__ import annotations

import ctypes
import os
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

with suppress(ModuleNotFoundError):
    from hypothesis import HealthCheck, settings

    settings.register_profile("iogate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("iogate")


UNDISTURBED = tuple(
    f"system/test_{name}.py"
    for name in (
        "allow_exec",
        "bad_input_system",
        "campaigns",
        "clients",
        "engine_package",
        "faults",
        "first_steps",
        "fleet_system",
        "image_races",
        "images",
        "job_files",
        "pairs_cut_off",
        "remote",
        "report_page",
        "results_races",
        "surroundings_system",
        "target_device",
        "target_directory",
        "target_races",
        "wear_counted",
    )
)
"""Tests of real engines that look at no figures that others would disturb."""
DISTURBED = "unit/host/test_alternation.py"
"""Tests without engines that do."""


_CLONE_NEWNS, _MS_REC, _MS_SLAVE = 0x20000, 0x4000, 0x80000
_LAST = 19
"""The niceness that gives way to all others (nice(1))."""


class Durations:
    """Seconds of each folder of tests, and the line that tells them: `unit 55 s, system 6 min 10 s`."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        _, _, inside = report.nodeid.partition("tests/")
        self._seconds[inside.partition("/")[0]] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        parts = (f"{part} {_duration(seconds)}" for part, seconds in self._seconds.items())
        terminalreporter.write_line(", ".join(parts))


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where processes share the tests (`-n 2`), one has those whose figures others would disturb."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # else few tests that last come last, and one process ends alone

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "the machine" if _measures(nodeid) else nodeid.partition("::")[0]

    return Scheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where processes share the tests, begin with those that one has for itself, and end with short ones."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: (not _measures(item.nodeid), "/unit/" in f"/{item.nodeid}"))


def _measures(nodeid: str) -> bool:
    """Return True for a test whose figures others would disturb."""
    file = nodeid.partition("::")[0]
    return file.endswith(DISTURBED) or ("system/" in file and not file.endswith(UNDISTURBED))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let the tests beside one that measures, and all that they start, wait for it."""
    beside = "PYTEST_XDIST_WORKER" in os.environ and os.geteuid() == 0  # who else could never be fast again
    if beside:
        os.setpriority(os.PRIO_PROCESS, 0, 0 if _measures(item.nodeid) else _LAST)
    return (yield)


def _mounts_of_its_own() -> None:
    """Let this process, and all that it starts, mount for itself alone (mount_namespaces(7)): hosts and
    clients of tests beside it have mount namespaces, which keep what was mounted when they were made.
    """
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNS) == 0:  # who may not do that mounts nothing
        libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None)


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ and os.geteuid() == 0:
        _mounts_of_its_own()
    config.pluginmanager.register(Durations(), "durations of the parts")


@pytest.fixture(autouse=True)
def rested(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let each test remember devices for itself: one right behind another finds them rested."""
    place = tmp_path_factory.getbasetemp() / "remembered" / secrets.token_hex(4)
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
