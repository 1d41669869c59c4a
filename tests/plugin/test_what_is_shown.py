"""What a run shows at its end: by verbosity, in colour or without, worst first; and as Markdown."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pyte
import pytest

from places import PLUGINS
from projects import refused

SLOWER = 0.7


@pytest.fixture
def known(project):
    """A project with baselines."""
    project.run("suites", "--update-baselines")
    return project


def table(result):
    """The names in the first column of the table."""
    lines = result.outlines
    start = next(index for index, line in enumerate(lines) if line.startswith("workload"))
    rows = lines[start + 2 : lines.index("", start)]
    return [line.split()[0] for line in rows if not line.startswith(" ")]


def test_the_verdicts_are_counted_before_the_table_and_regressed_ones_come_first(known):
    tolerant = "  alpha: {value: 1000, gate: {read.iops: 60%}}\n"
    known.suite(f"defaults: {{engine: fake}}\nworkloads:\n{tolerant}  beta: {{value: 2000}}\n")
    result = known.run("suites", factor=SLOWER)
    said = ["*storage performance of local*", "1 regressed, 1 * (most: beta read.iops -30.*%)"]
    result.stdout.fnmatch_lines(said)
    assert table(result) == ["beta", "alpha"]


def test_quiet_is_one_line(known):
    result = known.run("suites", "-q", "--io-strict", "--device=local", factor=SLOWER)
    lines = result.outlines
    end = next(index for index, line in enumerate(lines) if line.startswith("local: "))
    assert re.fullmatch(
        r"local: 2 regressed \(most: \w+ read\.iops -30\.\d%\); \d+ repetitions, .* of device time",
        lines[end],
    )
    assert "workload" not in "".join(lines[end:])
    assert "storage performance" not in result.stdout.str()


def test_quiet_tells_what_became_of_a_session_that_was_appended(known):
    tolerant = "  alpha: {value: 1000, noise: 0.1, gate: {read.iops: 1%}}\n"
    known.suite(f"defaults: {{engine: fake}}\nworkloads:\n{tolerant}")
    known.run("suites", "--update-baselines")
    result = known.run("suites", "-q", "--update-baselines=append", "--device=local")
    result.stdout.fnmatch_lines(["local: 1 recorded; *", "alpha: appended as the 2nd session*undecided*"])
    assert "repetition noise" not in result.stdout.str()
    known.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n")
    result = known.run("suites", "-q", "--update-baselines=append", "--device=local")
    result.stdout.fnmatch_lines(["local: 1 recorded; *", "alpha *replaced: *"])


def test_verbose_has_all_metrics(known):
    known.suite("defaults: {engine: fake}\nworkloads:\n  alpha: {value: 1000}\n")
    usual, verbose = (known.run("suites", *more).stdout.str() for more in ((), ("-v",)))
    assert verbose.count("read.") > usual.count("read.")


def test_colour_is_only_where_there_is_colour(known, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in known.run("suites").stdout.str()
    assert "\x1b[1;31mregressed\x1b[0m" in known.run("suites", "--color=yes", factor=SLOWER).stdout.str()
    assert "\x1b" not in known.run("suites", "--color=no", factor=SLOWER).stdout.str()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in known.run("suites", factor=SLOWER).stdout.str()


def test_a_summary_as_markdown_is_written_and_appended_to_that_of_a_job(known, monkeypatch):
    step = known.path / "step"
    step.write_text("# a job\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    known.run("suites", "--io-markdown=summary.md", factor=SLOWER)
    text = (known.path / "summary.md").read_text()
    assert "## iogate: 2 regressed on `local`" in text
    assert step.read_text() == f"# a job\n\n{text}"


@pytest.mark.parametrize("ends", [True, False])
def test_what_is_written_once_says_how_a_run_of_tests_in_python_ended(project, ends):
    """That the last one did not end was said of each run."""
    (project.path / "test_disk.py").write_text(
        "import pytest\ndef test_first(measure): measure(engine='fake')\n"
        f"def test_last(measure): measure(engine='fake'); {ends} or pytest.exit('enough')\n"
    )
    with (project.path / "pipe.json").open("wb") as pipe:
        project.run(
            "test_disk.py", "--io-missing=record", "--io-markdown=it.md", f"--io-json=/dev/fd/{pipe.fileno()}"
        )
    broke_off = "the session broke off, 1 test in Python did not end"
    assert (broke_off in (project.path / "it.md").read_text()) is not ends
    run = json.loads((project.path / "pipe.json").read_text())["run"]
    assert run["ended"] and all(run["tests"].values()) is ends


@pytest.mark.parametrize(
    ("name", "why"),
    [("folder", "Is a directory"), ("gone", "No such file"), ("demo.yaml/x", "Not a directory")],
)
def test_a_summary_of_a_job_that_cannot_be_written_is_told(known, monkeypatch, name, why):
    (known.path / "suites/folder").mkdir()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(known.path / "suites" / name))
    result = known.run("suites")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"warning: nothing is appended to $GITHUB_STEP_SUMMARY, *{name}: {why}*"])


def test_a_file_that_is_no_summary_is_refused_before_anything_is_measured(known):
    sessions = len(list((known.path / ".iogate/results").iterdir()))
    result = known.run("suites", "--io-markdown=suites/demo.yaml")
    refused(result, "demo.yaml is there already, and is no summary of iogate", status=4)
    assert len(list((known.path / ".iogate/results").iterdir())) == sessions


class Screen:
    """What stands on a terminal after a run in it."""

    def __init__(self, project, columns, *arguments, kind="xterm"):
        self.written = ""
        self._screen = pyte.HistoryScreen(columns, 200)
        self._stream = pyte.ByteStream(self._screen)
        environment = {key: text for key, text in project.environment.items() if key != "COLUMNS"}
        environment |= {"TERM": kind, "PYTHONPATH": f"{PLUGINS}:{Path(__file__).parent / 'engines'}"}
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 200, columns, 0, 0))
        streams = {"stdin": slave, "stdout": slave, "stderr": slave}
        argv = project.argv(*arguments)
        with subprocess.Popen(argv, cwd=project.path, env=environment, **streams) as process:
            os.close(slave)
            self._read(master)
        os.close(master)
        self.status = process.returncode

    def _read(self, master):
        try:
            while data := os.read(master, 65536):
                self.written += data.decode(errors="replace")
                self._stream.feed(data)
        except OSError:  # what a terminal says when nobody writes to it any more
            pass

    @property
    def lines(self):
        return [line.rstrip() for line in self._screen.display]


def test_on_a_terminal_there_is_progress_which_goes_and_a_table_which_fits(known):
    screen = Screen(known, 60, "suites")
    assert screen.status == 0
    assert "demo: alpha 1/" in screen.written and "demo: beta 2/" in screen.written
    assert not any(" left" in line or "\u2501" in line for line in screen.lines)
    start = next(index for index, line in enumerate(screen.lines) if line.startswith("workload"))
    row = next(line for line in screen.lines[start:] if line.startswith("alpha"))
    assert row.split()[1] == "read.iops" and row.split()[-1] in ("pass", "drift", "improved", "recorded")
    assert "\x1b[?25l" not in screen.written


def test_a_terminal_that_cannot_go_back_gets_a_line_for_each_repetition(known):
    screen = Screen(known, 80, "suites", "--color=no", kind="dumb")
    assert "\x1b" not in screen.written
    assert any(line.startswith("demo: alpha 1/") and "read.iops" in line for line in screen.lines)
