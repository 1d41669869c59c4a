"""The table of a session: worst first, in the room that there is, in colour where there is some."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from growth import LINEAR, growth
from iogate.report.headline import headline, worst_first
from iogate.report.results import RunRecord, WorkloadRecord
from iogate.report.table import Look, session_table
from records import results, workload

LONG = "sweep[access=random,bs=4k,iodepth=128,rwmixread=75]"


def names(text):
    return [
        line.split()[0] for line in text.splitlines()[2:] if not line.startswith((" ", "no room", "and "))
    ]


def test_what_needs_somebody_comes_first():
    verdicts = (
        "pass",
        "drift",
        "regressed",
        "recorded",
        "no_baseline",
        "invalid",
        "inconclusive",
        "improved",
    )
    found = [workload(verdict, verdict) for verdict in verdicts]
    order = ["regressed", "invalid", "inconclusive", "no_baseline", "drift", "improved", "recorded", "pass"]
    assert names(session_table(found, Look())) == order
    assert [item.workload for item in worst_first(found)] == order


def test_workloads_of_one_verdict_stay_as_they_were_run():
    assert names(session_table([workload(name) for name in "cab"], Look())) == ["c", "a", "b"]


@pytest.mark.parametrize("width", [45, 60, 80, 100, 120])
def test_no_line_is_longer_than_the_terminal_is_wide(width):
    text = session_table([workload(LONG, "regressed"), workload("数据库" * 5)], Look(width))
    table = [line for line in text.splitlines() if not line.startswith("no room")]
    assert max(map(cell_len, table)) <= width
    assert "regressed" in text and "1.803 k IOPS" in text and "-10.0%" in text


def test_columns_are_left_out_in_the_order_of_their_weight_and_are_named():
    found = [workload("random_read", "regressed")]
    assert "no room" not in session_table(found, Look(120))
    assert session_table(found, Look(98)).endswith("no room for: runs")
    narrow = session_table(found, Look(60))
    assert narrow.endswith("no room for: runs, interval, tolerance, baseline")
    assert "2.004 k" not in narrow


def test_names_are_folded_where_nothing_else_helps():
    text = session_table([workload(LONG)], Look(60))
    folded = "".join(line.split()[0] for line in text.splitlines()[2:] if not line.startswith("no room"))
    assert LONG in folded
    first = [line.split()[0] for line in text.splitlines()[2:5]]
    assert first == ["sweep[", "access=random,", "bs=4k,iodepth=128,"]


def test_the_time_that_a_long_name_takes_grows_with_it_and_no_faster():
    """Of 230 KB it was half a minute."""

    def shown(count):
        found = [workload("w[" + ",".join(f"k{number}={number}" for number in range(count)) + "]")]
        return lambda: session_table(found, Look())

    assert growth(shown(1000), shown(4000)) < LINEAR


def test_without_colour_there_is_no_escape_and_with_it_the_verdict_has_one():
    plain, coloured = (
        session_table([workload("a", "regressed")], Look(80, colour)) for colour in (False, True)
    )
    assert "\x1b" not in plain
    assert "\x1b[1;31mregressed\x1b[0m" in coloured


def test_names_from_suites_are_text_and_steer_nothing():
    name = "[bold red]x[/] :smile: \x1b[2J"
    text = session_table([workload(name)], Look(120))
    assert "[bold red]x[/] :smile: ?[2J" in text


def test_everything_shows_all_metrics_and_says_of_those_that_decide_what_they_decided():
    text = session_table([workload()], Look(everything=True))
    deciding, other = text.splitlines()[2:]
    assert deciding.split()[1] == "read.iops" and deciding.endswith("pass")
    assert other.split()[0] == "read.clat.mean" and not other.endswith("pass")


def test_of_many_that_passed_some_are_shown_and_all_that_did_not():
    found = [workload(f"p{number}") for number in range(100)] + [
        workload(f"r{i}", "regressed") for i in range(60)
    ]
    text = session_table(found, Look(most=10))
    assert text.endswith("and 90 workloads more that passed; -v shows all")
    assert len(names(text)) == 70
    assert len(names(session_table(found, Look(most=10, everything=True)))) == 160


def test_a_workload_that_was_not_measured_has_a_row():
    bare = WorkloadRecord("x", "demo", "lost", "fio", {}, "no_baseline", "", 0, {})
    assert session_table([bare], Look()).splitlines()[2].split() == ["lost", "0", "no_baseline"]


def test_the_headline_counts_verdicts_and_names_the_greatest_loss():
    found = [workload("a"), workload("b", "regressed", -0.1), workload("c", "regressed", -0.3)]
    assert headline(results(*found)) == "2 regressed, 1 pass (most: c read.iops -30.0%)"
    assert headline(results()) == "nothing measured"


def test_the_headline_says_that_a_session_broke_off():
    run = RunRecord({"a": "1", "b": "2"}, open=("b",))
    assert headline(results(workload(), run=run)) == "1 pass; the session broke off, 1 workload not decided"
    begun = replace(workload(), id="b", verdict="inconclusive")
    told = "1 inconclusive; the session broke off, 1 workload not decided, 1 of them begun"
    assert headline(results(begun, run=run)) == told
