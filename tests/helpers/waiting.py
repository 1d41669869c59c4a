"""Waiting for what others bring about."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def eventually(condition: Callable[[], Found], patience: float = 60.0) -> Found:
    """Wait until it holds; what it then gives. A folder that goes while it is looked through is no answer."""
    deadline = time.monotonic() + patience
    while True:
        with contextlib.suppress(FileNotFoundError):
            if found := condition():
                return found
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.005)
