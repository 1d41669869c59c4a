"""Where iogate keeps what it remembers of devices: in no checkout, which others clean, or have several of."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return iogate's folder in this user's for what programs remember (XDG Base Directory Specification).
    Raises RuntimeError if this user has no home.
    """
    named = os.environ.get("XDG_STATE_HOME", "")
    return (Path(named) if named.startswith("/") else Path.home() / ".local" / "state") / "iogate"
