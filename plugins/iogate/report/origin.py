"""Where a session's results come from: what `--io-resume` goes on with was written here, and lately."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from iogate import __version__
from iogate.host import sysfs
from iogate.report.results import Results, WorkloadRecord
from iogate.units import format_duration, printable

OLDEST = 24 * 3600.0
"""Seconds after which verdicts are no longer taken over."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def seal(session: str, commit: str, records: Iterable[WorkloadRecord]) -> str:
    """Return a digest of a session's name, commit and verdicts that only this machine can make, until it is
    started again: results that come with a checkout, or from elsewhere, have another one.
    """
    said = [session, commit, [[item.id, item.verdict, item.keep] for item in records]]
    return blake2b(json.dumps(said).encode(), key=sysfs.text(_BOOT).encode(), digest_size=16).hexdigest()


def hindrance(results: Results, path: Path, commit: str) -> str:
    """Return why a session in a file is not gone on with, by a checkout at a commit; empty if nothing is in
    the way.
    """
    assert results.run
    run, version = results.run, results.versions.get("iogate", "")
    if run.ended and not run.open:
        return "was not cut off"
    if version != __version__:
        return printable(f"is of iogate {version or 'of another version'}, and this is {__version__}")
    if run.seal != seal(results.session, run.commit, results.workloads):
        return "was not written on this machine since it was started"
    if run.commit != commit:
        return printable(f"is of commit {run.commit[:12] or '(none)'}, and this is {commit[:12] or '(none)'}")
    age = time.time() - path.stat().st_mtime
    return f"was cut off {format_duration(age)} ago" if age > OLDEST else ""
