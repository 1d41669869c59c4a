"""`iogate device list`: the profiles, and what is known of each device."""

from __future__ import annotations

from pathlib import Path

from iogate.declare.device import known_devices, load_device
from iogate.declare.project import find_project
from iogate.errors import IogateError
from iogate.judge.baseline import load_baselines, load_sessions
from iogate.judge.baseline.places import baseline_files
from iogate.offline.ages import age_text, newest
from iogate.units import no_commands, plural


def listing(baselines: Path | None = None) -> tuple[str, int]:
    """Return a table of the devices with a profile, `local` always among them, and an exit status: 1 if a
    profile or a baseline cannot be read, whose reason is below the table then.
    """
    from tabulate import tabulate

    folder = baselines or find_project(Path.cwd(), Path.cwd()).baselines
    problems: list[str] = []
    rows = [_row(name, folder, problems) for name in known_devices(folder)]
    headers = ("device", "target", "suites", "baselines", "newest")
    table = tabulate(rows, headers, tablefmt="simple", disable_numparse=True)
    return no_commands("\n".join([table, *(["", *problems] if problems else [])])), int(bool(problems))


def _row(name: str, baselines: Path, problems: list[str]) -> tuple[str, ...]:
    try:
        device = load_device(name, baselines)
    except IogateError as error:
        problems.append(str(error))
        return (name, "refused: see below", "", *_known(baselines / name, problems))
    return (
        name,
        device.target,
        ", ".join(device.suites) or "all",
        *_known(baselines / name, problems),
    )


def _known(folder: Path, problems: list[str]) -> tuple[str, str]:
    """Return how much is known of a device, and how old the newest of it is."""
    workloads, published = 0, 0
    sessions: set[str] = set()
    for path, suite in baseline_files(folder):
        try:
            found = load_baselines(path, suite).values()
            sessions |= load_sessions(path, suite).keys()
        except IogateError as error:
            problems.append(str(error))
            continue
        published += sum(one.published for one in found)
        workloads += len(found)
    if not workloads:
        return "none", ""
    told = [plural(workloads, "workload")]
    if published:
        told.append("published" if published == workloads else f"{published} of them published")
    told += [plural(len(sessions), "session")] if sessions else []
    return ", ".join(told), age_text(newest(sessions)) if sessions else ""
