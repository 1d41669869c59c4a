"""How many disks were at work, by the words beside figures: the limit of one disk holds for one alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_DISKS = r"(?:drive|disk|ssd|hdd|nvme|device)"
_OTHERS = (
    r"(?:client|vm|host|node|server|gpu|lun|target|os[dt]|volume|pod|instance|controller|namespace|container"
    r"|port|rank|initiator|member|machine|dpu)"
)
_NUMBER = r"(?<![\w.,])(\d{1,4}|two|three|four|five|six|eight|ten|twelve|sixteen|several|multiple)"
_BETWEEN = (  # which disks; no other things that are counted, or sizes
    r"(?:(?!(?:on|of|per|in|to|by|with|and|jobs?|threads?|streams?|reads?|writes?|[kmg]i?b)\b)"
    r"[\w./-]{1,30} ){0,3}"
)
_COUNTED = re.compile(
    rf"{_NUMBER}(?: |-)(?:[x×] )?{_BETWEEN}(?:({_DISKS})|{_OTHERS})s\b"
    rf"|{_NUMBER} ?[x×] ?{_BETWEEN}(?:({_DISKS})|{_OTHERS})s?\b"
)
_JOINED = re.compile(
    r"\b(?:raid[- ]?\w*|arrays?|clusters?|clustered|jbo[df]|san|zpool|md\d+|striped|lustre|gpfs)\b"
    r"|(?<![\w.])\d{1,3} ?[x×] ?(?:[a-z-]{1,20} ){0,2}(?!qd?\d|[tnj]\d|gen\d)[a-z]{1,6}-?\d{1,5}"  # 8x PM1743
)


@dataclass(frozen=True)
class AtWork:
    """What words say: how many `disks` (1: nothing of several), whether they were `joined`, as in an array,
    and whether there were several `others`, as hosts, with who knows how many disks each.
    """

    disks: int = 1
    joined: bool = False
    others: bool = False

    @property
    def links(self) -> float:
        """How many links there were to disks; infinite where several, and it is not known how many."""
        if self.others or (self.joined and self.disks == 1):
            return math.inf
        return self.disks


@lru_cache(maxsize=1024)
def at_work(text: str) -> AtWork:
    """Return what a text says of how many were at work."""
    text = text.lower()
    disks, others = 1, False
    for number, disk, times, disk_of_times in _COUNTED.findall(text):
        known = number or times
        count = int(known) if known.isdecimal() else 0
        if disk or disk_of_times:
            others = others or not count
            disks = max(disks, count)
        elif count != 1:
            others = True
    return AtWork(disks, _JOINED.search(text) is not None, others)


def together(said: Iterable[AtWork]) -> AtWork:
    """Return what several texts say of the same figures."""
    said = [*said]
    return AtWork(
        max((one.disks for one in said), default=1),
        any(one.joined for one in said),
        any(one.others for one in said),
    )
