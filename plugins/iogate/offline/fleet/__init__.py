"""`iogate fleet`: many devices of one model, held against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from iogate.offline.fleet.document import fleet_json
from iogate.offline.fleet.finding import fleet_of
from iogate.offline.fleet.words import fleet_text
from iogate.report.history import collect
from iogate.report.loading import results_files


def fleet(
    paths: Sequence[Path],
    *,
    tolerance: float | None = None,
    workloads: Sequence[str] = (),
    by_device: bool = False,
    as_json: bool = False,
    baseline: str = "",
    baselines: Path | None = None,
    replace: bool = False,
) -> tuple[str, int]:
    """Return a fleet as text or JSON, and an exit status: 1 if a device stands out by more than the
    tolerance, or a file could not be read. With `baseline` the
    baseline of that name is written. Raises InputError where there are no two devices to compare, and
    IogateError if nothing was written.
    """
    found = fleet_of(collect(results_files(paths)), tolerance=tolerance, workloads=workloads)
    text = fleet_json(found) if as_json else fleet_text(found, by_device=by_device)
    if baseline:
        from iogate.offline.fleet.baseline import write_baseline

        written = write_baseline(found, baseline, baselines, replace=replace)
        text += "" if as_json else f"\n\nThe baseline of this fleet\n\n{written}"
    return text, int(bool(found.unreadable or found.standing_out("slower", "beyond tolerance")))
