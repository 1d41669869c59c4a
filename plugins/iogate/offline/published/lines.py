"""The lines of a text, as tables in it are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from iogate.offline.published.forms import is_rule
from iogate.offline.published.markup import rewritten

_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_FRAMES = {
    **dict.fromkeys(range(0x2500, 0x2580), "+"),  # Unicode's block "Box Drawing": corners, where lines cross
    **dict.fromkeys(map(ord, "─━┄┅┈┉╌╍═╴╶╸╺"), "-"),
    **dict.fromkeys(map(ord, "│┃┆┇┊┋╎╏║╵╷╹╻"), "|"),
}
_JIRA = re.compile(r"\|\|(?:(?:[^|\\]|\\.)+\|\|)+")
"""A line of headings, as Jira and Confluence have it."""


@dataclass(frozen=True)
class Lines:
    """The lines of a text, with frames as pipes and without marks of quotes, and the numbers of those that
    are marked as headings, by a rule below them or by their pipes. What stood in those that are `joined` is
    in a line above.
    """

    texts: Sequence[str]
    heads: frozenset[int]
    joined: frozenset[int] = frozenset()


def plain(texts: Sequence[str]) -> Lines:
    """Return lines as they are read."""
    made = rewritten(texts)
    lines: list[str] = []
    heads = made.heads
    block: list[int] = []
    of_jira = False
    for number, text in enumerate(made.texts, 1):
        line = text.translate(_FRAMES)
        if found := _QUOTE.match(line):
            line = line[found.end() :]
        if jira := _JIRA.fullmatch(line.strip()) is not None:
            line = line.replace("||", "|")
            heads.add(number)
        elif of_jira and line.lstrip().startswith("||"):  # a heading of a row
            line = line.replace("||", "|", 1)
        if is_rule(line):
            if len(block) == 1 and ("|" in line or "+" in line):  # in a grid there are rules below rows, too
                heads.update(block)
            if lines and is_rule(lines[-1]):  # the end of a frame, and the begin of the next one
                block = []
        elif line.count("|") >= 2:
            block.append(number)
        else:
            block = []
        of_jira = jira or (of_jira and bool(block))
        lines.append(line)
    return Lines(lines, frozenset(heads), frozenset(made.joined))
