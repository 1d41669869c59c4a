"""The pytest plugin, under the name that pytest knows it by: its hooks and fixtures."""

from iogate.plugin.beginning import (
    pytest_addoption,
    pytest_cmdline_main,
    pytest_configure,
    pytest_report_header,
)
from iogate.plugin.collection import (
    pytest_collect_file,
    pytest_collection_finish,
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_sessionstart,
)
from iogate.plugin.ending import pytest_sessionfinish, pytest_terminal_summary, pytest_unconfigure
from iogate.plugin.fixtures import baseline, gate, measure, measurement
from iogate.plugin.loop import (
    pytest_report_teststatus,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_runtest_teardown,
    pytest_runtestloop,
)

__all__ = [
    "baseline",
    "gate",
    "measure",
    "measurement",
    "pytest_addoption",
    "pytest_cmdline_main",
    "pytest_collect_file",
    "pytest_collection_finish",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_ignore_collect",
    "pytest_report_header",
    "pytest_report_teststatus",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_runtest_teardown",
    "pytest_runtestloop",
    "pytest_sessionfinish",
    "pytest_sessionstart",
    "pytest_terminal_summary",
    "pytest_unconfigure",
]
