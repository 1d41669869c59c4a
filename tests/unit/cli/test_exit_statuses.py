"""Exit statuses: the table in docs/, the help of each command, and what the commands do are one."""

import re
import subprocess
import sys

import pytest

from iogate.cli import main
from iogate.plugin.status import STATUSES
from places import ROOT
from sessions import metric, session, workload

TABLE = dict(
    re.findall(r"^\| `(.*?)` \| (.*) \|$", (ROOT / "docs/exit_statuses.md").read_text(), re.MULTILINE)
)


def status(*arguments):
    """How a command ends, whether by argparse or by itself."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize("command", [name for name in TABLE if name.startswith("iogate")])
def test_the_table_says_what_the_help_says(command, capsys):
    assert status(*command.split()[1:], "--help") == 0
    told = capsys.readouterr().out
    assert f"exit status: {TABLE[command]}\n" in told
    assert "%%" not in told
    assert status(*command.split()[1:], "--no-such-option") == 2


def test_the_table_has_the_statuses_of_verdicts():
    for verdict, number in STATUSES.items():
        assert f"{number} {verdict.replace('_', ' ')}" in TABLE["pytest"]


@pytest.fixture
def results(tmp_path):
    """Results of a device that is as it was, one that is slower, and one of which nobody could tell."""

    def write(name, day, *values):
        path = tmp_path / f"{name}.json"
        known = workload(metrics={"read.iops": metric(*values)}, reason="", findings=())
        session(known, name=f"2026-11-{day}T02:11:47Z-b132").write(path)
        return path

    return {
        "before": write("before", 20, 1000.0, 1001.0, 999.0),
        "same": write("same", 21, 999.5, 1000.5, 1000.0),
        "slow": write("slow", 22, 500.0, 501.0, 499.0),
        "noisy": write("noisy", 23, 990.0, 900.0, 1100.0),
        "foreign": _foreign(tmp_path),
    }


def _foreign(folder):
    path = folder / "foreign.json"
    path.write_text("{}")
    return path


@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (0, "show {before}"),
        (1, "show {foreign}"),
        (0, "compare {before} {same}"),
        (1, "compare {before} {slow}"),
        (3, "compare --tolerance=2% {before} {noisy}"),
        (2, "compare {before} {foreign}"),
        (1, "audit {foreign}"),
        (0, "export --format=csv {before}"),
        (2, "export --format=csv {foreign}"),
        (2, "export --format=no {before}"),
        (2, "baseline show {foreign}"),
        (2, "baseline drop {foreign} --workload reads"),
        (2, "import {foreign} --device=lab --suite=no"),
        (0, "schema results"),
        (2, "schema no"),
        (0, "completion bash"),
        (2, "completion no"),
    ],
)
def test_commands_end_as_the_table_says(expected, arguments, results, capsys):
    assert status(*(word.format(**results) for word in arguments.split())) == expected
    assert "Traceback" not in capsys.readouterr().err


COMMANDS = ["schema suite", "completion bash", "audit {report}"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("where", "ended"), [("> /dev/full", 2), (">&-", 0), ("| true", 0)])
def test_what_cannot_be_printed_is_told_in_words(command, where, ended):
    """It was a traceback, whose status says that something regressed."""
    report = ROOT / "tests/data/published/jetson_agx_orin_fio.md"
    line = f"set -o pipefail; {sys.executable} -m iogate.cli {command.format(report=report)} {where}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == ended, done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert ("standard output cannot be written: No space left" in done.stderr) == (ended == 2)
