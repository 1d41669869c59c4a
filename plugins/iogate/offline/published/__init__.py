"""`iogate audit FILE...`: what stands of figures that exist already.

A file may be an engine's output, or prose with such outputs and tables in it, in Markdown, HTML, LaTeX,
reStructuredText, CSV, frames, columns of blanks, or as CrystalDiskMark saves them. Little is known of the
machine, so the figures are held against each other and against nature.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from iogate import engines
from iogate.errors import InputError, OutputError
from iogate.offline.outputs import read_bytes, text_of
from iogate.offline.published import across, clocks, outputs, report, rows, tables
from iogate.offline.published.context import Context, clients_in, jobs_in, names_several
from iogate.offline.published.crystal_disk_mark import crystal_tables
from iogate.offline.published.findings import FigureFinding
from iogate.offline.published.held import held_kinds
from iogate.offline.published.html_tables import read_html
from iogate.offline.published.latencies import with_jobs
from iogate.offline.published.outputs import Machine, Piece
from iogate.offline.published.wiki_tables import as_html
from iogate.units import no_commands, plural

__all__ = ["Machine", "Piece", "audit_files", "pieces"]

_UNKNOWN = Machine()


def audit_files(paths: Sequence[Path], machine: Machine = _UNKNOWN) -> tuple[str, int]:
    """Return what stands in existing outputs and what does not, as text, with an exit status.

    `machine` is what the caller knows of it. The status is 1 if any figure
    does not stand or a file cannot be understood, else 0. Whatever is wrong with a file is in the text.
    """
    texts, status = [], 0
    for path in paths:
        try:
            found = pieces(text_of(read_bytes(path)), str(path), machine)
        except (InputError, OutputError) as error:
            texts.append(str(error))
            status = 1
            continue
        texts.append(report.text(str(path), found))
        if any(finding.severity == "invalid" for piece in found for finding in piece.findings):
            status = 1
    return no_commands("\n\n".join(texts)), status


def pieces(text: str, name: str, machine: Machine = _UNKNOWN) -> list[Piece]:
    """Return all parts of a text that have figures, in its order, each with the findings about it.

    A run that cannot be used is one of them. Raises OutputError if there is nothing else, or nothing at all.
    """
    several = names_several(text)
    text, in_html = read_html(as_html(text))
    lines = text.split("\n")
    described = outputs.descriptions(lines)
    jobs = outputs.by_name(described)
    found: list[Piece] = []
    for engine in engines.recognise(text):
        for line, block in outputs.blocks(engine, "\n".join(lines)):
            found += outputs.pieces(engine, block, line, name, machine, jobs)
            _blank(lines, line, block, keep="" if outputs.are_parts(engine) else "|")
    read = tables.tables(lines, [*in_html, *crystal_tables(lines)])
    elsewhere = across.rates(text)
    late = defaultdict(list)
    for finding in clocks.whole_seconds(read, clocks.sizes(lines)):
        late[finding.line].append(finding)
    context = Context(
        tuple(described), machine.link, several=several, jobs=jobs_in(text), clients=clients_in(text)
    )
    read = [replace(table, rows=tuple(with_jobs(row, context) for row in table.rows)) for table in read]
    found += [_table_piece(table, context, late, elsewhere) for table in read]
    refused = [piece.error for piece in found if piece.error]
    if refused and len(refused) == len(found):
        raise refused[0] if len(refused) == 1 else OutputError("\n".join(map(str, refused)))
    if len(found) == sum(not table.tells for table in read):
        raise OutputError(
            f"{name}: has no figures that can be audited",
            remedy=f"known are outputs of {', '.join(engines.names())}, and tables of IOPS, bandwidth or "
            "latency: in Markdown, HTML, LaTeX, reStructuredText, CSV, frames, or columns of blanks, or as "
            "CrystalDiskMark saves them",
        )
    return sorted(found, key=lambda piece: piece.line)


def _blank(lines: list[str], first: int, block: str, keep: str) -> None:
    """Take the lines of a block out of what is still to be read, keeping the numbers of the others, and those
    that have `keep` in them: tables beside what an engine took for its own.
    """
    count = block.removesuffix("\n").count("\n") + 1
    for index in range(first - 1, min(len(lines), first - 1 + count)):
        if not keep or keep not in lines[index]:
            lines[index] = ""


def _table_piece(
    table: tables.Table,
    context: Context,
    late: Mapping[int, Sequence[FigureFinding]],
    elsewhere: across.Elsewhere,
) -> Piece:
    context = replace(context, units=rows.units_of(table.rows))
    findings = [finding for row in table.rows for finding in rows.findings(row, context)]
    of_line: dict[int, frozenset[str]] = {}
    unheld: dict[int, frozenset[str]] = {}
    measured = (row for row in table.rows if not row.aside)
    for row in measured:  # several of them are in one line where HTML has no line breaks
        kinds = frozenset(figure.kind for figure in row.figures)
        of_line[row.line] = of_line.get(row.line, frozenset()) | kinds
        unheld[row.line] = unheld.get(row.line, frozenset()) | kinds - held_kinds(row, context)
    findings += [finding for line in of_line for finding in late.get(line, ())]
    clashes = list(across.unit_clash(table, elsewhere))
    explained = {finding.line for finding in clashes}  # a wrong unit explains an impossible speed
    findings = [
        finding for finding in findings if finding.check != "link_limit" or finding.line not in explained
    ]
    findings += [*clashes, *across.ceiling(table)]
    if table.unclear:
        findings = [_unclear(one) if one.severity == "invalid" else one for one in findings]
    findings = [
        replace(one, kinds=one.kinds & of_line.get(one.line, one.kinds) or one.kinds) for one in findings
    ]
    kinds = frozenset[str]().union(*of_line.values())
    count = plural(table.count, "row")
    figures = f"{count} of {', '.join(sorted(kinds))}" if kinds else f"{count}, of which none can be read"
    what = "table" + (f" {table.title[:60]!r}" if table.title else "")
    rows_of = Counter(kind for line in of_line.values() for kind in line)
    return Piece(
        table.line, what, figures, kinds, tuple(findings), len(of_line), rows_of=rows_of, unheld=unheld
    )


def _unclear(finding: FigureFinding) -> FigureFinding:
    return replace(finding, severity="suspect", message=f"{finding.message}; or its points part thousands")
