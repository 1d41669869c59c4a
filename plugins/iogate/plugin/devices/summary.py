"""What came of several devices: a table, and the exit status of the whole."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iogate.errors import IogateError
from iogate.plugin.coverage import shown
from iogate.plugin.devices.processes import Run, Runs
from iogate.plugin.status import STATUSES
from iogate.units import format_duration, printable

if TYPE_CHECKING:
    from iogate.measure.settings import Settings
    from iogate.report.results import Results

_OUTCOMES: Mapping[int, str] = {
    int(pytest.ExitCode.INTERNAL_ERROR): "internal error",
    int(pytest.ExitCode.INTERRUPTED): "interrupted",
    int(pytest.ExitCode.TESTS_FAILED): "failed",
    int(pytest.ExitCode.USAGE_ERROR): "refused",
    STATUSES["invalid"]: "invalid",
    STATUSES["no_baseline"]: "no baseline",
    STATUSES["inconclusive"]: "inconclusive",
    int(pytest.ExitCode.NO_TESTS_COLLECTED): "no tests",
    int(pytest.ExitCode.OK): "passed",
}
"""What exit statuses mean, the worst first."""
_WIDTH = 90
_ERROR = int(pytest.ExitCode.INTERNAL_ERROR)


def status_of(runs: Runs) -> int:
    """Return the worst exit status; one that was killed counts as an internal error."""
    order = list(_OUTCOMES)
    found = [run.status if run.status in _OUTCOMES else _ERROR for run in runs.by_name.values()]
    return min((status for status in found if status is not None), key=order.index, default=_ERROR)


def summary(runs: Runs, results: Mapping[str, Path], settings: Settings, seconds: float) -> str:
    """Return a table of the devices: how each ended, what was found, and where that is kept."""
    from tabulate import tabulate

    known = {name: _read(file) for name, file in results.items()}
    rows = [(*_ended(run), *_found(run, known.get(name), settings)) for name, run in runs.by_name.items()]
    table = tabulate(
        rows,
        ("device", "outcome", "status", "took", "found", "kept in"),
        tablefmt="simple",
        disable_numparse=True,
    )
    left = [name for name in runs.by_name if _is_open(known.get(name))]
    update = f" --update-baselines={settings.update}".removesuffix("=replace") if settings.update else ""
    go_on = f"\n\nto go on with what is left: --device={','.join(left)} --io-resume{update}"
    told = f"{printable(table)}{go_on if 0 < len(left) < len(rows) else ''}"
    return f"\n{len(rows)} devices, {format_duration(seconds)}\n\n{told}"


def _ended(run: Run) -> tuple[str, str, str, str]:
    if run.status is None:
        return run.name, "not begun", "", ""
    outcome = _OUTCOMES.get(run.status, "killed" if run.status < 0 else "failed")
    return run.name, outcome, str(run.status), format_duration(run.seconds)


def _read(file: Path) -> Results | str:
    """Return the results in a file, or why they cannot be read."""
    from iogate.report.results import Results

    try:
        return Results.read(file)
    except IogateError as error:
        return error.message


def _is_open(results: Results | str | None) -> bool:
    """Return whether something of a device is not decided: the others would be measured anew."""
    return results is None or isinstance(results, str) or not results.run or results.run.unfinished


def _found(run: Run, results: Results | str | None, settings: Settings) -> Iterator[str]:
    """Yield what a device's results say, and their folder; where there are none, why."""
    from iogate.report.headline import headline

    if results is None:
        yield from (textwrap.shorten(run.refusal, _WIDTH) or "nothing was measured", "")
    elif isinstance(results, str):
        yield from (results, "")
    else:
        yield from (headline(results), shown(settings.results / results.session, settings.root))
