"""What the audit of a file found, as text for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from iogate.model import Severity
from iogate.offline.published.outputs import Piece

_SHOWN = 3
_SPANS_SHOWN = 12
_ORDER: tuple[Severity, ...] = ("invalid", "suspect", "note")
_TITLES = ("stands", "nothing to hold against", "doubtful", "does not stand")
_NAMES = {"lat": "latency", "slat": "latency", "clat": "latency", "iops": "IOPS"}


def text(name: str, found: Sequence[Piece]) -> str:
    """Return all pieces of a file: what each is, what stands of it, and the evidence against the rest."""
    return "\n".join(line for piece in found for line in _piece(name, piece))


def _piece(name: str, piece: Piece) -> list[str]:
    lines = [f"{name}:{piece.line}: {piece.what}: {piece.figures}"]
    lines += [f"    {line}" for line in _verdict(piece)]
    ordered = sorted(piece.findings, key=lambda finding: (_ORDER.index(finding.severity), finding.check))
    for (severity, check), group in groupby(ordered, key=lambda finding: (finding.severity, finding.check)):
        findings = sorted(group, key=lambda finding: finding.line)
        shown = len(findings) if len(findings) <= _SHOWN + 1 else _SHOWN
        for finding in findings[:shown]:
            where = f"line {finding.line}: " if piece.rows > 1 else ""
            lines.append(f"    {severity:8}{check}: {where}{finding.message}")
        if len(findings) > shown:
            rest = sorted({finding.line for finding in findings[shown:]})
            lines.append(f"    {'':8}... and {len(findings) - shown} more like these, lines {_spans(rest)}")
    return lines


def _verdict(piece: Piece) -> list[str]:
    """Return what stands, what nothing was held against, what is doubtful and what does not stand, each kind
    of figure with its number of rows.
    """
    wrong, doubtful = _lines(piece, "invalid"), _lines(piece, "suspect")
    groups: dict[str, list[str]] = {title: [] for title in _TITLES}
    for kind in sorted({*_kind_names(piece.kinds), *wrong, *doubtful}):
        bad = wrong.get(kind, set())
        unsure = doubtful.get(kind, set()) - bad
        unasked = {line for line, kinds in piece.unheld.items() if kind in _kind_names(kinds)} - bad - unsure
        good = max(0, _having(piece, kind) - len(bad) - len(unsure) - len(unasked))
        for title, count in zip(_TITLES, (good, len(unasked), len(unsure), len(bad)), strict=True):
            if count:
                groups[title].append(f"{kind} ({count} of {piece.rows} rows)" if piece.rows > 1 else kind)
    return [f"{title}: {', '.join(kinds)}" for title, kinds in groups.items() if kinds]


def _having(piece: Piece, name: str) -> int:
    """Return how many rows have figures of a kind, by its name for people."""
    kinds = [kind for kind in piece.kinds if _NAMES.get(kind, kind) == name]
    return max((piece.rows_of.get(kind, piece.rows) for kind in kinds), default=0)


def _lines(piece: Piece, severity: str) -> dict[str, set[int]]:
    """Return the lines by kind of figure that findings of a severity concern."""
    found: dict[str, set[int]] = {}
    known = _kind_names(piece.kinds)
    for finding in piece.findings:
        if finding.severity == severity:
            for kind in _kind_names(finding.kinds):
                if kind in known or len(finding.kinds) == 1:
                    found.setdefault(kind, set()).add(finding.line)
    return found


def _kind_names(kinds: frozenset[str]) -> list[str]:
    return sorted({_NAMES.get(kind, kind) for kind in kinds})


def _spans(lines: Sequence[int]) -> str:
    """Return line numbers, neighbours joined: 3, 5-9."""
    spans: list[list[int]] = []
    for line in lines:
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    shown = [f"{first}-{last}" if last > first else str(first) for first, last in spans]
    if len(shown) > _SPANS_SHOWN:
        shown = [*shown[: _SPANS_SHOWN - 1], f"... {shown[-1]}"]
    return ", ".join(shown)
