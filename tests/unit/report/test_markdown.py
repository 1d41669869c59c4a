"""The summary for a pull request: what it says, and that nothing from a suite is more than text in it."""

import os
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from iogate.errors import InputError, IogateError
from iogate.model import Environment, Finding, PairFacts
from iogate.report.markdown import COMMENT_LIMIT, MARK, markdown
from iogate.report.markdown_file import (
    STEP_LIMIT,
    STEP_SUMMARY,
    MarkdownFile,
    StepSummary,
    step_summary,
    step_trouble,
)
from iogate.report.results import RunRecord
from iogate.units import printable
from records import results, workload

NASTY = "a|b <script>x</script> @octocat #12 https://e.example ![x](y) **b** `c``d` </details> &lt; \\"


def tokens(text):
    """The tokens of the page, inline ones included."""
    parsed = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [token for block in parsed for token in (block, *(block.children or ()))]


def cells(text):
    """The cells of the tables, row by row, as what stands in them."""
    found = MarkdownIt("commonmark").enable("table").parse(text)
    rows, row = [], []
    for token in found:
        if token.type == "tr_open":
            row = []
            rows.append(row)
        elif token.type == "inline" and token.level > 3:
            row.append("".join(child.content for child in token.children or ()))
    return rows


def test_it_says_the_verdict_first_and_the_regressed_workload_before_others():
    text = markdown(results(workload("b"), workload("a", "regressed")))
    lines = text.splitlines()
    assert lines[:2] == [MARK, "## iogate: 1 regressed, 1 pass on `lab`"]
    assert lines[3] == "greatest loss `a read.iops -10.0%`; 4 repetitions, 0.0 s of device time"
    _, first, second = cells(text)
    assert first == [
        "a",
        "read.iops",
        "1.803 k IOPS",
        "2.004 k IOPS",
        "-10.0%",
        "[-11.0%, -9.0%]",
        "5.0%",
        "regressed",
    ]
    assert second[0] == "b" and second[-1] == "pass"


def test_what_explains_the_verdict_is_folded():
    finding = Finding("busy_machine", "suspect", "the load was 3.5 of 2 CPUs")
    one = workload(
        "a",
        "regressed",
        reason="slower beyond doubt",
        findings=(finding,),
        differences=("kernel was 1, is 2",),
    )
    text = markdown(results(one, environment=Environment({"machine": "Orin"})))
    titles = [line for line in text.splitlines() if line.startswith("<summary>")]
    assert titles == [
        f"<summary>{title}</summary>"
        for title in ("Why", "Findings", "Changed since the baseline", "Environment", "All metrics")
    ]
    assert text.count("<details>") == text.count("</details>") == 5
    for said in (
        "regressed: a: slower beyond doubt",
        "suspect busy_machine: a: the load",
        "kernel was 1, is 2",
        "machine: Orin",
        "read.clat.mean",
    ):
        assert said in text


def test_serial_numbers_are_not_published():
    identity = {"disk": "KXG60", "disk_serial": "S1234", "serial": "M5678", "disk_wwid": "eui.90"}
    text = markdown(results(workload(), environment=Environment(identity)))
    assert "disk: KXG60" in text
    assert not any(secret in text for secret in ("S1234", "M5678", "eui.90"))


def test_many_that_passed_are_folded_and_all_others_are_shown():
    found = [workload(f"p{number}") for number in range(50)]
    text = markdown(results(*found, *(workload(f"r{number}", "inconclusive") for number in range(40))))
    assert len(cells(text)) == 1 + 40 + 20
    assert "<summary>30 more that passed</summary>" in text


def test_a_session_that_broke_off_says_so():
    text = markdown(results(workload(), run=RunRecord({"a": "1", "b": "2"}, open=("b",))))
    assert "the session broke off, 1 workload not decided; " in text


def test_pairs_have_a_table_of_their_own():
    text = markdown(results(workload("a"), workload("b", pair=PairFacts(base="/mnt/old", places="one"))))
    headers = [row for row in cells(text) if row[0] == "workload"]
    assert [row[2:4] for row in headers] == [["measured", "baseline"], ["B", "A"]]


HTML = {MARK, "<details>", "</details>"}


def check_escaped(text, name):
    """Nothing but text came of a name."""
    found = tokens(text)
    assert not {token.type for token in found} & {"link_open", "image", "html_inline", "em_open", "s_open"}
    html = [line for token in found if token.type == "html_block" for line in token.content.splitlines()]
    assert all(line in HTML or line.startswith("<summary>") for line in html)
    shown = " ".join(printable(name).split())
    plain = [token.content for token in found if token.type == "text"]
    assert not any("@" in one or "://" in one for one in plain)
    assert cells(text)[1][0] == shown


@pytest.mark.parametrize("name", [NASTY, "`", "a`", "``a``", "x\ny", "@a", "-", "| |", "\\|", "a\\"])
def test_names_are_text_and_nothing_else(name):
    one = workload(
        name, "regressed", reason=f"why {name}", findings=(Finding("x", "note", name),), differences=(name,)
    )
    check_escaped(markdown(results(one, environment=Environment({"machine": name}))), name)


@given(st.text(alphabet=string.printable + "µ\x1b\u202e数", min_size=1).filter(lambda text: text.strip()))
def test_any_name_is_text(name):
    check_escaped(markdown(results(workload(name, "regressed", reason=name))), name)


@pytest.mark.parametrize("limit", [0, 500, 2000, 10_000, COMMENT_LIMIT])
def test_it_is_never_longer_than_it_may_be_and_stays_whole(limit):
    found = [workload(f"w{number}`` µ{'x' * 40}", "regressed", reason="µ" * 500) for number in range(500)]
    text = markdown(results(*found), limit)
    assert len(text.encode()) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert not text or text.startswith(MARK)
    if limit > 2000:
        assert "more, for which there was no room" in text


# ------------------------------------------------------------ the file


def keep(reporter, *given):
    for one in given or (results(workload()),):
        reporter.write(one)
    reporter.close()


def test_its_own_file_is_replaced_and_nothing_else_is(tmp_path):
    file = tmp_path / "summary.md"
    for _ in range(2):
        keep(MarkdownFile(file))
    assert file.read_text().count(MARK) == 1
    other = tmp_path / "README.md"
    other.write_text("# mine\n")
    with pytest.raises(InputError, match=r"README.md is there already, and is no summary of iogate"):
        MarkdownFile(other)
    assert other.read_text() == "# mine\n"


def test_an_empty_file_and_a_link_are_written_through(tmp_path):
    file = tmp_path / "empty"
    file.touch()
    (tmp_path / "link").symlink_to(file)
    keep(MarkdownFile(tmp_path / "link"))
    assert file.read_text().startswith(MARK) and (tmp_path / "link").is_symlink()


def test_a_session_without_results_writes_nothing(tmp_path):
    MarkdownFile(tmp_path / "summary.md").close()
    assert not (tmp_path / "summary.md").exists()


def test_a_pipe_is_written_into_once(tmp_path):
    end, start = os.pipe()
    try:
        keep(MarkdownFile(tmp_path.parent.joinpath(f"/proc/self/fd/{start}")))
        assert os.read(end, 100).decode().startswith(MARK)
    finally:
        os.close(end)
        os.close(start)


def test_the_summary_of_a_step_is_appended_to(tmp_path, monkeypatch):
    file = tmp_path / "step"
    file.write_text("# what others said")
    monkeypatch.setenv(STEP_SUMMARY, str(file))
    keep(step_summary())
    before, mark, _ = file.read_text().partition(MARK)
    assert before == "# what others said\n" and mark


@pytest.mark.skipif(os.geteuid() != 0, reason="a link of another user is made by root")
def test_the_summary_of_a_step_is_not_appended_to_through_a_link_of_another_user(tmp_path, monkeypatch):
    victim, own, link = (tmp_path / name for name in ("victim", "own", "link"))
    victim.write_text("x\n")
    own.symlink_to(victim)
    link.symlink_to(victim)
    os.lchown(link, 54321, 54321)
    monkeypatch.setenv(STEP_SUMMARY, str(link))
    assert step_summary() is None and "symbolic link of user 54321" in step_trouble()
    monkeypatch.setenv(STEP_SUMMARY, str(own))
    keep(step_summary())
    assert MARK in victim.read_text()


def test_a_summary_of_a_step_that_is_full_is_told(tmp_path, monkeypatch):
    file = tmp_path / "step"
    monkeypatch.setenv(STEP_SUMMARY, str(file))
    for size, told in ((STEP_LIMIT // 2, False), (STEP_LIMIT - 10, True), (STEP_LIMIT + 5, True)):
        file.write_bytes(b"x" * size)
        assert ("it is full" in step_trouble()) == told


@pytest.mark.parametrize("value", ["", "/nowhere/at/all", "/dev/null", "/"])
def test_where_there_is_no_summary_of_a_step_nothing_is_written(monkeypatch, value):
    monkeypatch.setenv(STEP_SUMMARY, value)
    assert step_summary() is None
    assert bool(step_trouble()) == (value in ("/nowhere/at/all", "/"))
    monkeypatch.delenv(STEP_SUMMARY)
    assert step_summary() is None
    monkeypatch.setenv(STEP_SUMMARY, "/dev/stdout")
    assert not step_trouble()


def test_the_summary_of_a_step_never_grows_too_large_to_be_shown(tmp_path):
    file = tmp_path / "step"
    for _ in range(6):
        file.touch()
        keep(StepSummary(file, 3000), results(*(workload(f"w{number}") for number in range(40))))
        assert file.stat().st_size <= 3000
    assert file.read_text().count(MARK) == 1


def test_a_summary_of_a_step_that_went_away_is_told(tmp_path):
    with pytest.raises(IogateError, match=r"cannot append to \$GITHUB_STEP_SUMMARY"):
        keep(StepSummary(tmp_path / "gone"))
