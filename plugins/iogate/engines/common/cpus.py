"""CPUs and nodes as users name them, and those that this process may use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from iogate.errors import EngineError
from iogate.formats.words import value_text


def numbers_of(text: str) -> list[int]:
    """Return the numbers of a list such as `0-3,8`, in order. Raises ValueError."""
    found: set[int] = set()
    for part in text.replace(" ", "").split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 9:
            raise ValueError(f"{text!r} is not a list such as 0-3,8")
        low, high = int(first), int(last or first)
        if not low <= high < 1024:
            raise ValueError(f"{text!r} is not a list of numbers from 0 to 1023")
        found.update(range(low, high + 1))
    return sorted(found)


def number_list(value: Any) -> str:
    """Return a list of CPUs or nodes, one by one: `0-2,8` -> `0,1,2,8`. Raises ValueError."""
    values = value if isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, (str, int)):
            raise ValueError(f"{value_text(one)} is not a list such as 0-3,8")
    text = ",".join(map(str, values))
    return ",".join(map(str, numbers_of(text)))


def allowed_cpus() -> list[int]:
    """Return the CPUs that this process may use."""
    return sorted(os.sched_getaffinity(0))


def check_pinned(wanted: Sequence[int]) -> None:
    """Raise EngineError for CPUs on which this process cannot run."""
    allowed = allowed_cpus()
    missing = [cpu for cpu in wanted if cpu not in allowed and not _may_move_to(cpu, allowed)]
    if missing:
        there = ", ".join(map(str, allowed))
        raise EngineError(f"pin: there is no CPU {missing[0]} for this process; there are {there}")


def _may_move_to(cpu: int, back: Sequence[int]) -> bool:
    """Return whether the kernel lets this process run on a CPU that it was not begun on, as one that
    `isolcpus=` sets aside for those that ask for it.
    """
    try:
        os.sched_setaffinity(0, [cpu])
    except OSError:
        return False
    os.sched_setaffinity(0, back)
    return True
