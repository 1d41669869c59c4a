"""Small files of the kernel as facts that can be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from iogate.host import sysfs
from iogate.units import printable

_PLACEHOLDERS = re.compile(
    r"to be filled.*|default string|system (serial number|product name|manufacturer)"
    r"|not (specified|applicable)|none|unknown|n/?a|x*|[0-]*|0?123456789(0|abcdef)?",
    re.IGNORECASE,
)
_LONGEST = 200


def lines(file: Path) -> list[str]:
    """Return the lines of a small text file."""
    return sysfs.text(file).splitlines()


def fields(file: Path) -> dict[str, str]:
    """Return the first value of each `name : value` in a file."""
    found: dict[str, str] = {}
    for line in lines(file):
        name, separator, value = line.partition(":")
        if separator:
            found.setdefault(name.strip(), value.strip())
    return found


def words(*files: Path) -> str:
    """Return what the firmware says, without what its maker forgot to fill in."""
    return " ".join(text for file in files if not _PLACEHOLDERS.fullmatch(text := sysfs.text(file)))


def number(text: str) -> bool:
    """Return True for a plain decimal number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def known_facts(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the facts that are known, each as one line that can be shown."""
    cleaned = {name: printable(" ".join(text.split()))[:_LONGEST] for name, text in facts.items()}
    return {name: text for name, text in cleaned.items() if text}


def hottest(files: Iterable[Path]) -> str:
    """Return the highest temperature of sensors that tell thousandths of a degree, without broken ones."""
    values = [float(text) / 1000 for file in files if number(text := sysfs.text(file))]
    plausible = [value for value in values if -40 < value < 150]
    return f"{max(plausible):.0f} °C" if plausible else ""
