"""What the table at the end of a run does not say: each finding once, in words that people read."""

from dataclasses import replace

from iogate.errors import Position
from iogate.judge.judge import GateOptions
from iogate.model import (
    Environment,
    Finding,
    MetricVerdict,
    PairFacts,
    Verdict,
    Workload,
    WorkloadResult,
    metric,
)
from iogate.report.recording import record_workload, results_of
from iogate.report.table import Look
from iogate.report.terminal import TerminalSummary, results_table, summary_lines
from sessions import session, workload


def results(*measured):
    """The results of workloads, given as name, findings and what is said of their metric."""
    records = []
    for name, findings, said in measured:
        workload = Workload(name, "demo", "fio", {}, Position("demo.yaml"))
        metrics = (MetricVerdict(metric("read.iops"), "pass", 1.0, (1.0,), gating=True, **said),)
        result = WorkloadResult(name, workload, Verdict("pass", "", metrics, tuple(findings), 1))
        records.append(record_workload(result, GateOptions()))
    return results_of("local", "today", Environment(), records, GateOptions(), {})


def load(figure):
    return Finding("busy_machine", "suspect", f"the load was {figure} of 2 CPUs")


def test_what_is_found_of_many_workloads_is_said_once():
    names = ("a", "b", "c", "d", "e")
    same = " ".join(summary_lines(results(*((name, [load(3.5)], {}) for name in names))))
    assert same.startswith("suspect busy_machine: 5 workloads (a, b, c and 2 more): the load was 3.5 of 2")
    differing = " ".join(summary_lines(results(*((name, [load(float(ord(name)))], {}) for name in names))))
    differing = " ".join(differing.split())
    assert differing.count("busy_machine") == 1
    assert "the load was 97.0 of 2 CPUs (so a; the others alike)" in differing


def test_what_differs_in_more_than_figures_is_said_for_itself():
    other = Finding("busy_machine", "suspect", "somebody else writes to the disk")
    said = summary_lines(results(("a", [load(1)], {}), ("b", [other], {})))
    assert [line.split(": ")[1] for line in said[:2]] == ["a", "b"]


def test_notes_are_said_after_what_is_suspect():
    note = Finding("governor", "note", "powersave")
    waived = Finding("governor", "note", "powersave", waived="it is a laptop")
    said = summary_lines(results(("a", [note], {}), ("b", [load(1)], {})))
    assert [line.split(":")[0] for line in said[:2]] == ["suspect busy_machine", "note governor"]
    assert summary_lines(results(("a", [waived], {})))[0].endswith("powersave (waived: it is a laptop)")


def test_what_is_suspect_is_said_in_few_words_too():
    lines: list[str] = []
    found = [load(3.5), Finding("governor", "note", "powersave")]
    TerminalSummary(lines.append, lines.append, Look(), quiet=True).write(results(("a", found, {})))
    assert lines[0].startswith("local: 1 pass")
    assert lines[1:] == ["suspect busy_machine: a: the load was 3.5 of 2 CPUs"]


def test_what_changed_is_told_of_what_improved_by_it():
    """Another power mode may give more than the device has lost."""
    changed = ("power_mode was 15W, is MAXN",)
    for verdict, told in (("improved", True), ("pass", False)):
        records = [workload(name, "demo", verdict=verdict, differences=changed) for name in "ab"]
        known = session(*records)
        for lines in (summary_lines(known), quietly(known)):
            text = " ".join(" ".join(lines).split())
            said = "improved, and changed since the baseline: 2 workloads (a, b): power_mode was 15W"
            assert (said in text) is told


def quietly(known):
    lines: list[str] = []
    TerminalSummary(lines.append, lines.append, Look(), quiet=True).write(known)
    return lines


def test_what_is_beyond_tenfold_has_no_digits():
    said = {"change": 2.0, "interval": (-0.5, 1e38), "tolerance": 85683.92}
    text = results_table(results(("a", [], said)))
    assert "+200.0%  [-50.0%, more than 10 times]  more than 10 times" in text


def test_no_sentence_is_longer_than_the_terminal_is_wide():
    long = workload("throughput[bs=8k,rw=randread,numjobs=4]", "quick")
    base = "a place with a name of some length below /mnt/old/images"
    lines: list[str] = []
    for one in (long, replace(long, pair=PairFacts(base, "targets"))):
        TerminalSummary(lambda title: None, lines.append, Look(60)).write(session(one))
    assert max(len(line) for text in lines for line in text.splitlines()) <= 60
