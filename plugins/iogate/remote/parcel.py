"""What is sent to a far side: the part of iogate that runs there, as a zip archive in memory."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path

import iogate

_ROOMS = ("audit", "engines", "formats", "host", "judge", "measure", "model", "remote", "target")
_KINDS = (".py", ".c")


@cache
def parcel() -> bytes:
    """Return the archive."""
    top = Path(iogate.__file__).parent
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(top.rglob("*")):
            within = path.relative_to(top)
            if path.suffix in _KINDS and (len(within.parts) == 1 or within.parts[0] in _ROOMS):
                archive.write(path, Path("iogate") / within)
    return packed.getvalue()
