"""Many sessions on the page."""

from dataclasses import replace

import pytest

from iogate.cli import main
from iogate.report.history import collect, series
from iogate.report.html.over_sessions import history_views
from iogate.report.html.page import page
from iogate.report.results import Results
from kept_sessions import keep, record, repetitions, session


def past(folder, levels):
    """Sessions at these levels, as a project keeps them."""
    results = folder / ".iogate" / "results"
    return [
        keep(results, session(number, record(repetitions(1, number, level))))
        for number, level in enumerate(levels)
    ]


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stepped")
    past(folder, [*[12000.0] * 10, *[11520.0] * 10, *[11100.0] * 10])
    (folder / "suites").mkdir()
    return folder


def test_a_metric_is_shown_with_its_levels_changes_and_what_they_add_up_to(stepped):
    histories, _ = series(collect(sorted((stepped / ".iogate/results").glob("*/results.json"))))
    (view,) = history_views(histories)
    assert "30 sessions" in view.summary and "2 changes" in view.summary
    assert len(view.changes) == 2 and all(around for _, around in view.changes)
    assert "no comparison sees that" in view.drift
    (plot,) = view.plots
    assert len(plot["rows"]) == 30
    first, second, third = plot["more"]["levels"]
    assert first["from"] == plot["rows"][0][0] and third["to"] == plot["rows"][-1][0]
    assert first["level"] > second["level"] > third["level"]
    assert len(plot["more"]["changes"]) == 2


def test_the_command_adds_the_history_of_all_kept_sessions(stepped, monkeypatch, capsys):
    monkeypatch.chdir(stepped)
    assert main(["report", "--history", "-o", "page.html"]) == 0
    assert "1 session" in capsys.readouterr().out
    text = (stepped / "page.html").read_text()
    assert "Over many sessions" in text and "lab: q/read_4k read.iops" in text


@pytest.mark.parametrize("way", ["absolute", "relative"])
def test_what_results_call_a_device_leads_nowhere(tmp_path, monkeypatch, way):
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "token.yaml").write_text("SECRET\n")
    device = str(secrets) if way == "absolute" else "../secrets"
    for file in past(tmp_path, [12000.0] * 12):
        replace(Results.read(file), device=device).write(file)
    for folder in ("suites", "baselines"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--history", "-o", "page.html"]) == 0
    text = (tmp_path / "page.html").read_text()
    assert "Over many sessions" in text and "SECRET" not in text and "token.yaml" not in text


def test_a_single_session_has_no_history(tmp_path):
    files = past(tmp_path, [12000.0])
    histories, left_out = series(collect(files))
    assert history_views(histories) == []
    assert "Over many sessions" not in page([session(1)], histories, left_out)
