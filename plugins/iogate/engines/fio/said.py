"""What fio said in words, beside its figures."""

from __future__ import annotations

import re

from iogate.host.process import Completed
from iogate.units import printable

_SHOWN = 600
_WORD = re.compile(r"[A-Za-z]{2}")


def messages(text: str, completed: Completed | None) -> str:
    """Return what fio said in words, as a tail for a message."""
    parts = [text.partition("\n{")[0], completed.stderr, completed.stdout] if completed else [text]
    lines = [line.strip() for part in parts for line in part.splitlines()]
    words = [line for line in lines if line and not line.startswith("{")]
    shown = printable("; ".join(dict.fromkeys(words)))
    return f": {shown[:_SHOWN]}{'...' if len(shown) > _SHOWN else ''}" if shown else ""


def remarks(*texts: str) -> tuple[str, ...]:
    """Return what fio said beside its figures and its progress, each line once."""
    lines = [line.strip() for text in texts for line in text.splitlines()]
    lines = list(dict.fromkeys(filter(None, lines)))
    if not lines:
        return ()
    from iogate.engines.fio.text_lines import of_report  # has much to compile, and few runs need it

    return tuple(printable(line) for line in lines if _WORD.search(line) and not of_report(line))
