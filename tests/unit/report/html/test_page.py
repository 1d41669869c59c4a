"""The page as text: what it says of a session, and that what others wrote stays text."""

import base64
import gzip
import json
import math
import re
import sys
from dataclasses import replace
from html import unescape
from random import Random

import pytest

from growth import LINEAR, growth
from iogate.cli import main
from iogate.errors import InputError, IogateError
from iogate.model import Histogram
from iogate.report.html.band import WIDTH, band_of
from iogate.report.html.page import drawing_library, packed, page
from iogate.report.html.place import HtmlFile, is_report
from iogate.report.html.plot import DisplayUnit, short
from iogate.report.html.session import session_view
from iogate.report.html.sweeps import matrices, sweep_plots
from iogate.report.html.workload_plots import merged, nines, over_time, quantile
from iogate.report.results import MetricRecord, RepetitionRecord, Results, WorkloadRecord
from made_sessions import mixed, session
from places import DATA


def data(text):
    """The data of a page."""
    found = re.search(r'id="data">([^<]*)<', text)[1]
    return json.loads(gzip.decompress(base64.b64decode(found)))


def verdicts(*names, open=()):
    item = mixed("one", Random(1), seconds=2, repetitions=2)
    return session(
        *(replace(item, workload=f"w{i}", id=f"w{i}", verdict=name) for i, name in enumerate(names)),
        open=open,
    )


def test_a_figure_that_is_not_finite_is_missing():
    assert json.loads(gzip.decompress(base64.b64decode(packed({"a": [1.0, math.inf, (math.nan,)]})))) == {
        "a": [1.0, None, [None]]
    }


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (["pass"], "1 workload passed"),
        (["pass", "drift"], "2 workloads passed (1 with a drift)"),
        (["recorded", "recorded"], "2 workloads recorded: no verdict"),
        (["pass", "recorded"], "1 workload passed, 1 recorded"),
        (["pass", "regressed", "invalid"], "1 regressed, 1 not to be believed, of 3 workloads"),
        (["no_baseline", "inconclusive"], "1 inconclusive, 1 without a baseline, of 2 workloads"),
        ([], "nothing was measured"),
    ],
)
def test_the_headline_says_the_verdict_on_all(names, headline):
    assert session_view(verdicts(*names), "").headline == headline


def test_the_worst_come_first_and_every_workload_has_a_place_of_its_own():
    view = session_view(verdicts("pass", "regressed", "recorded"), "s1-")
    assert [row.verdict for row in view.rows] == ["regressed", "recorded", "pass"]
    alike = session(*(replace(mixed("a", Random(1)), workload=name) for name in ("x/1", "x 1", "x-1")))
    ids = [row.id for row in session_view(alike, "").rows]
    assert ids == ["w-acceptance-x-1", "w-acceptance-x-1--2", "w-acceptance-x-1--3"]


def test_long_names_are_broken_where_their_parts_end_and_are_text():
    made = page([session(mixed("random[rw=randread,bs=4k,<b>]", Random(1)))])
    assert "random[<wbr>rw=randread,<wbr>bs=4k,<wbr>&lt;b&gt;]" in made and "<b>]" not in made


def test_the_page_holds_no_address_that_a_browser_would_load():
    text = page([verdicts("pass")])
    head = unescape(text[: text.index("<script")])
    assert not re.search(r'(src|href)="(?!#)', head)
    assert "default-src 'none'" in head and "unsafe-eval" not in head


def test_a_page_is_the_same_whenever_it_is_made():
    results = verdicts("pass", "regressed")
    assert page([results]) == page([results])


def test_details_have_what_the_document_says():
    item = mixed("one", Random(1), seconds=2)
    details = data(page([session(item)]))["details"]["w-acceptance-one"]
    assert details["changed"] == ["kernel was 5.15.120, is 5.15.136"]
    assert details["files"]["job.fio"].startswith("[global]")
    assert details["command"] == "fio --output-format=json+ job.fio"
    assert len(details["metrics"]) == len(item.metrics)
    assert {plot["kind"] for plot in details["plots"]} == {"strip", "over_time", "latency"}


def test_control_characters_of_others_are_not_passed_on():
    item = replace(mixed("one", Random(1)), description="a\x1b[31m\u202eb")
    text = page([replace(session(item), device="d\x07\u202e")])
    assert data(text)["details"]["w-acceptance-one"]["about"] == "a?[31m?b"
    assert "\x07" not in text and "\u202e" not in text


def test_without_what_draws_it_is_said_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(IogateError, match=r"a report needs vl-convert-python[\s\S]*on another machine"):
        drawing_library.__wrapped__()


def test_where_what_draws_it_cannot_start_that_is_said_and_ends_nothing_else(monkeypatch):
    """V8 ended the whole process under `ulimit -v`: verdicts, summary and JUnit were lost."""
    monkeypatch.setattr("iogate.report.html.page._BUNDLE", "print('Fatal: a\x1b[2J'); import os; os.abort()")
    with pytest.raises(IogateError, match=r"cannot be made: vl-convert failed \(-6\)[\s\S]*ulimit -v"):
        drawing_library.__wrapped__()


# ------------------------------------------------------------ bands, units, histograms


def metric(change, interval, direction="higher", tolerance=0.05):
    return MetricRecord("IOPS", direction, True, (1.0,), 1.0, 1.0, change, interval, tolerance)


def test_worse_is_always_to_the_left():
    slower = band_of(metric(-0.05, (-0.06, -0.04)))
    later = band_of(metric(0.05, (0.04, 0.06), "lower"))
    assert slower == later
    assert slower.at == slower.bound < WIDTH / 2 and slower.low < slower.at < slower.high
    assert "1.0 tolerances worse" in slower.text


def test_what_lies_beyond_the_picture_is_said_to():
    assert band_of(metric(-0.9, None)).beyond == "left"
    assert band_of(metric(0.9, None)).beyond == "right"
    assert 0 <= band_of(metric(-0.9, (-5.0, 5.0))).low <= band_of(metric(-0.9, (-5.0, 5.0))).high <= WIDTH
    assert band_of(metric(None, None)) is None


def test_all_figures_of_a_plot_are_in_one_unit():
    scale = DisplayUnit.of([900.0, 1.2e6, 3e6], "ns")
    assert (scale.unit, scale(1.23456789e6), scale(None)) == ("ms", 1.2346, None)
    assert short(0.0) == 0 and short(1234567.0) == 1234600


def test_a_percentile_of_a_histogram_lies_in_its_bin():
    bins = merged([Histogram(8, {1024: 500, 1152: 490}), Histogram(8, {2048: 20})])
    assert bins[1024] == (1152, 500) and bins[2048] == (2304, 20)
    assert 1152 <= quantile(bins, 90) <= 1280
    assert quantile(bins, 99.9) is None  # too few are slower
    assert quantile({}, 50) is None
    assert nines(90) == 1.0 and nines(99.9) == 3.0


def test_a_long_series_is_shown_in_means():
    (plot,) = over_time([RepetitionRecord({}, series=tuple(float(n) * 2**20 for n in range(1, 601)))])
    assert len(plot.rows) == 60 and plot.note == "means of 10 seconds"
    assert plot.rows[0] == (1, 10, 5.5)


# ------------------------------------------------------------ matrices


def point(name, iops, latency, **more):
    metrics = {
        "read.iops": MetricRecord("IOPS", "higher", True, (iops,), iops),
        "read.bandwidth": MetricRecord("B/s", "higher", False, (iops * 4096,), iops * 4096),
        "read.clat.mean": MetricRecord("ns", "lower", False, (latency,), latency),
        "read.clat.p99": MetricRecord("ns", "lower", False, (latency,), latency),
    }
    return WorkloadRecord(name, "s", name, "fio", {}, "recorded", "", 1, metrics, **more)


def test_a_matrix_is_shown_in_the_order_of_its_axes_with_one_knee_a_line():
    points = {(16, "4k"): (4e4, 4e5), (1, "4k"): (1e4, 1e5), (4, "4k"): (3e4, 1.3e5), (1, "64k"): (9e3, 2e5)}
    results = session(*(point(f"m[bs={bs},iodepth={n}]", *both) for (n, bs), both in points.items()))
    (matrix,) = matrices(results)
    assert matrix.axes == {"bs": ["4k", "64k"], "iodepth": ["1", "4", "16"]}
    frontier, by_block, *maps = sweep_plots(matrix)
    assert [row[:2] for row in frontier.rows] == [
        ("bs=4k", "1"), ("bs=4k", "4"), ("bs=4k", "16"), ("bs=64k", "1"),
    ]  # fmt: skip
    assert [row[1] for row in frontier.rows if row[4] == "knee"] == ["4", "1"]
    assert [row[1] for row in by_block.rows] == ["4k", "4k", "4k", "64k"]
    assert [plot.kind for plot in maps] == ["heat", "heat"]
    assert sorted(plot.rows[0][:2] for plot in maps) == [("4k", "1"), ("4k", "1")]


def test_what_is_invalid_is_left_out_of_a_sweep_and_counted():
    """A point of which some repetitions were good was drawn as any other."""
    good = [point(f"m[iodepth={n}]", n * 1e4, 1e5) for n in (1, 2, 4)]
    bad = replace(point("m[iodepth=8]", 3.0, 3e8), verdict="invalid")
    results = session(*good, bad)
    (matrix,) = matrices(results)
    assert [row[1] for plot in sweep_plots(matrix) for row in plot.rows] == ["1", "2", "4"]
    (sweep,) = session_view(results, "").sweeps
    assert sweep.title == "Sweep: s/m (without 1 that are invalid)"


def test_what_is_no_matrix_makes_no_sweep():
    assert (
        matrices(session(point("a", 1.0, 1.0), point("b[part]", 1.0, 1.0), point("c[x=1]", 1.0, 1.0))) == []
    )


def test_the_time_for_a_name_of_brackets_grows_with_its_length():
    small, four = (session(point(f"g{'[0' * size}]x", 1.0, 1.0)) for size in (20_000, 80_000))
    assert growth(lambda: matrices(small), lambda: matrices(four)) < LINEAR


# ------------------------------------------------------------ places and bad input


def test_an_empty_file_or_a_report_is_replaced_and_a_link_followed(tmp_path):
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    for _ in range(2):
        HtmlFile(tmp_path / "link").finish([verdicts("pass")])
    assert (tmp_path / "link").is_symlink() and is_report(tmp_path / "real")
    (tmp_path / "page.html").write_text("<html>")
    with pytest.raises(InputError, match="no report of iogate"):
        HtmlFile(tmp_path / "page.html")


NEWER = '{"schema": 2, "device": "d", "session": "s", "workloads": []}'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        (NEWER, "results of schema 2; iogate"),
        (NEWER.replace("2", "1", 1)[:-4], "not JSON"),
        ('{"fio version": "fio-3.33", "jobs": []}', "not a results file of iogate"),
        ('{"schema": 1, "device": 5, "session": "s", "workloads": []}', "device"),
    ],
    ids=["empty", "newer", "cut off", "foreign", "damaged"],
)
def test_results_that_cannot_be_read_are_refused_by_name_and_reason(tmp_path, capsys, text, words):
    file, html = tmp_path / "mine.json", tmp_path / "report.html"
    file.write_text(text)
    good = DATA / "results" / "results_before_repetitions.json"
    assert main(["report", str(good), str(file), "-o", str(html)]) == 2
    error = capsys.readouterr().err
    assert "mine.json" in error and words in error and "Traceback" not in error
    assert not html.exists()


def test_a_folder_of_sessions_is_reported_as_one_page(tmp_path, capsys):
    for number in (1, 2):
        folder = tmp_path / f"2026-11-2{number}T00:00:00Z-0000"
        folder.mkdir()
        replace(verdicts("pass"), session=folder.name).write(folder / "results.json")
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "report.html")]) == 0
    assert "2 sessions" in capsys.readouterr().out
    text = (tmp_path / "report.html").read_text()
    assert "2026-11-21 00:00:00 UTC" in text and "2026-11-22 00:00:00 UTC" in text


@pytest.mark.parametrize("led_to", ["nothing", "a report"])
def test_a_link_at_the_place_that_nobody_named_is_not_followed(tmp_path, monkeypatch, capsys, led_to):
    verdicts("pass").write(tmp_path / "results.json")
    clone, elsewhere = tmp_path / "clone", tmp_path / "elsewhere.html"
    clone.mkdir()
    (clone / "report.html").symlink_to(elsewhere)
    if led_to == "a report":
        elsewhere.write_text(page([Results(1, "d", "s", ())]))
    before = elsewhere.read_text() if elsewhere.exists() else None
    monkeypatch.chdir(clone)
    assert main(["report", "../results.json"]) == 2
    assert "report.html is a symbolic link" in capsys.readouterr().err
    assert (elsewhere.read_text() if elsewhere.exists() else None) == before
    assert main(["report", "../results.json", "-o", "report.html"]) == 0
    assert "nothing was measured" not in elsewhere.read_text()
    (clone / "report.html").unlink()
    assert main(["report", "../results.json"]) == 0 and (clone / "report.html").is_file()


def test_a_session_without_workloads_has_a_page():
    assert "nothing was measured" in page([Results(1, "d", "s", ())])
