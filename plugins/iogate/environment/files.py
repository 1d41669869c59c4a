"""Small files of the kernel, read as text; what cannot be read is empty."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from iogate.units import printable

_PLACEHOLDERS = re.compile(
    r"to be filled.*|default string|system (serial number|product name|manufacturer)"
    r"|not (specified|applicable)|none|unknown|n/?a|x*|[0-]*",
    re.IGNORECASE,
)
_LONGEST = 200


def read(file: Path) -> str:
    """A small text file, stripped, to its first NUL (the device tree ends text so); empty if unreadable."""
    try:
        data = file.read_bytes()
    except (OSError, ValueError):
        return ""
    return data.split(b"\0")[0].decode("utf-8", errors="replace").strip()


def lines(file: Path) -> list[str]:
    """The lines of a small text file."""
    return read(file).splitlines()


def fields(file: Path) -> dict[str, str]:
    """The first value of each `name : value` in a file."""
    found: dict[str, str] = {}
    for line in lines(file):
        name, separator, value = line.partition(":")
        if separator:
            found.setdefault(name.strip(), value.strip())
    return found


def words(*files: Path) -> str:
    """What the firmware says, without what its maker forgot to fill in."""
    return " ".join(text for file in files if not _PLACEHOLDERS.fullmatch(text := read(file)))


def listing(folder: Path, pattern: str) -> list[Path]:
    """What of a folder matches, in order; nothing if it cannot be read."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def number(text: str) -> bool:
    """True for a plain decimal number."""
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def known(facts: Mapping[str, str]) -> dict[str, str]:
    """The facts that are known, each as one line that can be shown."""
    cleaned = {name: printable(" ".join(text.split()))[:_LONGEST] for name, text in facts.items()}
    return {name: text for name, text in cleaned.items() if text}


def hottest(files: Iterable[Path]) -> str:
    """The highest temperature of sensors that tell thousandths of a degree, without broken ones."""
    values = [float(text) / 1000 for file in files if number(text := read(file))]
    plausible = [value for value in values if -40 < value < 150]
    return f"{max(plausible):.0f} °C" if plausible else ""
