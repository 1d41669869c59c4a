"""The table of the published report of the Jetson AGX Orin: its columns, and its figures."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from iogate.cli import main
from iogate.declare.suite import load_suite
from iogate.model import metric
from iogate.offline.published import Machine, audit_files
from iogate.report.latency_table import latency_table
from iogate.report.results import MetricRecord
from places import ROOT
from records import results, workload

REPORT = ROOT / "tests/data/published/jetson_agx_orin_fio.md"
ALIGNED = re.compile(r"[-|: ]+")


def cells(line):
    return [text.strip() for text in line.strip().strip("|").split("|")]


def table(text):
    """The rows of the table of latencies, headers first."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("| IO Pattern"))
    rows = [line for line in lines[start:] if line.startswith("|") and not ALIGNED.fullmatch(line)]
    return [cells(row) for row in rows]


def record(name, definition, figures, **more):
    """A workload with these figures."""
    metrics = {}
    for key, value in figures.items():
        known = metric(key)
        metrics[key] = MetricRecord(known.unit, known.direction, False, (value,), value)
    return replace(workload(name), definition=definition, metrics=metrics, **more)


def test_the_legend_has_one_line_of_headings():
    assert latency_table([]).count("Abbreviation") == 1


@pytest.fixture(scope="module")
def orin():
    """The published figures, as the baseline of the device has them."""
    stored = yaml.safe_load((ROOT / "baselines/orin/acceptance.yaml").read_text())["workloads"]
    declared = {item.name: item for item in load_suite(ROOT / "suites/acceptance.yaml").workloads}
    return results(
        *(
            record(name, entry["definition"], entry["metrics"], description=declared[name].description)
            for name, entry in stored.items()
        )
    )


def test_the_columns_are_those_of_the_report(orin):
    published, made = table(REPORT.read_text())[0], table(latency_table([orin]))[0]
    assert [name for name in made if name != "Explanation"] == published


def test_the_figures_are_those_of_the_report(orin):
    published, made = table(REPORT.read_text())[1:], table(latency_table([orin]))[1:]
    assert len(made) == len(published) == 6
    for theirs, ours in zip(published, made, strict=True):
        assert ours[:2] == theirs[:2]
        for their, our in zip(theirs[4:], ours[5:], strict=True):
            assert float(our) == pytest.approx(float(their.replace(",", ".")), rel=1e-4, abs=0.01)


def test_sizes_are_told_in_the_units_that_they_have(orin):
    assert table(latency_table([orin]))[1][2:5] == [
        "16 GiB",
        "1 MiB",
        "Write backup activity, or large file copies.",
    ]


def test_the_audit_reads_it_and_finds_nothing_against_it(orin, tmp_path):
    """The table itself says nothing of a queue depth, which would hold latencies against bandwidths."""
    file = tmp_path / "made.md"
    file.write_text(latency_table([orin]))
    text, status = audit_files([file], Machine())
    assert status == 0
    assert "nothing to hold against: bandwidth (6 of 6 rows), latency (6 of 6 rows)" in text


def test_a_mix_has_a_row_for_each_direction_with_its_block_size():
    mixed = record(
        "mix",
        {"rw": "randrw", "bs": "4k,64k", "size": "1G"},
        {"read.bandwidth": 2.0**20, "write.bandwidth": 2.0**21},
    )
    read, write = table(latency_table([results(mixed)]))[1:]
    assert read[:4] == ["Read", "Random reads of a mix", "1 GiB", "4 KiB"] and read[6] == "1"
    assert write[:4] == ["Write", "Random writes of a mix", "1 GiB", "64 KiB"] and write[6] == "2"


@pytest.mark.parametrize(
    ("passed", "shown"),
    [
        ({"bssplit": "4k/50:64k/50"}, "4k/50:64k/50"),
        ({"bssplit": "8k/90:64k/10,4k/100"}, "8k/90:64k/10"),
        ({"bsrange": "4k-32k"}, "4k-32k"),
        ({"bs_unaligned": None}, "4 KiB"),
    ],
    ids=str,
)
def test_several_block_sizes_are_told_as_they_are(passed, shown):
    """It was the one that holds where nothing is said."""
    split = record(
        "split", {"rw": "randread", "bs": "4k", "size": "1G", "fio": passed}, {"read.bandwidth": 2.0**20}
    )
    (row,) = table(latency_table([results(split)]))[1:]
    assert row[3].strip("`") == shown


def test_what_was_not_measured_is_no_number():
    one = record("a", {"rw": "read"}, {"read.bandwidth": 2.0**20})
    (_, row) = table(latency_table([results(one)]))
    assert row[2:8] == ["-", "-", "-", "-", "1", "-"] and set(row[8:]) == {"-"}


def test_what_not_every_repetition_has_is_no_figure_beside_their_means():
    """fio took one sample in one of five, whose maximum was below the mean of all."""
    one = record("short", {}, {"read.bandwidth": 60.0 * 2**20, "read.bandwidth.max": 10.0 * 2**20})
    mean = replace(one.metrics["read.bandwidth"], values=(60.0 * 2**20,) * 5)
    row = table(latency_table([results(replace(one, metrics={**one.metrics, "read.bandwidth": mean}))]))[1]
    assert row[5:8] == ["-", "60", "-"]


def test_what_has_no_row_and_what_is_not_believed_is_named():
    bare = record("lost", {}, {}, verdict="no_baseline")
    bad = record("cached", {"rw": "read"}, {"read.bandwidth": 2.0**20}, verdict="invalid")
    text = latency_table([results(bare, bad)])
    assert text.endswith(
        "no row: lost has no figures of reads or writes (no_baseline)\nnot to be believed: cached is invalid"
    )


def test_names_and_descriptions_are_text():
    nasty = record(
        "x|y", {"bs": "<b>"}, {"read.bandwidth": 1.0}, description="a | @b <script> https://e.example"
    )
    row = next(line for line in latency_table([results(nasty)]).splitlines() if line.startswith("| Read"))
    assert "`x\\|y`" in row and "`<b>`" in row and "`a \\| @b <script> https://e.example`" in row


# ------------------------------------------------------------ the command


def test_the_command_prints_the_table_of_a_file_or_of_the_last_session(orin, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for day in (1, 2):
        folder = tmp_path / f".iogate/results/2026-01-0{day}T00:00:00Z-aaaa"
        folder.mkdir(parents=True)
        orin.write(folder / "results.json")
    assert main(["report", "--table=latency", str(folder)]) == 0
    named = capsys.readouterr().out
    assert main(["report", "--table=latency"]) == 0
    assert capsys.readouterr().out == named == latency_table([orin]) + "\n"


@pytest.mark.parametrize("command", ["report", "history", "export --format=csv"])
def test_a_folder_that_may_not_be_read_is_told(tmp_path, monkeypatch, capsys, command):
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    (tmp_path / "theirs").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.scandir", refuse)  # root may read all
    assert main([*command.split(), "theirs"]) == 2
    assert "cannot read theirs: Permission denied" in capsys.readouterr().err


def test_where_nothing_is_kept_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--table=latency"]) == 2
    assert "no session is kept in" in capsys.readouterr().err
    Path("bad.json").write_text("{")
    assert main(["report", "--table=latency", "bad.json"]) == 2
    assert "bad.json:1" in capsys.readouterr().err
