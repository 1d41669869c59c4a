"""The hooks of the beginning: options, devices, and what is asked before anything is collected."""

from __future__ import annotations

import pytest

from iogate.errors import IogateError
from iogate.plugin.devices.names import device_names
from iogate.plugin.devices.parent import end_with_parent
from iogate.plugin.gaps import WorkersGaps
from iogate.plugin.options import add_options, path_of, settings_of
from iogate.plugin.parallel import refuse_parallel
from iogate.plugin.run import RUN, PytestRun
from iogate.units import no_commands

_QUESTIONS = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test", "cacheshow")


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Measure several devices by a pytest of each, unless pytest is only asked something."""
    if len(device_names(config)) < 2 or any(config.getoption(name, False) for name in _QUESTIONS):
        return None
    from iogate.plugin.devices.measuring import measure_devices

    refuse_parallel(config)
    return measure_devices(config)


@pytest.hookimpl(tryfirst=True)  # what is added first is cleaned up last
def pytest_configure(config: pytest.Config) -> None:
    end_with_parent()
    run = PytestRun(config, settings_of(config), path_of(config, "--io-json"))
    config.stash[RUN] = run
    config.add_cleanup(run.leave)
    config.pluginmanager.register(run.status, "iogate.status")
    config.pluginmanager.register(run.python_tests, "iogate.python_tests")
    config.pluginmanager.register(run.machine, "iogate.machine")
    config.pluginmanager.register(run.junit, "iogate.junit")
    config.pluginmanager.register(WorkersGaps(run.gaps), "iogate.workers_gaps")
    if len(device_names(config)) == 1:
        try:
            _ = run.subject.device
        except IogateError as error:
            raise pytest.UsageError(no_commands(str(error))) from None
    refuse_parallel(config)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say which baselines are used, where there are any or will be."""
    run = config.stash.get(RUN, None)
    return run.subject.header if run else None
