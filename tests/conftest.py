"""What holds for all tests: Hypothesis has no clock, and the end of a run says how long each part took.

pytest reads this for a mistyped suite, too, where Hypothesis need not be installed.
"""

from __future__ import annotations

import gc
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


def pytest_collection_finish() -> None:
    """What was collected stays: to look for garbage in it takes a twentieth of the time."""
    gc.enable()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations(), "durations of the parts")
    shared = "PYTEST_XDIST_WORKER" in os.environ or getattr(config.option, "numprocesses", None)
    if "PYTEST_XDIST_WORKER" in os.environ or not shared:
        gc.disable()  # until all is collected, which who shares the tests out does not do itself
    if not shared or os.geteuid() != 0:
        return
    import apart

    if not apart.mounts_of_its_own() or "PYTEST_XDIST_WORKER" in os.environ or config.option.basetemp:
        return
    # Of a disk that others use, too, a repetition of 0.1 s may take a second.
    folder = apart.in_memory()
    if folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        config.add_cleanup(lambda: apart.leave(folder))


@pytest.fixture(autouse=True)
def rested(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let each test remember devices for itself: one right behind another finds them rested."""
    place = tmp_path_factory.getbasetemp() / "remembered" / secrets.token_hex(4)
    monkeypatch.setenv("XDG_STATE_HOME", str(place))
