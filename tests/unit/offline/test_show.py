"""`iogate show`: any engine's output in units that people read."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import places
from iogate.offline.show import show
from iogate.report.results import Results, RunRecord
from iogate.units import format_quantity

DATA = places.DATA / "fio"
MIXED = DATA / "fio-3.33.randrw70.json"
JOBS = DATA / "fio-3.33.jobfile_75_25.json"
RESULTS = places.DATA / "results" / "results_before_repetitions.json"
ABORTED = DATA / "fio-3.33.sigint.json"


def line(text, start):
    return next(line.split("  ") for line in text.splitlines() if line.strip().startswith(start))


def test_figures_have_units_that_people_read():
    text, status = show([MIXED], as_json=False)
    assert status == 0
    assert f"{MIXED}: fio-3.33" in text
    assert "rw=randrw, bs=8k, iodepth=8" in text
    cells = [cell.strip() for cell in line(text, "read.bandwidth") if cell.strip()]
    assert cells == ["read.bandwidth", "35.85 MiB/s", "33.36 MiB/s", "36.88 MiB/s", "1.768 MiB/s"]
    assert "1.159 ms" in text and "p99.99" in text


def test_jobs_are_shown_one_by_one_and_together():
    text, _ = show([JOBS], as_json=False)
    headings = [row.split(" (")[0] for row in text.splitlines() if " (" in row]
    assert headings == ["j1", "j2", "j3", "j4", "all jobs"]


def test_json_has_plain_units():
    text, status = show([JOBS, MIXED], as_json=True)
    jobs, mixed = json.loads(text)
    assert status == 0
    assert [part["name"] for part in jobs["parts"]] == ["j1", "j2", "j3", "j4", "all jobs"]
    assert mixed["engine"] == "fio"
    figure = mixed["parts"][0]["metrics"]["read.bandwidth"]
    assert figure == {"value": 37590676.0, "unit": "B/s"}


@pytest.mark.parametrize("as_json", [True, False])
def test_a_refused_file_is_told_and_the_others_are_shown(as_json):
    text, status = show([ABORTED, MIXED], as_json=as_json)
    assert status == 1
    assert "aborted by signal 2" in text
    assert "read.clat" in text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\xff\xfe\x00", "no output of an engine that is known here\n  outputs of these can be read: fio, "),
        (b"{}", "no output of an engine"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_output_is_told(tmp_path, content, reason):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    text, status = show([path], as_json=False)
    assert status == 1
    assert text.startswith("refused: ") and reason in text


def test_the_text_output_of_fio_is_read():
    text, status = show([DATA.parent / "fio_text/fio-3.33.randrw_grouped.txt"], as_json=False)
    assert status == 0
    assert "fio-3.33" in text and "read.iops" in text and "write.clat" in text


def test_text_outputs_within_a_report_are_shown_one_by_one():
    text, status = show([DATA.parent / "published/glusterfs_fio_report.md"], as_json=False)
    assert status == 0
    headings = [row.split(" (")[0] for row in text.splitlines() if " (" in row]
    assert headings[:4] == ["read_iops", "read_throughput", "write_iops", "write_throughput"]
    assert [row.rpartition(": ")[0].rpartition(":")[2] for row in text.splitlines() if "fio-3.25" in row] == [
        *("19", "69", "126", "176"),
    ]


def test_a_folder_without_files_is_told(tmp_path):
    text, status = show([tmp_path], as_json=False)
    assert (status, "holds no file *.json, *.txt, *.out" in text) == (1, True)


@pytest.fixture
def session(tmp_path):
    """The folder of a session, among others."""
    folder = tmp_path / "sessions" / "2026-01-01"
    (folder / "mixed-1").mkdir(parents=True)
    shutil.copy(RESULTS, folder / "results.json")
    return folder


def test_the_folder_of_a_session_is_shown_as_its_table(session):
    text, status = show([session], as_json=False)
    assert status == 0
    assert f"{session}/results.json: session 2026-11-21T22:19:12Z-1f0b of local: 2 recorded" in text
    assert line(text, "reads")[2].strip() == "1613 MiB/s" or "1613 MiB/s" in text
    assert show([session.parent], as_json=False) == (text, status)


def test_that_a_session_broke_off_is_told(session):
    file = session / "results.json"
    replace(Results.read(file), run=RunRecord({}, ("suites/q.yaml::read_4k",), ended=False)).write(file)
    assert "2 recorded; the session broke off, 1 workload not decided" in show([session], as_json=False)[0]


def test_a_session_has_plain_units_in_json(session):
    text, status = show([session], as_json=True)
    (shown,) = json.loads(text)
    assert (status, shown["engine"]) == (0, "iogate")
    assert [part["name"] for part in shown["parts"]] == ["suites/demo.yaml::mixed", "suites/demo.yaml::reads"]
    assert shown["parts"][1]["metrics"]["read.bandwidth"]["unit"] == "B/s"


def test_a_damaged_session_is_told(session):
    (session / "results.json").write_text('{"schema": 1, "workloads": [3]}')
    text, status = show([session], as_json=False)
    assert status == 1 and text.startswith("refused: ") and "results.json:1:" in text


def test_of_many_files_each_has_a_row(session):
    files = [MIXED, JOBS, ABORTED, session, DATA.parent / "mlc" / "v3.9a.idle_latency.txt", session / "gone"]
    text, status = show(files, as_json=False)
    rows = {Path(row.split()[0]).name: row for row in text.splitlines()[2:]}
    assert status == 1
    assert len(text.splitlines()) == 2 + len(files)
    assert "35.85 MiB/s" in rows[MIXED.name] and "3.293 ms" in rows[MIXED.name]
    assert "refused: " in rows[ABORTED.name] and "aborted by signal 2" in rows[ABORTED.name]
    assert rows["results.json"].endswith("session 2026-11-21T22:19:12Z-1f0b of local: 2 recorded")
    assert rows["v3.9a.idle_latency.txt"].endswith("latency.idle 95.70 ns")
    assert rows["gone"].endswith("No such file or directory")


def test_a_large_table_of_iozone_has_a_line_a_point():
    text, _ = show([DATA.parent / "iozone" / "iozone-3.489.auto_buffered.txt"], as_json=False)
    header = next(row for row in text.splitlines() if "rewrite" in row)
    assert header.split()[:4] == ["bandwidth", "write", "rewrite", "read"]
    assert [cell for cell in line(text, "2M/256k") if cell][1].strip() == "6174 MiB/s"
    assert max(text.count(f"{point}  ") for point in ("2M/256k", "4M/1M")) == 1


def test_groups_that_do_not_add_up_are_shown_apart(tmp_path):
    document = json.loads((DATA / "fio-3.33.write_ungrouped.json").read_text())
    document["jobs"][1].update(groupid=1, jobname="later")
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(document))
    text, status = show([path], as_json=False)
    assert status == 0
    assert "later (" in text and "all jobs" not in text
    assert "not added up" in text


def test_a_name_in_a_file_does_not_steer_the_terminal(tmp_path):
    document = json.loads(MIXED.read_text())
    document["jobs"][0]["job options"]["rw"] = "\x1b]0;owned\x07"
    document["fio version"] = "fio-3.33\x1b[2J"
    path = tmp_path / "evil.json"
    path.write_text(json.dumps(document))
    text, _ = show([path], as_json=False)
    assert "\x1b" not in text and "\x07" not in text


def test_json_holds_no_command_to_who_runs_a_job_and_says_what_the_file_said(session):
    document = json.loads(RESULTS.read_text())
    command = "##vso[task.setvariable variable=PATH]x"
    document["versions"] = {"fio": command, "reader": command}
    (session / "results.json").write_text(json.dumps(document))
    text, _ = show([session], as_json=True)
    assert "##vso" not in text and command in json.dumps(json.loads(text))


def test_all_processes_together_are_not_shown_as_the_mean_of_one():
    path = places.DATA / "iozone/iozone-3.489.throughput_2_direct.txt"
    text, _ = show([path], as_json=False)
    (whole,) = json.loads(show([path], as_json=True)[0])[0]["parts"]
    figures = {name: figure["value"] for name, figure in whole["metrics"].items()}
    header = next(row.split() for row in text.splitlines() if "total" in row)
    cells = [cell.strip() for cell in line(text, "write.bandwidth ") if cell.strip()][1:]
    shown = dict(zip(header, cells, strict=True))
    names = {"total": "", "mean": ".mean", "min": ".min", "max": ".max"}
    assert shown == {
        column: format_quantity(figures[f"write.bandwidth{part}"], "B/s") for column, part in names.items()
    }
    assert figures["write.bandwidth"] == pytest.approx(2 * figures["write.bandwidth.mean"], rel=1e-3)
