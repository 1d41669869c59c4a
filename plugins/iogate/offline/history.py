"""`iogate history`: each gating metric over the sessions of a project, or of files that are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from iogate.declare.project import find_project
from iogate.errors import InputError
from iogate.offline.kept import kept_sessions
from iogate.report.history import collect, series
from iogate.report.history.document import history_json
from iogate.report.history.words import history_text, left_out_lines
from iogate.report.loading import results_files


def history(
    paths: Sequence[Path],
    *,
    device: str = "",
    workloads: Sequence[str] = (),
    baselines: Path | None = None,
    by_session: bool = False,
    as_json: bool = False,
) -> tuple[str, int]:
    """Return the histories as text or JSON, and an exit status: 1 if a file could not be read.

    Without `paths` the sessions kept by the project are taken, and in any case those of its baselines.
    Raises InputError where there is nothing to show.
    """
    project = find_project(Path.cwd(), Path.cwd())
    kept = kept_sessions()
    files = results_files(paths) if paths else results_files([kept]) if kept.is_dir() else []
    known = device_folders(baselines or project.baselines)
    folders = [folder for folder in known if device in ("", folder.name)]
    found = collect(files, folders, device)
    if workloads:
        chosen = (one for one in found.measured if any(fnmatchcase(one.workload, name) for name in workloads))
        found = replace(found, measured=tuple(chosen))
    histories, left_out = series(found)
    if not histories:
        where = f"{kept} and {baselines or project.baselines}" if not paths else ", ".join(map(str, paths))
        raise InputError(
            "\n  ".join([f"no session to show in {where}", *left_out_lines(left_out)]),
            remedy="name results files or folders of sessions, or run pytest first",
        )
    text = (
        history_json(histories, left_out)
        if as_json
        else history_text(histories, left_out, by_session=by_session)
    )
    return text, int(bool(found.unreadable))


def device_folders(baselines: Path) -> list[Path]:
    """Return the folders of devices with baselines. What results call a device is no path: it is compared
    with their names.
    """
    return [one for one in sorted(baselines.iterdir()) if one.is_dir()] if baselines.is_dir() else []
