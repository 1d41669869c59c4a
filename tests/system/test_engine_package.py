"""The engine of docs/engines.md as a package, installed: a suite runs with it, and files are read."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from loops import need
from places import ROOT
from projects import Project, refused
from wheels import install

pytestmark = pytest.mark.system

DOCUMENT = (ROOT / "docs/engines.md").read_text()
(CODE,) = re.findall(r'^```python\n("""dd,.*?)^```$', DOCUMENT, re.MULTILINE | re.DOTALL)
((GROUP, ENTRY),) = re.findall(
    r'^\[project\.entry-points\."([\w.]+)"\]\n(dd = ".*")$', DOCUMENT, re.MULTILINE
)
ENTRY_POINTS = f"[{GROUP}]\n{ENTRY}\n".replace('"', "")
SUITE = "workloads:\n  copy: {engine: dd, size: 4M, bs: 64k, repetitions: 3}\n"


def project(path, code):
    """A project where the package is installed, with a device whose target is a directory."""
    need("dd")
    site = install(path / "package", "iogate-dd", {"iogate_dd.py": code}, ENTRY_POINTS)
    found = Project(path / "project")
    found.environment["PYTHONPATH"] += f":{site}"
    (found.path / "target").mkdir()
    found.device("here", f"target: {found.path / 'target'}\nmissing: record\n")
    found.suite(SUITE)
    found.record_at_once()
    return found


@pytest.fixture
def dd(tmp_path):
    return project(tmp_path, CODE)


def command(project, *arguments):
    argv = [sys.executable, "-m", "iogate.cli", *map(str, arguments)]
    return subprocess.run(
        argv, cwd=project.path, env=project.environment, capture_output=True, text=True, check=False
    )


def test_a_suite_runs_with_it(dd):
    done = dd.run("suites", "--device=here")
    assert done.status == 0, done.text
    assert done.verdicts == {"copy": "recorded"}
    copy = done.workload("copy")
    assert copy["engine"] == "dd" and copy["definition"]["bs"] == "64k"
    values = copy["metrics"]["read.bandwidth"]["values"]
    assert copy["repetitions"] == len(values) >= 3 and min(values) > 0
    assert not dd.leftovers


def test_it_is_not_sent_to_another_machine(dd):
    done = dd.run("suites", "--device=here", "--io-host=popen")
    refused(done, "popen: the engine dd of another package cannot be sent to another machine", status=4)
    assert not dd.leftovers


def test_its_options_are_checked_where_they_stand_and_are_in_the_schema(dd):
    dd.suite(SUITE.replace("bs:", "sb:"))
    done = dd.run("suites", "--device=here", "--collect-only")
    assert done.status != 0 and "demo.yaml:2:32: unknown key 'sb'" in done.text
    schema = json.loads(command(dd, "schema", "suite").stdout)
    workload = schema["properties"]["workloads"]["additionalProperties"]
    assert "dd" in workload["properties"]["engine"]["enum"]


def test_iogate_show_knows_what_it_printed(dd, tmp_path):
    data, said = tmp_path / "data", tmp_path / "said.txt"
    data.write_bytes(bytes(2**20))
    copied = subprocess.run(
        [shutil.which("dd"), f"if={data}", "of=/dev/null", "bs=64k"],
        env={**dd.environment, "LC_ALL": "C"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    said.write_text(copied.stderr)
    shown = command(dd, "show", said)
    assert shown.returncode == 0 and shown.stdout.startswith(f"{said}: dd")
    assert "read.bandwidth" in shown.stdout
    said.write_text(copied.stderr.replace("16+0", "15+1"))
    refused = command(dd, "show", said)
    assert refused.returncode == 1 and "dd has not read whole blocks only" in refused.stdout


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_module", "cannot be loaded: No module named 'no_such_module'"),
        (
            CODE.replace("def gating", "def gates"),
            "names iogate_dd:engine as the engine 'dd', which it is not",
        ),
        (CODE.replace('= "dd", "dd"', '= "cp", "dd"'), "names iogate_dd:engine as the engine 'dd', which"),
    ],
)
def test_a_broken_package_is_told_in_words_to_those_who_need_it(tmp_path, code, words):
    broken = project(tmp_path, code)
    done = broken.run("suites", "--device=here")
    assert done.status != 0 and "iogate-dd" in done.text and words in done.text
    assert "Traceback" not in done.text and "demo.yaml:2:18: the " in done.text
    notes = tmp_path / "notes.txt"
    notes.write_text("nothing that anybody printed")
    assert words in command(broken, "show", notes).stdout
    known = ROOT / "tests/data/fio/fio-3.33.randrw70.json"
    assert command(broken, "show", known).returncode == 0
