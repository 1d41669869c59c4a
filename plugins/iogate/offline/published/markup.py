"""Tables of LaTeX, and list-tables of reStructuredText, as lines with pipes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from iogate.offline.published.forms import LONGEST_LINE

RULE = "|---|"
_BEGIN = re.compile(r"\\begin\{(?:tabular[xy*]?|longtable|longtblr|tblr|array|supertabular)\}")
_END = re.compile(r"\\end\{(?:tabular[xy*]?|longtable|longtblr|tblr|array|supertabular)\}")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|cline\{[^{}]*\}"
    r"|cmidrule(?:\([^()]*\))?\{[^{}]*\}|addlinespace(?:\[[^\[\]]*\])?|rowcolor(?:\[[^\[\]]*\])?\{[^{}]*\})"
)
_COMMENT = re.compile(r"(?<!\\)%.*")
_END_OF_ROW = re.compile(r"\\\\\*?(?:\[[^\[\]]*\])?|\\tabularnewline\b")
_AMPERSAND = re.compile(r"(?<!\\)&")
_SPANNING = re.compile(r"\s*\\multicolumn\{(\d{1,2})\}\{[^{}]*\}")
_MULTIROW = re.compile(r"\\multirow(?:\[[^\[\]]*\])?\{[^{}]*\}(?:\[[^\[\]]*\])?\{[^{}]*\}")
_UNIT = re.compile(r"\\(?:si|unit)\{([^{}]*)\}")
_WITH_UNIT = re.compile(r"\\(?:SI|qty)(?:\[[^\[\]]*\])?\{([^{}]*)\}\{([^{}]*)\}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\[\]]*\])?\{([^{}]*)\}")
_SIGNS = {
    r"\%": "%",
    r"\_": "_",
    r"\&": "&",
    r"\#": "#",
    r"\$": "$",
    "~": " ",
    r"\,": "",
    r"\;": "",
    r"\!": "",
}
_OF_UNITS = {  # of siunitx, in which words stand for parts of a unit
    "nano": "n",
    "micro": "µ",
    "milli": "m",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
    "byte": "B",
    "bit": "bit",
    "second": "s",
    "per": "/",
    "ns": "ns",
    "us": "µs",
    "ms": "ms",
    "s": "s",
    "percent": "%",
}
_WORDS = {"times": "x", "mu": "µ", "micro": "µ", "pm": "±", "textmu": "µ", "approx": "~", "slash": "/"}
_KNOWN = re.compile(rf"\\({'|'.join(_WORDS)})(?![a-zA-Z])")
_NESTED = 4  # commands within one another
_CAPTION = re.compile(r"\s*\\caption(?:\[[^\[\]]*\])?\{(.*?)\}?\s*$")
_LIST_TABLE = re.compile(r"(\s*)\.\. list-table::(.*)")
_ITEM = re.compile(r"(\s*)\* +-(?: (.*))?$")
_CELL = re.compile(r"(\s*)-(?: (.*))?$")


@dataclass(frozen=True)
class Rewritten:
    """A text's lines, in which each row of such a table is one with pipes in its first line; of the lines in
    `joined` the text is in the one above, and those in `heads` are headings.
    """

    texts: list[str]
    joined: set[int] = field(default_factory=set)
    heads: set[int] = field(default_factory=set)


def rewritten(texts: Sequence[str]) -> Rewritten:
    """Return the lines of a text, in which tables of LaTeX and list-tables have pipes."""
    made = Rewritten([*texts])
    if any("\\begin{" in text for text in texts):
        _rewrite_latex(made)
    if any("list-table::" in text for text in texts):
        _rewrite_lists(made)
    return made


def _rewrite_latex(made: Rewritten) -> None:
    """Rewrite tables that have an end; what is not called one is none."""
    begun = None
    for index, text in enumerate(made.texts):
        if _END.search(text) and begun is not None:
            _rewrite_table(made, begun, index)
            begun = None
        elif _BEGIN.search(text):
            begun = index
        elif caption := _CAPTION.match(text[:LONGEST_LINE]):
            made.texts[index] = _plain(caption[1])


def _rewrite_table(made: Rewritten, begun: int, end: int) -> None:
    """Rewrite the lines between these two; the last row may be without the mark that ends one."""
    row, first = "", 0
    for index in range(begun + 1, end):
        line = _COMMENT.sub("", made.texts[index][:LONGEST_LINE])
        plain = _RULES.sub("", line)
        made.texts[index] = RULE if plain != line and not plain.strip() and not row else ""
        if not plain.strip():
            continue
        if row:
            made.joined.add(index + 1)
        else:
            first = index
        row = f"{row} {plain}"[:LONGEST_LINE]
        if _END_OF_ROW.search(plain):
            made.texts[first] = _row(list(_cells(_END_OF_ROW.split(row)[0])))
            row = ""
    if row:
        made.texts[first] = _row(list(_cells(row)))
    made.texts[begun] = made.texts[end] = ""


def _cells(row: str) -> Iterator[str]:
    """Yield the cells of a row of LaTeX; one that spans several is followed by empty ones."""
    for cell in _AMPERSAND.split(row):
        spans = _SPANNING.match(cell)
        yield _plain(cell[spans.end() :] if spans else cell)
        if spans:
            yield from [""] * (int(spans[1]) - 1)


def _plain(cell: str) -> str:
    """Return a cell of LaTeX without its commands."""
    cell = _WITH_UNIT.sub(r"\1 \\unit{\2}", _MULTIROW.sub("", cell))
    cell = _UNIT.sub(lambda unit: _unit(unit[1]), cell)
    for sign, text in _SIGNS.items():
        cell = cell.replace(sign, text)
    cell = _KNOWN.sub(lambda word: _WORDS[word[1]], cell)
    for _ in range(_NESTED):
        cell = _COMMAND.sub(r"\1", cell)
    cell = re.sub(r"\\[a-zA-Z]+", "", cell)
    return re.sub(r"[{}$]", "", cell).strip()


def _unit(text: str) -> str:
    """Return a unit of siunitx as people write it; `~` and `.` part its symbols."""
    return re.sub(r"\\([a-zA-Z]+) ?", lambda word: _OF_UNITS.get(word[1], word[0]), text)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _rewrite_lists(made: Rewritten) -> None:
    indent, heads, cells, begun = -1, 0, [""], 0
    for index, text in enumerate([*made.texts, "end"]):
        own = len(text) - len(text.lstrip())
        item, cell = _ITEM.match(text), _CELL.match(text)
        if indent >= 0 and (item or (text.strip() and own <= indent)) and begun:
            made.texts[begun - 1] = _row(cells)
            if heads > 0:
                made.heads.add(begun)
            heads, begun = heads - 1, 0
        if directive := _LIST_TABLE.match(text):
            indent, heads = len(directive[1]), 0
            made.texts[index] = directive[2].strip()
        elif text.strip() and own <= indent:
            indent = -1
        elif indent >= 0 and item:
            begun, cells = index + 1, [(item[2] or "").strip()]
        elif indent >= 0 and begun and text.strip():
            if cell:
                cells.append((cell[2] or "").strip())
            else:
                cells[-1] = f"{cells[-1]} {text.strip()}".strip()[:LONGEST_LINE]
            made.joined.add(index + 1)
            made.texts[index] = ""
        elif indent >= 0 and text.strip():
            found = re.match(r"\s*:header-rows: *(\d{1,2})\s*$", text)
            heads = int(found[1]) if found else heads
            made.texts[index] = ""
