"""The passes of one repetition: a list of threads makes one for each number of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def counts(options: Mapping[str, Any]) -> list[int]:
    """Return the numbers of threads of each pass."""
    threads = options["threads"]
    return list(threads) if isinstance(threads, list) else [int(threads)]


def prefix(threads: int) -> str:
    """Return what the metrics of one point of a scaling curve begin with."""
    return f"threads_{threads}."
