"""Text of others within Markdown: as a code span there is neither HTML in it nor a mention, link, or
reference (CommonMark 0.31, 6.1; GFM, tables).
"""

from __future__ import annotations

import re

from iogate.units import printable

TICKS = re.compile("`+")
_HARMLESS = re.compile(r"(?!.*(?://|www\.|GH-))[-+.,;%()' /a-zA-Z0-9µ]*")


def code(text: str) -> str:
    """Return text as a code span on one line; empty if there is none."""
    text = " ".join(printable(text).split())
    if not text:
        return ""
    fence = "`" * (1 + max(map(len, TICKS.findall(text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def code_cell(text: str) -> str:
    """Return text as a code span within a cell of a table."""
    return code(text).replace("|", "\\|")


def cell(text: str) -> str:
    """Return text for a cell of a table: as it is if Markdown means nothing by it, else as a code span."""
    text = " ".join(printable(text).split())
    return text if _HARMLESS.fullmatch(text) else code_cell(text)
