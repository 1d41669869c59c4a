"""Sentences that say the same of several workloads, but for the figures, are told once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from iogate.units import some_of

_NAMED = 3
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?: (?:[mnµ]?s|[KMGT]?i?B(?:/s)?)\b)?")


def told_once(said: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield for each kind of sentence said of workloads, given as (workload, sentence), of whom it is said
    and the first of them; the figures of the others may differ, and it says so.
    """
    found: dict[str, dict[str, str]] = {}
    for name, text in said:
        found.setdefault(_NUMBER.sub("", text), {}).setdefault(name, text)
    for texts in found.values():
        names, told = list(texts), list(dict.fromkeys(texts.values()))
        yield who(names), told[0] + ("" if len(told) == 1 else f" (so {names[0]}; the others alike)")


def who(names: list[str]) -> str:
    """Return the names of workloads, at most three of them."""
    if len(names) == 1:
        return names[0]
    return f"{len(names)} workloads ({some_of(names, _NAMED)})"
