"""Where a session's results come from: what `--io-resume` goes on with was written here, and lately."""

from __future__ import annotations

import time
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from iogate import __version__
from iogate.host import sysfs
from iogate.report.results import Results
from iogate.units import format_duration, printable

OLDEST = 24 * 3600.0
"""Seconds after which verdicts are no longer taken over."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def sealed(results: Results) -> Results:
    """Return a document with its seal: a digest of all that it says, which only this machine can make, until
    it is started again: results that come with a checkout, or from elsewhere, have another one.
    """
    assert results.run
    return replace(results, run=replace(results.run, seal=_seal(results)))


def _seal(results: Results) -> str:
    assert results.run
    unsealed = replace(results, run=replace(results.run, seal=""))
    key = sysfs.text(_BOOT).encode()
    return blake2b("".join(unsealed.digests()).encode(), key=key, digest_size=16).hexdigest()


def hindrance(results: Results, path: Path, commit: str | None) -> str:
    """Return why a session in a file is not gone on with, by a checkout at a commit, which git does not tell
    if it is None; empty if nothing is in the way.
    """
    assert results.run
    run, version = results.run, results.versions.get("iogate", "")
    if not run.unfinished:
        return "was not cut off"
    if version != __version__:
        return printable(f"is of iogate {version or 'of another version'}, and this is {__version__}")
    if run.seal != _seal(results):
        return "was not written on this machine since it was started"
    if commit is None:
        return "may be of another commit: git does not tell that of this checkout (try git rev-parse HEAD)"
    if run.commit != commit:
        return printable(f"is of commit {run.commit[:12] or '(none)'}, and this is {commit[:12] or '(none)'}")
    age = time.time() - path.stat().st_mtime
    return f"was cut off {format_duration(age)} ago" if age > OLDEST else ""
