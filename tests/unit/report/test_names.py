"""Workloads of one name in two suites, wherever they are shown."""

import pytest

from iogate.offline.compare import report as comparison
from iogate.report.markdown import markdown
from iogate.report.names import names_told_apart
from iogate.report.table import Look
from iogate.report.terminal import TerminalSummary
from sessions import session, workload

TWO = session(workload("reads", "quick"), workload("reads", "night"), workload("writes", "quick"))


def terminal(results, quiet=False):
    lines = []
    TerminalSummary(lines.append, lines.append, Look(), quiet).write(results)
    return "\n".join(lines)


def test_what_is_alone_keeps_its_name():
    assert [item.workload for item in names_told_apart(TWO).workloads] == [
        "quick: reads",
        "night: reads",
        "writes",
    ]
    assert names_told_apart(names_told_apart(TWO)) == names_told_apart(TWO)
    assert names_told_apart(session()) == session()


@pytest.mark.parametrize("text", [terminal, markdown, lambda results: comparison.text(results, [])])
def test_each_table_and_sentence_says_which_is_meant(text):
    said = text(TWO)
    assert "quick: reads" in said and "night: reads" in said and "quick: writes" not in said


def test_the_greatest_loss_says_whose_it_is():
    two = session(workload("reads", "quick"), workload("reads", "night"))
    assert "(most: quick: reads read.iops" in terminal(two, quiet=True)
