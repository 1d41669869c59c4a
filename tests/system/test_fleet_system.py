"""A fleet for real: three devices measured side by side by fio, held against each other, and a fourth that is
judged by what they do.
"""

import json
import os
import subprocess
import sys

import pytest

from hosts import sshd
from projects import BRIEF, need_fio

pytestmark = pytest.mark.system

SUITE = f"""\
defaults: {{direct: false, size: 1M, repetitions: 2{BRIEF}}}
workloads:
  reading: {{rw: randread, bs: 4k}}
"""


def run(project, *arguments):
    """Several runs in one: they take as much longer."""
    return project.finish(project.start("suites", *arguments), patience=600)


def iogate(project, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "iogate.cli", *arguments],
        check=False,
        cwd=project.path,
        env=project.environment,
        capture_output=True,
        text=True,
    )


def test_from_three_devices_to_one_that_is_judged_by_them(project):
    need_fio()
    project.host = ""  # that is one device's
    project.suite(SUITE)
    for name in ("orin-1", "orin-2", "orin-3"):
        (project.path / name).mkdir()
        project.device(name, f"target: {project.path / name}\nmissing: record\n")
    result = run(project, "--device=orin-1,orin-2,orin-3", "--io-report=page.html")
    assert result.status == 0, result.text
    assert "measures side by side: orin-1, then orin-2, then orin-3 (one host)" in result.text
    kept = sorted((project.path / ".iogate/results").glob("*/results.json"))
    assert len(kept) == 3
    for name, file in zip(("orin-1", "orin-2", "orin-3"), kept, strict=True):
        document = json.loads(file.read_text())
        assert document["device"] == name
        assert (project.path / f"page-{name}.html").is_file()
        assert (project.path / f"results-{name}.json").is_file()
        for key in ("serial", "disk_serial", "disk_wwid"):  # here they share a disk, which is one device
            document["environment"]["identity"][key] = name
        file.write_text(json.dumps(document))
    told = iogate(project, "fleet", "--baseline=orin", "--tolerance=95%", ".iogate/results")
    assert told.returncode == 0, told.stderr
    assert "one session a device cannot tell device from noise" in " ".join(told.stdout.split())
    assert "1 workload of 3 devices; one session each, the newest" in told.stdout
    project.device("orin", f"target: {project.path / 'orin-1'}\n")
    result = project.run("suites", "--device=orin")
    assert result.verdicts["reading"] not in ("no_baseline", "recorded", "invalid"), result.text
    before = project.baseline("orin").read_text()
    result = project.run("suites", "--device=orin", "--update-baselines=append")
    assert result.status == 4, result.text
    assert "is the baseline of a fleet of 3 devices" in result.text
    assert project.baseline("orin").read_text() == before
    assert project.leftovers == []
    assert not [line for line in project.processes() if int(line.split()[0]) != os.getpid()]


def test_one_here_and_one_at_a_host_that_is_here_too_never_meet_on_a_disk(project, tmp_path):
    need_fio()
    project.host = ""
    project.suite(SUITE.replace("runtime: 0.1", "runtime: 1"))
    locks = project.path / "tmp"
    with sshd(tmp_path / "ssh") as ssh:
        for name, host in (("near", ""), ("far", f"host: {ssh.spec(locks)}\n")):
            (project.path / name).mkdir()
            project.device(name, f"target: {project.path / name}\nmissing: record\n{host}")
        result = run(project, "--device=near,far", "--io-wait=5m")
    assert "measures side by side: near; far" in result.text
    assert result.status == 0, result.text  # the one that came second has waited for the first
    spans = []
    for name in ("near", "far"):
        document = json.loads((project.path / f"results-{name}.json").read_text())
        assert [item["verdict"] for item in document["workloads"]] == ["recorded"]
        output = next((project.path / ".iogate/results" / document["session"]).rglob("output.json"))
        end = output.stat().st_mtime
        spans.append((end - 1, end))
    first, second = sorted(spans)
    assert first[1] <= second[0] + 0.5
