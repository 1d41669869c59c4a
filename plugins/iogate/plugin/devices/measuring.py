"""Measures several devices, and tells what each run says."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from iogate.host.exposure import safe_temporary_folder
from iogate.host.interrupts import Interrupts
from iogate.plugin.devices.commands import commands, refuse_single
from iogate.plugin.devices.names import lanes, load_devices
from iogate.plugin.devices.processes import Run, Runs
from iogate.plugin.devices.summary import status_of, summary
from iogate.plugin.options import settings_of

_LEAST_WIDTH = 40


def measure_devices(config: pytest.Config) -> int:
    """Measure each of the devices that were named, and return the worst exit status. Raises UsageError where
    nothing is to be measured.
    """
    settings = settings_of(config)
    refuse_single(config)
    devices = load_devices(config, settings.baselines)
    began = time.monotonic()
    try:
        around = safe_temporary_folder()
    except OSError as error:
        raise pytest.UsageError(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="iogate-devices-", dir=around) as folder:
        calls = commands(config, [device.name for device in devices], Path(folder))
        columns = max(len(name) for name in calls)
        runs = Runs({name: Run(name, call.argv, _environment(columns)) for name, call in calls.items()})
        queues = [[device.name for device in lane] for lane in lanes(devices)]
        before = {name: _state(call.results) for name, call in calls.items()}
        _say(_head(queues))
        interrupted = _follow(runs, queues, config.invocation_params.dir, columns)
        written = [name for name, call in calls.items() if _state(call.results) != before[name]]
        results = {name: calls[name].results for name in written}
        _say(summary(runs, results, settings, time.monotonic() - began))
    return int(pytest.ExitCode.INTERRUPTED) if interrupted else status_of(runs)


def _follow(runs: Runs, queues: list[list[str]], folder: Path, columns: int) -> bool:
    """Show what the runs say until they have ended; return whether they were told to end."""
    interrupts = Interrupts()
    interrupts.watch()
    try:
        runs.follow(queues, folder, lambda name, line: _say(f"{name:<{columns}} | {line}"))
        return False
    except KeyboardInterrupt as error:
        _say(f"\nending {', '.join(runs.alive)}: {str(error) or 'Ctrl-C'}")
        runs.end(lambda name, line: _say(f"{name:<{columns}} | {line}"))
        return True
    finally:
        runs.end(lambda name, line: None)  # where nobody reads what they say, as behind `| head`
        runs.close()
        interrupts.restore()


def _state(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written; None if there is none. One of a run before says nothing."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _head(queues: list[list[str]]) -> str:
    told = [queue[0] if len(queue) == 1 else f"{', then '.join(queue)} (one host)" for queue in queues]
    return f"iogate: measures side by side: {'; '.join(told)}"


def _environment(columns: int) -> Mapping[str, str]:
    """Return what the environment of a run has more: lines come as they are said, as wide as fits."""
    more = {"PYTHONUNBUFFERED": "1"}
    if sys.stdout.isatty():
        import shutil

        more["COLUMNS"] = str(max(_LEAST_WIDTH, shutil.get_terminal_size().columns - columns - 3))
    return more


def _say(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, errors="replace").decode(encoding), flush=True)
