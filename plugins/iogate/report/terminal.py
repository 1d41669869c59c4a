"""The results of a session for people at a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from iogate.model import PASSED
from iogate.report.findings import changes_told, findings_told
from iogate.report.headline import effort, headline
from iogate.report.names import names_told_apart
from iogate.report.results import Results, WorkloadRecord
from iogate.report.table import Look, session_table, wrapped
from iogate.report.together import moved_together
from iogate.units import printable

_WIDTH = 100


@dataclass(frozen=True)
class TerminalSummary:
    """Shows the results at the end of a run: `section` begins a part with a title, `line` writes a line;
    `quiet` leaves one line, and what is suspect of what passed: failures have told theirs.
    """

    section: Callable[[str], None]
    line: Callable[[str], None]
    look: Look
    quiet: bool = False

    def write(self, results: Results) -> None:
        """Write the table, and what it does not say."""
        results = names_told_apart(results)
        if self.quiet:
            self.line(printable(f"{results.device}: {headline(results)}; {effort(results)}"))
            passed = [workload for workload in results.workloads if workload.verdict in PASSED]
            suspects = (text for text in findings_told(passed) if text.startswith("suspect"))
            for line in _lines((*suspects, *changes_told(passed)), self._width):
                self.line(line)
            return
        self.section(printable(f"storage performance of {results.device}"))
        for line in wrapped(headline(results), self.look):
            self.line(line)
        self.line("")
        self.line(results_table(results, self.look))
        self.line("")
        for line in summary_lines(results, self._width):
            self.line(line)

    @property
    def _width(self) -> int:
        return min(_WIDTH, self.look.width or _WIDTH)


def stdout_look() -> Look:
    """Return how a table may look on standard output: as wide as the terminal, if it is one."""
    shown = sys.stdout and sys.stdout.isatty()
    return Look(shutil.get_terminal_size().columns if shown else None)


def results_table(results: Results, look: Look | None = None) -> str:
    """Return one row for each gating metric; a workload without measurements has a row, too. Pairs have a
    table of their own.
    """
    look = look or stdout_look()
    pairs = [workload for workload in results.workloads if workload.pair]
    others = [workload for workload in results.workloads if not workload.pair]
    tables = [session_table(others, look)] if others else []
    if pairs:
        ways = [line for text in _ways(pairs) for line in wrapped(text, look)]
        tables += [session_table(pairs, look, pairs=True), "\n".join(ways)]
    return "\n\n".join(tables)


def _ways(pairs: Sequence[WorkloadRecord]) -> Iterable[str]:
    """Yield what A and B are, and how they were measured, each thing once."""
    of_base: dict[str, list[str]] = {}
    for workload in pairs:
        assert workload.pair
        other = f", B is {workload.pair.candidate}" if workload.pair.candidate else ""
        of_base.setdefault(workload.pair.base + other, []).append(workload.workload)
    for base, names in of_base.items():
        which = "" if len(of_base) == 1 else f" ({', '.join(names)})"
        yield printable(f"A is {base}{which}")
    if any(workload.pair and workload.pair.places == "targets" for workload in pairs):
        yield "their places are a part of what is compared"
    unusual: dict[tuple[str, str], list[str]] = {}
    for workload in pairs:
        if workload.pair and any(workload.pair.way):
            unusual.setdefault(workload.pair.way, []).append(workload.workload)
    for (how, why), names in unusual.items():
        yield printable(f"{how}: {', '.join(names)}: {why}")


def summary_lines(results: Results, width: int = _WIDTH) -> list[str]:
    """Return what the table does not say: findings, notes last, and the device time."""
    texts = (*findings_told(results.workloads), *changes_told(results.workloads))
    lines = list(_lines(texts, width))
    together = moved_together(results)
    lines += [together] if together else []
    if results.gate and results.gate.noise:
        lines.append(printable(results.gate.noise.text))
    lines.append(effort(results))
    return lines


def _lines(texts: Iterable[str], width: int) -> Iterator[str]:
    """Yield the lines of sentences, words whole."""
    for text in texts:
        told = textwrap.wrap(printable(text), width, subsequent_indent="    ", break_long_words=False)
        yield from told or [""]
