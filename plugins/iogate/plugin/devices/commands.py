"""The command of each device's run: that of the whole, with a name and with files of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from iogate.errors import IogateError
from iogate.formats.streams import is_stream
from iogate.plugin.options import path_of, value_of

_FILES = ("--io-json", "--io-report", "--io-markdown")
_SINGLE = {
    "--io-target": "it is one place, and each device has its own: its profile says which",
    "--io-host": "it is where one device is: the profiles say where each is",
    "--io-destroy": "it is consent to write to one block device: give it device by device",
}
_FILES_OF_OTHERS = {
    "--junit-xml": "xmlpath",
    "--html": "htmlpath",
    "--report-log": "report_log",
    "--log-file": "log_file",
    "--benchmark-json": "benchmark_json",
}
"""Options of pytest and of well-known plugins that name what a run writes, and what pytest calls them."""

_PYTEST = (
    "import sys;sys.path=sys.path[not sys.path[0]:];"
    "import runpy;runpy.run_module('pytest', run_name='__main__', alter_sys=True)"
)
"""What `python -m pytest` does, without the folder where it is called in the places of modules."""


@dataclass(frozen=True)
class DeviceCall:
    """How a device's run is started, and where it leaves its results."""

    argv: tuple[str, ...]
    results: Path


def refuse_single(config: pytest.Config) -> None:
    """Raise UsageError for what cannot be meant of several devices."""
    for flag, why in _SINGLE.items():
        if value_of(config, flag):
            raise pytest.UsageError(f"{flag} cannot be used with several devices: {why}")
    against = value_of(config, "--io-against")
    if against and against != "same":
        raise pytest.UsageError(
            "--io-against=PLACE cannot be used with several devices: it is one place, and each device "
            "has its own; --io-against=same can"
        )
    for flag, name in (("--pdb", "usepdb"), ("--trace", "trace")):
        if getattr(config.option, name, False):
            raise pytest.UsageError(f"{flag} cannot be used with several devices: name one of them")


def commands(config: pytest.Config, names: Sequence[str], folder: Path) -> dict[str, DeviceCall]:
    """Return how each device is measured; `folder` keeps results that nobody asked for. Raises UsageError."""
    given = [str(argument) for argument in config.invocation_params.args]
    end = given.index("--") if "--" in given else len(given)
    named = path_of(config, "--io-json")
    found = {}
    for name in names:
        results = of_device(named, name) if named else folder / f"{name}.json"
        own = [f"--device={name}", f"--io-json={results}", *_own_files(config, name)]
        argv = (*_pytest(), *given[:end], *own, *given[end:])
        found[name] = DeviceCall(argv, results)
    return found


def _pytest() -> tuple[str, ...]:
    """Return the command of pytest, which takes modules from this folder only if this process does: it may be
    another user's.
    """
    if {"", os.getcwd()} & set(sys.path):
        return (sys.executable, "-m", "pytest")
    if sys.version_info >= (3, 11):  # 3.13 takes modules from there before the first word of `-c`
        return (sys.executable, "-P", "-m", "pytest")
    return (sys.executable, "-c", _PYTEST)


def of_device(path: Path, name: str) -> Path:
    """Return a file of one device: `results-orin-1.json` of `results.json`. Raises UsageError for no file."""
    try:
        stream = is_stream(path)
    except IogateError as error:
        raise pytest.UsageError(str(error)) from None
    if stream:
        raise pytest.UsageError(f"several devices cannot write into {path}: name a file")
    return path.with_name(f"{path.stem}-{name}{path.suffix}")


def _own_files(config: pytest.Config, name: str) -> Iterator[str]:
    """Yield the options that keep what a device's run writes apart from the others', wherever the files were
    named: on the command line, in an ini file or in the environment.
    """
    for flag in _FILES:
        path = path_of(config, flag)
        if path and flag != "--io-json":
            yield f"{flag}={of_device(path, name)}"
    for flag, destination in _FILES_OF_OTHERS.items():
        value = config.getoption(destination, None) or _ini_value(config, destination)
        if value:
            yield f"{flag}={of_device(Path(str(value)), name)}"
    if config.getoption("xmlpath", None):  # of two tests of one name GitLab shows the first
        yield f"--junit-prefix={'.'.join(filter(None, (config.getoption('junitprefix', None), name)))}"
    if config.getoption("basetemp", None):
        yield f"--basetemp={config.getoption('basetemp')}-{name}"
    if config.getoption("json_report", None) and config.getoption("json_report_file", None):
        yield f"--json-report-file={of_device(Path(config.getoption('json_report_file')), name)}"
    if config.pluginmanager.hasplugin("cacheprovider"):  # what failed last, failed on a device
        yield "-o"
        yield f"cache_dir={config.getini('cache_dir')}/{name}"


def _ini_value(config: pytest.Config, name: str) -> str:
    """Return what an ini file says of an option; empty where it cannot."""
    try:
        return str(config.getini(name) or "")
    except ValueError:
        return ""
