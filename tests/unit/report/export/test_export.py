"""Exports: what a reader of each format finds in them, and nothing that a name could slip in."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timezone

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.cli import main
from iogate.errors import InputError, IogateError
from iogate.report.export import FORMATS, export
from iogate.units import printable
from sessions import LATENCY, REGRESSED, SESSION, metric, session, workload

NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["=1+1", "@SUM(A1)", "-2", "a\nb", 'a"b', "a\\b", "\t=1", "\x1b[31m", "{x}", "#", "\x85", "Benchmark"]
)
LATER = "2026-11-22T02:11:47Z-b132"


def table(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def gauges(text):
    """What prometheus_client's parser of OpenMetrics finds, by family; it raises for what is not valid."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    families = parser.text_string_to_metric_families(text)
    return {family.name: [*family.samples] for family in families}


# ------------------------------------------------------------ CSV, Parquet


def test_a_row_of_csv_says_all_of_a_metric():
    first, second = table(export([session()], "csv"))
    assert first["device"] == "lab" and first["session"] == SESSION and first["workload"] == "reads"
    assert (first["verdict"], first["metric_verdict"]) == ("regressed", "regressed")
    assert [float(first[key]) for key in ("value", "baseline", "change", "tolerance", "bound")] == [
        905.0,
        1000.0,
        -0.095,
        0.05,
        950.0,
    ]
    assert (float(first["interval_low"]), float(first["interval_high"])) == (-0.1, -0.09)
    assert first["values"] == "900.0 910.0 905.0" and first["gating"] == "true"
    assert first["findings"] == "note cached: buffered I/O"
    assert second["metric"] == "read.clat.p99" and second["baseline"] == ""


def test_only_the_metrics_that_decide():
    (row,) = table(export([session()], "csv", gating=True))
    assert row["metric"] == "read.iops"


def test_a_workload_without_figures_has_a_row_with_its_verdict():
    (row,) = table(export([session(workload(metrics={}, verdict="invalid", reason="no"))], "csv"))
    assert (row["verdict"], row["reason"], row["metric"], row["value"]) == ("invalid", "no", "", "")


def test_a_figure_that_is_not_finite_is_empty():
    none = replace(REGRESSED, value=None, values=(1.0, None))
    (row,) = table(export([session(workload(metrics={"read.iops": none}))], "csv"))
    assert row["value"] == "" and row["values"] == "1.0 nan"


@given(NAMES, NAMES)
def test_no_cell_of_csv_is_a_formula(name, reason):
    made = export([session(workload(name, reason=reason))], "csv")
    cells = [cell for row in csv.reader(io.StringIO(made, newline="")) for cell in row]
    for cell in cells:
        number = cell[:1] == "-" and cell[1:].replace(".", "").replace("e", "").replace("-", "").isdecimal()
        assert not cell.startswith(("=", "+", "@", "-", "\t", "\r", "\n")) or number


@pytest.mark.parametrize("sign", "\uff1d\uff0b\uff0d\uff20")
def test_no_cell_of_csv_is_a_formula_in_full_width(sign):
    (row, *_) = table(export([session(workload(reason=f"{sign}1+1"))], "csv"))
    assert row["reason"] == f"'{sign}1+1"


def test_parquet_has_the_rows_in_types():
    parquet = pytest.importorskip("pyarrow.parquet")
    found = parquet.read_table(io.BytesIO(export([session()], "parquet"))).to_pylist()
    assert found[0]["values"] == [900.0, 910.0, 905.0] and found[0]["gating"] is True
    assert found[0]["repetitions"] == 3 and found[1]["baseline"] is None


def test_without_pyarrow_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(IogateError, match=r"pip install 'iogate\[parquet\]'"):
        export([session()], "parquet")


# ------------------------------------------------------------ OpenMetrics


def test_gauges_are_in_base_units():
    found = gauges(export([session()], "openmetrics"))
    (rate,) = found["iogate_measured_rate_operations_per_second"]
    assert rate.value == 905.0 and rate.timestamp is None
    assert rate.labels == {
        "device": "lab",
        "suite": "demo",
        "workload": "reads",
        "metric": "read.iops",
        "gating": "true",
    }
    (latency,) = found["iogate_measured_time_seconds"]
    assert latency.value == pytest.approx(3e-3)
    (change,) = found["iogate_change_ratio"]
    assert change.value == -0.095
    (verdict,) = found["iogate_verdict"]
    assert verdict.labels["verdict"] == "regressed" and verdict.value == 1.0


def test_points_of_several_sessions_have_their_times():
    older, newer = session(), session(name=LATER)
    found = gauges(export([newer, older], "openmetrics"))
    times = [point.timestamp for point in found["iogate_measured_rate_operations_per_second"]]
    assert [float(time) for time in times] == sorted(map(float, times))
    assert float(times[1]) - float(times[0]) == 86400


def test_a_series_needs_sessions_with_times_and_one_at_a_time():
    with pytest.raises(InputError, match="has no time"):
        export([session(), session(name="old+new")], "openmetrics")
    with pytest.raises(InputError, match="has no time"):
        export([session(), session(name="2026-13-41T02:11:47Z-b132")], "openmetrics")
    assert "session_start" not in export([session(name="2026-13-41T02:11:47Z-b132")], "openmetrics")
    with pytest.raises(InputError, match="same second"):
        export([session(), session(name=SESSION[:-1] + "3")], "openmetrics")


@given(NAMES, NAMES, NAMES)
def test_any_name_is_valid_openmetrics(device, suite, name):
    made = export([session(workload(name, suite), device=device)], "openmetrics")
    (verdict,) = gauges(made)["iogate_verdict"]
    assert verdict.labels["workload"] == printable(name)


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs promtool, of the package prometheus")
def test_promtool_takes_one_session_and_makes_blocks_of_two(tmp_path):
    one = export([session(device='a"b\\c')], "openmetrics")
    said = subprocess.run(
        ["promtool", "check", "metrics"], input=one.encode(), capture_output=True, check=False
    )
    assert (said.returncode, said.stdout, said.stderr) == (0, b"", b"")
    two = tmp_path / "two.om"
    two.write_text(export([session(), session(name=LATER)], "openmetrics"))
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(two), str(tmp_path / "blocks")]
    subprocess.run(command, capture_output=True, check=True)
    assert len(list((tmp_path / "blocks").glob("*/meta.json"))) == 2


# ------------------------------------------------------------ benchstat, Bencher

BENCHER = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": {name: {"type": "number"} for name in ("value", "lower_value", "upper_value")},
            "additionalProperties": False,
            "required": ["value"],
        },
    },
}
"""What https://bencher.dev/docs/reference/bencher-metric-format says, and nothing beyond."""


@given(NAMES, NAMES)
def test_any_name_is_in_benchers_format(name, suite):
    made = json.loads(export([session(workload(name, suite))], "bencher"))
    jsonschema.validate(made, BENCHER)
    assert len(made) == 1


def test_benchstat_has_a_line_for_each_repetition():
    lines = export([session()], "benchstat").splitlines()
    assert lines[:2] == ["Unit read.iops-ops/s better=higher", "Unit read.clat.p99-sec better=lower"]
    assert "device: lab" in lines and "suite: demo" in lines
    results = [line for line in lines if line.startswith("Benchmark")]
    assert results[0] == "BenchmarkIO/reads 1 900 read.iops-ops/s 0.002 read.clat.p99-sec"
    assert len(results) == 3


@given(NAMES, NAMES)
def test_no_name_breaks_a_line_of_benchstat(name, suite):
    for line in export([session(workload(name, suite))], "benchstat").splitlines():
        fields = line.split()
        if line.startswith("Benchmark"):
            assert len(fields) == 6 and float(fields[2]) > 0 and float(fields[4]) > 0
        else:
            assert not line or line.startswith(("Unit ", "device: ", "engine: ", "suite: "))


def test_bencher_has_the_range_of_the_repetitions():
    found = json.loads(export([session()], "bencher"))
    assert found["demo/reads"]["read.iops"] == {"value": 905.0, "lower_value": 900.0, "upper_value": 910.0}
    assert found["demo/reads"]["read.clat.p99"]["value"] == LATENCY.value


def test_bencher_takes_one_session_and_names_of_its_length():
    with pytest.raises(InputError, match="one session at a time"):
        export([session(), session(name=LATER)], "bencher")
    with pytest.raises(InputError, match="64 characters"):
        export([session(workload(metrics={"x" * 65 + ".iops": metric(1.0)}))], "bencher")


@pytest.mark.parametrize("format", ["benchstat", "bencher"])
def test_what_is_invalid_is_no_benchmark(format):
    made = export([session(workload("bad", verdict="invalid"), workload("good"))], format)
    assert "good" in made and "bad" not in made


# ------------------------------------------------------------ the command


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results" / SESSION / "results.json"
    path.parent.mkdir(parents=True)
    session().write(path)
    return path


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "parquet"])
def test_the_command_reads_files_and_folders(results, capsys, format):
    for path in (results, results.parent, results.parent.parent):
        assert main(["export", f"--format={format}", str(path)]) == 0
        assert capsys.readouterr().out.replace("\r\n", "\n") == export([session()], format).replace(
            "\r\n", "\n"
        )


def test_a_file_is_written_and_results_are_not_written_over(results, tmp_path, capsys):
    output = tmp_path / "out.csv"
    assert main(["export", "--format=csv", "-o", str(output), str(results)]) == 0
    assert output.read_bytes().decode() == export([session()], "csv")
    assert main(["export", "--format=csv", "-o", str(results), str(results)]) == 2
    assert "is not overwritten" in capsys.readouterr().err


def test_a_dash_is_standard_output(results, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["export", "--format=csv", "-o", "-", str(results)]) == 0
    assert capsys.readouterr().out.replace("\r\n", "\n") == export([session()], "csv").replace("\r\n", "\n")
    assert not (tmp_path / "-").exists()


def test_nothing_that_is_there_is_written_over(results, tmp_path, capsys):
    suite, link, pipe = tmp_path / "suite.yaml", tmp_path / "link.csv", tmp_path / "pipe"
    suite.write_text("workloads: {}\n")
    link.symlink_to(suite)
    os.mkfifo(pipe)
    for output in (suite, link, pipe):
        assert main(["export", "--format=csv", "-o", str(output), str(results)]) == 2
        assert "is not overwritten" in capsys.readouterr().err
    assert suite.read_text() == "workloads: {}\n"


@pytest.mark.parametrize("content", ["", "{}", "no", '{"schema": 2, "workloads": []}'])
def test_what_is_no_results_document_is_refused(tmp_path, capsys, content):
    path = tmp_path / "results.json"
    path.write_text(content)
    assert main(["export", "--format=csv", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "results.json" in said.err


def test_a_session_given_twice_and_a_folder_without_any_are_refused(results, tmp_path, capsys):
    assert main(["export", "--format=csv", str(results), str(results.parent)]) == 0  # one file by two names
    capsys.readouterr()
    copy = tmp_path / "copy.json"
    copy.write_bytes(results.read_bytes())
    assert main(["export", "--format=csv", str(results), str(copy)]) == 2
    assert "given twice" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["export", "--format=csv", str(tmp_path / "empty")]) == 2
    assert "results.json" in capsys.readouterr().err


def test_bytes_are_not_written_to_a_terminal(results, capsys, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main(["export", "--format=parquet", str(results)]) == 2
    assert "-o FILE" in capsys.readouterr().err


def test_when_a_session_began_is_a_gauge():
    (start,) = gauges(export([session()], "openmetrics"))["iogate_session_start_seconds"]
    assert start.value == datetime(2026, 11, 21, 2, 11, 47, tzinfo=timezone.utc).timestamp()
