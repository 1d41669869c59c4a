"""The history of a project's sessions."""

import json

import pytest

from iogate.cli import main
from iogate.judge.baseline import update
from iogate.model import Environment, PairFacts
from iogate.report.history.values import LeftOut
from iogate.report.history.words import left_out_lines
from iogate.report.results import RunRecord
from kept_sessions import DEFINITION, keep, record, repetitions, session, session_name


def sessions(folder, count=30, step=20, loss=0.06, seed=1):
    """Sessions of a device that lost some speed with a new kernel."""
    for number in range(count):
        level = 10_000 * (1 - loss * (number >= step))
        kernel = Environment({"machine": "m"}, {"kernel": "6.1" if number < step else "6.6"}, {})
        keep(folder, session(number, record(repetitions(seed, number, level)), environment=kernel))


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "baselines" / "lab").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def kept(project):
    return project / ".iogate" / "results"


def test_a_step_is_told_with_what_changed_around_it(kept, capsys):
    sessions(kept)
    assert main(["history"]) == 0
    said = capsys.readouterr().out
    assert "lab: 30 sessions, 2026-01-01 00:00 to 2026-01-30 00:00" in said
    assert "2026-01-21 00:00  worse: " in said
    assert "kernel was 6.1, is 6.6" in said


def test_for_programs_it_is_json(kept, capsys):
    sessions(kept)
    assert main(["history", "--json", str(kept)]) == 0
    (metric,) = json.loads(capsys.readouterr().out)["metrics"]
    assert metric["workload"] == "read_4k"
    assert len(metric["points"]) == 30
    assert [(one["index"], one["worse"]) for one in metric["changes"]] == [(20, True)]


def told(capsys, *arguments, status=0):
    found = main(["history", *map(str, arguments)])
    said = capsys.readouterr().out
    assert found == status, said
    return said


def metrics(capsys, *arguments, status=0):
    document = json.loads(told(capsys, "--json", *arguments, status=status))
    return document["metrics"], {item["why"] for item in document["left_out"]}


def test_several_small_losses_that_add_up_are_named(kept, capsys):
    for number in range(60):
        level = 10_000 * 0.97 ** ((number >= 20) + (number >= 40))
        keep(kept, session(number, record(repetitions(3, number, level))))
    (metric,), _ = metrics(capsys)
    assert metric["drift"]["steps"] == 2
    assert metric["drift"]["change"] == pytest.approx(-0.06, abs=0.015)
    assert metric["drift"]["largest"] < 0.05
    assert "within the tolerance of 5.0%: no single comparison sees that" in " ".join(told(capsys).split())


def test_a_session_in_results_and_in_a_baseline_counts_once(project, kept, capsys):
    for number in range(8):
        values = repetitions(1, number, 10_000)
        if number >= 3:
            keep(kept, session(number, record(values)))
        if number < 6:
            measured = {"read_4k": (DEFINITION, {"read.iops": values})}
            where = project / "baselines" / "lab" / "q.yaml"
            there = Environment({"machine": "m"}, {"kernel": "6.1"}, {})
            update(where, "lab", "q", session_name(number), there, "", measured, "append")
    (metric,), left_out = metrics(capsys)
    assert [one["session"] for one in metric["points"]] == [session_name(number) for number in range(8)]
    assert [one["file"].rpartition(".")[2] for one in metric["points"]] == ["yaml"] * 3 + ["json"] * 5
    assert left_out == set()


def test_a_baseline_alone_has_the_metrics_that_its_engine_gates(project, capsys):
    where = project / "baselines" / "lab" / "q.yaml"
    values = {"read.iops": [10.0, 11.0], "read.clat.p99": [5.0, 6.0]}
    update(where, "lab", "q", session_name(1), Environment(), "", {"read_4k": (DEFINITION, values)}, "append")
    (metric,), _ = metrics(capsys)
    assert metric["metric"] == "read.iops"


def test_what_cannot_stand_beside_the_others_is_left_out_and_said(kept, capsys):
    values = repetitions(1, 1, 10_000)
    other = Environment({"machine": "other"}, {}, {})
    keep(kept, session(1, record(values, definition={**DEFINITION, "bs": "8k"})))
    keep(kept, session(2, record(values), environment=other))
    keep(kept, session(3, record(values, verdict="invalid", reason="page cache\nmore")))
    keep(kept, session(4, record(values, pair=PairFacts("base", ""))))
    keep(kept, session(5, record(values), run=RunRecord({}, ("suites/q.yaml::read_4k",))))
    keep(kept, session(6, record([], verdict="no_baseline")))
    keep(kept, session(7, record(values)))
    (metric,), left_out = metrics(capsys)
    assert [one["session"] for one in metric["points"]] == [session_name(7)]
    assert left_out == {
        "defined otherwise: bs was 8k, is 4k",
        "of another machine: machine was other, is m",
        "invalid: page cache",
        "measured by turns with another",
        "the session broke off before it was decided",
        "not measured (no_baseline)",
    }


def test_devices_have_histories_of_their_own(kept, capsys):
    keep(kept, session(1, record([1.0, 2.0])))
    keep(kept, session(2, record([3.0, 4.0]), device="other"))
    assert {one["device"] for one in metrics(capsys)[0]} == {"lab", "other"}
    assert [one["device"] for one in metrics(capsys, "--device=lab")[0]] == ["lab"]


def test_the_same_document_in_two_places_counts_once(project, kept, capsys):
    results = session(1, record([1.0, 2.0]))
    (metric,), left_out = metrics(capsys, keep(kept, results), keep(project / "copy", results))
    assert len(metric["points"]) == 1
    assert left_out == set()


def test_documents_that_say_different_things_of_a_session_count_once_and_it_is_said(project, kept, capsys):
    files = keep(kept, session(1, record([1.0, 2.0]))), keep(project / "copy", session(1, record([3.0, 4.0])))
    (metric,), (why,) = metrics(capsys, *files)
    assert len(metric["points"]) == 1
    assert "says other figures of the same session" in why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ('{"schema": 1, "workloads": [', "not JSON"),
        ('{"schema": 2, "workloads": []}', "results of schema 2"),
        ('{"a": 1}', "not a results file of iogate"),
    ],
)
def test_a_file_that_is_none_is_named_with_its_reason_and_the_others_are_shown(kept, capsys, text, why):
    keep(kept, session(1, record([1.0, 2.0])))
    bad = kept / session_name(2) / "results.json"
    bad.parent.mkdir()
    bad.write_text(text)
    said = told(capsys, status=1)
    assert f"left out: {bad}" in " ".join(said.split())
    assert why in " ".join(said.split())
    assert "read_4k" in said


def test_without_a_session_it_says_where_it_looked(project, capsys):
    assert main(["history"]) == 2
    said = capsys.readouterr().err
    assert "no session to show in" in said
    assert "run pytest first" in said


def test_names_do_not_steer_the_terminal(kept, capsys):
    name = "read\x1b[31m\u202e\x9b"
    for number in range(3):
        there = Environment({"machine": "m"}, {"kernel": f"\x1b]0;{number}"}, {})
        keep(kept, session(number, record([1.0, 2.0], name=name), environment=there))
    said, document = told(capsys, "-v"), told(capsys, "--json")
    assert not {"\x1b", "\u202e", "\x9b"} & {*said, *document}
    assert "read?[31m?" in said
    assert json.loads(document)["metrics"][0]["workload"] == name


def test_verbose_tells_each_session(kept, capsys):
    sessions(kept, 12)
    said = told(capsys, "-v")
    assert all(session_name(number) in said for number in range(12))


def test_workloads_are_chosen_by_patterns(kept, capsys):
    keep(kept, session(1, record([1.0, 2.0]), record([1.0, 2.0], name="write_4k")))
    assert [one["workload"] for one in metrics(capsys, "--workload=wr*")[0]] == ["write_4k"]


def test_a_changed_image_beside_the_likeliest_session_is_told_with_its_date(kept, capsys):
    for number in range(30):
        noise = 0.985 if number == 19 else 1.0  # the session before the loss was slow itself
        level = 10_000 * (0.97 if number >= 20 else noise)
        there = Environment({"machine": "m"}, {"image": "1" if number < 20 else "2"}, {})
        keep(kept, session(number, record(repetitions(9, number, level)), environment=there))
    (metric,), _ = metrics(capsys)
    (change,) = metric["changes"]
    assert any("image was 1, is 2" in text for text in change["around"])


class TestFoldersOfResults:
    """What jobs leave in one folder over months, in which the names of files and folders change."""

    @pytest.fixture
    def artifacts(self, project):
        """A session's folder, what --io-json wrote of a device in another one, and beside them."""
        folder = project / "artifacts"
        keep(folder, session(0, record(repetitions(1, 0, 10_000))))
        for number, name in ((1, "run-2/results-lab.json"), (2, "nightly.json")):
            (folder / name).parent.mkdir(exist_ok=True)
            session(number, record(repetitions(1, number, 10_000))).write(folder / name)
        (folder / "run-2" / "package.json").write_text("{}")
        (folder / "fleet.json").write_text("{}")
        (folder / "history.json").touch()  # what `iogate history --json > artifacts/history.json` begins with
        return folder

    def test_results_of_whatever_names_count(self, artifacts, capsys):
        assert main(["history", str(artifacts)]) == 0
        assert "lab: 3 sessions" in capsys.readouterr().out

    def test_a_folder_of_a_session_is_that_session(self, artifacts, capsys):
        session(3, record(repetitions(1, 3, 10_000))).write(artifacts / session_name(0) / "older.json")
        assert main(["history", str(artifacts / session_name(0))]) == 0
        assert "lab: 1 session," in capsys.readouterr().out

    def test_results_that_were_cut_off_are_told(self, artifacts, capsys):
        file = artifacts / "run-2" / "results-lab.json"
        file.write_bytes(file.read_bytes()[:500])
        assert main(["history", str(artifacts)]) == 1
        assert "results-lab.json" in capsys.readouterr().out


def test_sessions_of_one_minute_that_are_left_out_are_counted_each():
    left_out = [
        LeftOut("of another machine", "mix", "2026-11-20 10:00", f"{n}/results.json") for n in range(3)
    ]
    (line,) = left_out_lines(left_out)
    assert "mix (2026-11-20 10:00, 3 sessions)" in line
