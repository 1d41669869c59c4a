"""A session as Markdown of GitHub's kind, for a pull request or the page of a CI job.

What comes from suites and engines stands in code spans and fenced blocks alone (CommonMark 0.31, 6.1, 4.5).
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from iogate.report.findings import findings_told
from iogate.report.headline import (
    QUIET,
    effort,
    greatest_loss,
    metrics_worst_first,
    undecided,
    verdict_counts,
    worst_first,
)
from iogate.report.markdown_text import TICKS, cell, code, code_cell
from iogate.report.names import names_told_apart
from iogate.report.results import Results, WorkloadRecord
from iogate.report.table import Look, interval_text, measured_text, session_table
from iogate.report.together import moved_together
from iogate.units import format_change, format_quantity, format_share, printable

MARK = "<!-- iogate summary -->"
"""The first line: by it a file is known as one that may be replaced."""

COMMENT_LIMIT = 65_536
"""The most characters that GitHub takes as a comment; bytes here, which are no fewer."""

_METRICS = 500
_SHOWN = 20  # workloads that passed and are not folded
_WIDTH = 110
_RESERVE = 400  # bytes for what is said of what was left out
_NAMES_ONE = ("serial", "wwid")  # of one machine or disk: nobody means to publish it
_HEADERS = ("workload", "metric", "measured", "baseline", "change", "interval", "tolerance", "verdict")
_OF_PAIRS = ("workload", "metric", "B", "A", *_HEADERS[4:])
_ALIGNED = "| --- | --- | ---: | ---: | ---: | --- | ---: | --- |"


def markdown(results: Results, limit: int = COMMENT_LIMIT) -> str:
    """Return the summary of a session in at most `limit` bytes: verdicts, the table with regressed workloads
    first, and folded what explains them. What has no room is left out from the end, and counted.
    """
    results = names_told_apart(results)
    page = _Page(limit - _RESERVE)
    if not page.add(*_head(results)):
        return ""
    ordered = worst_first(results.workloads)
    passed = [workload for workload in ordered if workload.verdict in QUIET]
    shown = ordered[: len(ordered) - len(passed[_SHOWN:])]
    for headers, pairs in ((_HEADERS, False), (_OF_PAIRS, True)):
        found = [workload for workload in shown if bool(workload.pair) == pairs]
        if found:
            page.table(headers, [row for workload in found for row in _rows(workload)])
    for title, lines in _folded(results, passed[_SHOWN:]):
        page.fold(title, lines)
    return page.text


def is_markdown(text: str) -> bool:
    """Return whether a text is such a summary, or empty."""
    return not text or text.startswith(MARK)


class _Page:
    """Text that grows up to a limit, in bytes."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._lines: list[str] = []

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self._lines)

    def add(self, *lines: str, keep: int = 0) -> bool:
        """Add lines, all of them or none; `keep` bytes stay free. Says whether they were added."""
        size = sum(len(line.encode(errors="replace")) + 1 for line in lines)
        if size > self._left - keep:
            return False
        self._left -= size
        self._lines += lines
        return True

    def table(self, headers: Sequence[str], rows: Sequence[str]) -> None:
        """Add a table, as many of its rows as there is room for."""
        if not self.add(f"| {' | '.join(headers)} |", _ALIGNED):
            return
        added = next((count for count, row in enumerate(rows) if not self.add(row)), len(rows))
        self._say_more(len(rows) - added, "row")
        self._lines.append("")

    def fold(self, title: str, lines: Sequence[str]) -> None:
        """Add lines as they are, folded below a title; as many as there is room for."""
        if not lines:
            return
        fence = "`" * max(3, 1 + max((len(run) for line in lines for run in TICKS.findall(line)), default=0))
        end = (fence, "", "</details>", "")
        size = sum(len(line) + 1 for line in end)
        begin = ("<details>", f"<summary>{title}</summary>", "", f"{fence}text")
        if not self.add(*begin, keep=size):
            return
        added = next((count for count, line in enumerate(lines) if not self.add(line, keep=size)), len(lines))
        if added < len(lines):
            self._lines.append(f"... and {len(lines) - added} more lines")
        self.add(*end)

    def _say_more(self, count: int, noun: str) -> None:
        if count:
            self._lines += ["", f"and {count} {noun}s more, for which there was no room"]


def _head(results: Results) -> Iterator[str]:
    """Yield what everybody should know."""
    yield MARK
    yield f"## iogate: {verdict_counts(results)} on {code(results.device)}"
    yield ""
    loss = greatest_loss(results)
    told = [f"greatest loss {code(loss)}"] if loss else []
    told += [undecided(results)] if undecided(results) else []
    told.append(effort(results))
    yield "; ".join(told)
    yield ""
    together = moved_together(results)
    if together:
        yield together
        yield ""


def _rows(workload: WorkloadRecord) -> Iterator[str]:
    """Yield a row for each gating metric; one for a workload without measurements."""
    if not workload.gating:
        yield _row(workload.workload, "", "", "", "", "", "", workload.verdict)
    for index, (name, item) in enumerate(metrics_worst_first(workload.gating)):
        yield _row(
            workload.workload if index == 0 else "",
            name,
            cell(measured_text(item)),
            "" if item.baseline is None else cell(format_quantity(item.baseline, item.unit)),
            "" if item.change is None else format_change(item.change),
            interval_text(item),
            "" if item.tolerance is None else format_share(item.tolerance),
            item.verdict,
        )


def _row(workload: str, metric: str, *rest: str) -> str:
    """Return a row: what others have named is code, and a verdict that needs somebody is bold."""
    *figures, verdict = rest
    strong = verdict if verdict in QUIET else f"**{verdict.replace('_', ' ')}**"
    return f"| {' | '.join((code_cell(workload), code_cell(metric), *figures, strong))} |"


def _folded(results: Results, passed: Sequence[WorkloadRecord]) -> Iterator[tuple[str, list[str]]]:
    """Yield what explains the verdicts: titles, and the lines below them."""
    if passed:
        yield f"{len(passed)} more that passed", _of_text(session_table(passed, Look()))
    ordered = worst_first(results.workloads)
    reasons = [
        f"{workload.verdict}: {workload.workload}: {workload.reason}"
        for workload in ordered
        if workload.verdict != "pass" and workload.reason
    ]
    yield "Why", _filled(reasons)
    yield "Findings", _filled(findings_told(results.workloads))
    changed = dict.fromkeys(change for workload in ordered for change in workload.differences)
    yield "Changed since the baseline", _filled(changed)
    yield "Environment", _filled(_environment(results))
    first = _first(ordered)
    title = "All metrics" if len(first) == len(ordered) else f"All metrics of {len(first)} workloads"
    yield title, _of_text(session_table(first, Look(everything=True)))


def _first(workloads: Sequence[WorkloadRecord]) -> Sequence[WorkloadRecord]:
    """Return the workloads that have no more metrics together than anybody looks at on a page."""
    ends = accumulate(len(workload.metrics) for workload in workloads)
    return workloads[: max(1, sum(end <= _METRICS for end in ends))]


def _environment(results: Results) -> Iterator[str]:
    yield f"session: {results.session}"
    yield f"versions: {', '.join(f'{name} {text}' for name, text in results.versions.items())}"
    for part in (results.environment.identity, results.environment.subject, results.environment.state):
        yield from (f"{name}: {text}" for name, text in part.items() if not name.endswith(_NAMES_ONE))


def _filled(texts: Iterable[str]) -> list[str]:
    """Return sentences on lines that can be read without scrolling."""
    lines = []
    for text in texts:
        for line in printable(text).splitlines():
            lines += textwrap.wrap(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return lines


def _of_text(text: str) -> list[str]:
    return printable(text).splitlines()
