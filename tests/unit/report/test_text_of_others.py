"""What suites, engines and machines say is text in every output: no control character, markup or formula."""

import json
import re
from dataclasses import replace

import pytest

import kept_sessions
from iogate.model import Environment, Finding
from iogate.offline.compare import report as comparison
from iogate.report.export import FORMATS, export
from iogate.report.fragment import fragment
from iogate.report.history import collect, series
from iogate.report.history.words import history_text
from iogate.report.html.page import page
from iogate.report.junit import properties
from iogate.report.latency_table import latency_table
from iogate.report.markdown import markdown
from iogate.report.results import Results
from iogate.report.table import Look
from iogate.report.terminal import TerminalSummary
from sessions import REGRESSED, session, workload

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J",
    "a\x85b\u202ec\u2028d\x00e\rf\x9b31m",
    "</script><img src=x onerror=alert(1)>{{7*7}}",
    "`|*_[a](//b) @team #1\n# head",
    "=cmd()",
)
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def hostile(text):
    """A session of two workloads of one name, whose every word is such a text."""
    words = Environment({text: text}, {text: text}, {text: text})
    told = {
        "reason": text,
        "description": text,
        "differences": (text,),
        "where": text,
        "command": text,
        "files": {text: text},
        "findings": (Finding(text, "note", text, text), Finding(text, "suspect", text, waived=text)),
        "metrics": {"read.iops": replace(REGRESSED, sessions={text: (1.0, 2.0)})},
    }
    options = {"rw": text, "bs": text, "size": text}
    both = [
        replace(workload(text, suite, **told), definition=options, engine=text) for suite in (text, "other")
    ]
    return session(*both, device=text, environment=words, versions={text: text})


def terminal(results):
    lines = []
    TerminalSummary(lines.append, lines.append, Look(60), quiet=False).write(results)
    TerminalSummary(lines.append, lines.append, Look(), quiet=True).write(results)
    return "\n".join(lines)


def piped(results):
    lines = []
    TerminalSummary(lines.append, lines.append, Look(), quiet=False).write(results)
    return "\n".join(lines)


def junit(results):
    return "\n".join(str(value) for one in results.workloads for _, value in properties(one))


SHOWN = {
    "terminal": terminal,
    "comparison": lambda results: comparison.text(results, []),
    "markdown": markdown,
    "page": lambda results: page([results]),
    "fragment": lambda results: "".join(map(fragment, results.workloads)),
    "junit": junit,
    "latencies": lambda results: latency_table([results]),
    **{
        name: lambda results, name=name: export([results], name).replace("\r\n", "\n")
        for name in FORMATS
        if name != "parquet"
    },
}


@pytest.mark.parametrize("text", HOSTILE, ids=["escape", "control", "html", "markdown", "formula"])
@pytest.mark.parametrize("output", SHOWN)
def test_in_every_output_the_text_of_others_is_text(output, text):
    said = SHOWN[output](hostile(text))
    own = said.partition("<script>")[0] + said.rpartition("</script>")[2] if output == "page" else said
    assert not CONTROL.search(own)
    if output in ("page", "fragment"):
        assert "<img" not in own
    if output == "csv":
        assert ",=" not in said and "\n=" not in said and ',"=' not in said


@pytest.mark.parametrize("text", ["a\n::error::b", "::stop-commands::c", "\n \t::add-mask::d"])
@pytest.mark.parametrize("output", SHOWN)
def test_no_line_of_what_is_read_from_a_file_steers_a_ci_job(output, text):
    said = hostile(text)
    units = {"read.iops": replace(REGRESSED, unit=text, reason=text), text: replace(REGRESSED, unit=text)}
    said = replace(said, workloads=tuple(replace(item, metrics=units) for item in said.workloads))
    shown = {**SHOWN, "terminal": piped}[output]
    told = shown(Results.parse(said.text().encode(), "results.json"))
    assert not [line for line in told.splitlines() if line.lstrip().startswith("::")]


@pytest.mark.parametrize("text", HOSTILE, ids=["escape", "control", "html", "markdown", "formula"])
def test_in_a_history_too(tmp_path, text):
    files = [
        kept_sessions.keep(
            tmp_path,
            kept_sessions.session(
                number,
                kept_sessions.record(kept_sessions.repetitions(1, number, 1e4), text),
                device="lab",
                environment=Environment({"machine": "m"}, {text: f"{text}{number}"}, {}),
            ),
        )
        for number in range(7)
    ]
    histories, left_out = series(collect(files))
    said = history_text(histories, left_out, by_session=True)
    assert not CONTROL.search(said)
    assert json.dumps(said)
