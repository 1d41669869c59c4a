"""A report of sessions that were kept: made again at any time, as it reads their results and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from iogate.declare.project import find_project
from iogate.errors import InputError
from iogate.offline.history import device_folders
from iogate.offline.kept import kept_sessions, last_session
from iogate.report.history import LeftOut, MetricHistory, collect, series
from iogate.report.html.place import HtmlFile
from iogate.report.loading import load_sessions, results_files
from iogate.units import format_quantity, one_line, plural

USUAL = Path("report.html")
"""Where a report is written if nobody names a place."""


def write_report(paths: Sequence[Path], output: Path | None = None, *, with_history: bool = False) -> str:
    """Write the report of results files, or of the project's last session, and say so; `with_history` adds
    the metrics over all these sessions (without `paths`: all that are kept) and those of the baselines.

    Raises IogateError for results that cannot be read, and for an output that must not be replaced.
    """
    output = _usual() if output is None else output
    place = HtmlFile(output)
    sessions = load_sessions(paths or [last_session()])
    past = _past(paths, {one.device for one in sessions}) if with_history else ([], [])
    size = place.finish(sessions, *past)
    told = plural(len(sessions), "session")
    return one_line(f"{output}: {told}, {format_quantity(size, 'B')}")


def _usual() -> Path:
    """Return the place that nobody named. Raises InputError for a link, which in a stranger's repository may
    lead to any place of this user.
    """
    if USUAL.is_symlink():
        raise InputError(
            f"{USUAL} is a symbolic link, and nobody named it: it is not followed",
            remedy=f"remove it, or name the file: -o {USUAL}",
        )
    return USUAL


def _past(paths: Sequence[Path], devices: Collection[str]) -> tuple[list[MetricHistory], list[LeftOut]]:
    """Return the histories of devices, by these files or what the project has kept, and its baselines."""
    project = find_project(Path.cwd(), Path.cwd())
    folders = [folder for folder in device_folders(project.baselines) if folder.name in devices]
    found = collect(results_files(paths or [kept_sessions()]), folders)
    own = tuple(item for item in found.measured if item.session.device in devices)
    return series(replace(found, measured=own))
