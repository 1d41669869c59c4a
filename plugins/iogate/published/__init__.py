"""`iogate audit FILE...`: what stands of figures that exist already.

A file may be an engine's output (fio's JSON or text, iozone's text) or prose with such outputs and tables in
it. Nothing is known of the machine, so the figures are held against each other and against nature.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from iogate.engines import _fio_text, _iozone_text
from iogate.errors import InputError, OutputError
from iogate.published import across, clocks, outputs, report, rows, tables
from iogate.published.doubts import Doubt
from iogate.published.jobs import descriptions
from iogate.published.outputs import Piece
from iogate.units import printable

__all__ = ["Piece", "audit_files", "pieces"]

_LARGEST = 64 * 2**20


def audit_files(paths: Sequence[Path], *, link: float | None = None) -> tuple[str, int]:
    """What stands in existing outputs and what does not, as text, with an exit status.

    `link` is the limit of the device's link in B/s, if the caller knows it. The status is 1 if any figure
    does not stand or a file cannot be understood, else 0. Whatever is wrong with a file is in the text.
    """
    texts, status = [], 0
    for path in paths:
        try:
            found = pieces(_read(path), str(path), link=link)
        except (InputError, OutputError) as error:
            texts.append(str(error))
            status = 1
            continue
        texts.append(report.text(str(path), found))
        if any(doubt.severity == "invalid" for piece in found for doubt in piece.doubts):
            status = 1
    return printable("\n\n".join(texts)), status


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise InputError(f"{path}: is larger than {_LARGEST >> 20} MiB")
    return data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def pieces(text: str, name: str, *, link: float | None = None) -> list[Piece]:
    """All parts of a text that have figures, in its order, each with the doubts about it.

    Raises OutputError if there are none, or if an output in it cannot be read.
    """
    if '"fio version"' in text:
        return outputs.fio_json(text, 1, name, link)
    lines = text.split("\n")
    described = descriptions(lines)
    found: list[Piece] = []
    for line, block in _fio_text.blocks(text):
        found += outputs.fio_text(block, line, name, link, described)
        _blank(lines, line, block)
    for line, block in _iozone_text.blocks("\n".join(lines)):
        found += outputs.iozone(block, line, name, link)
        _blank(lines, line, block)
    read = tables.tables(lines)
    elsewhere = across.rates(text)
    late = list(clocks.whole_seconds(read, clocks.sizes(lines)))
    context = rows.Context(tuple(described), link)
    found += [_table_piece(table, context, late, elsewhere) for table in read]
    if not found:
        raise OutputError(
            f"{name}: has no figures that can be audited",
            remedy="known are fio's JSON and text, iozone -t, and tables with IOPS, bandwidth or latency",
        )
    return sorted(found, key=lambda piece: piece.line)


def _blank(lines: list[str], first: int, block: str) -> None:
    """Take the lines of a block out of what is still to be read, keeping the numbers of the others."""
    for index in range(first - 1, min(len(lines), first - 1 + block.count("\n") + 1)):
        lines[index] = ""


def _table_piece(
    table: tables.Table, context: rows.Context, late: Iterable[Doubt], elsewhere: across.Elsewhere
) -> Piece:
    own = {row.line for row in table.rows}
    doubts = [doubt for row in table.rows for doubt in rows.check(row, context)]
    doubts += [doubt for doubt in late if doubt.line in own]
    clashes = list(across.clashes(table, elsewhere))
    explained = {doubt.line for doubt in clashes}  # a wrong unit explains an impossible speed
    doubts = [doubt for doubt in doubts if doubt.rule != "link_limit" or doubt.line not in explained]
    doubts += [*clashes, *across.ceilings(table)]
    kinds = frozenset(figure.kind for row in table.rows for figure in row.figures)
    figures = f"{len(table.rows)} rows of {', '.join(sorted(kinds))}"
    what = "table" + (f" {table.title[:60]!r}" if table.title else "")
    return Piece(table.line, what, figures, kinds, tuple(doubts), len(table.rows))
