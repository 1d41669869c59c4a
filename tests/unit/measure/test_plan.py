"""A plan shows the commands that a run would give, and starts none of them."""

import os
import re
import shlex
from pathlib import Path

import pytest

from iogate import engines
from iogate.declare.suite import load_suite
from iogate.model import Place
from projects import Project

SUITE = """\
workloads:
  blocks: {rw: randread, size: 1M, runtime: 1, fio: {thinktime: 5}}
  tables: {engine: iozone, size: 1M, record_size: 64k}
  scaling: {engine: reader, rw: read, size: 1M, threads: [1, 2]}
  curve: {engine: memory, buffer_size: 32M, cached: true}
  checker: {engine: mlc}
"""
PROGRAMS = ("fio", "iozone", "mlc", "cc")
GUARD = """\
import os
import re
import sys

STARTS = ("subprocess.Popen", "os.posix_spawn", "os.spawn", "os.exec", "os.fork", "os.forkpty", "os.system")


def refuse(event, arguments):
    if event in STARTS:
        with open("started", "a") as stream:
            print(event, arguments, file=stream)
        os._exit(99)


sys.addaudithook(refuse)
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a workload of each engine, whose programs are there; no process may be started in it."""
    project = Project(tmp_path)
    project.suite(SUITE)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).write_text("#!/bin/sh\nexit 1\n")
        (programs / name).chmod(0o755)
    (tmp_path / "no_processes.py").write_text(GUARD)
    others = ("-p", "no:benchmark", "-p", "no:hypothesispytest")  # which ask git, and ldconfig by way of trio
    project.plugin = ("-p", "no_processes", *others, *project.plugin)
    project.environment.pop("CC", None)
    project.environment["PATH"] = str(programs)
    project.environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    project.environment["PYTHONPATH"] += f"{os.pathsep}{tmp_path}"
    (tmp_path / "cache").mkdir()
    for name in ("PATH", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, project.environment[name])
    monkeypatch.delenv("CC", raising=False)
    return project


def plan(project, *arguments):
    result = project.run("suites", "--io-plan", *arguments)
    assert result.status == 0, started(project) + result.text
    return result.text


def files(project):
    """All that lies in the project, but for Python's own caches of byte code."""
    return {path for path in project.path.rglob("*") if "__pycache__" not in path.parts}


def started(project):
    """What the run has started; it ended there."""
    file = project.path / "started"
    return file.read_text() if file.exists() else ""


def test_the_suite_has_every_engine_of_iogates_own(project):
    own = {name for name in engines.names() if type(engines.load(name)).__module__.startswith("iogate.")}
    suite = load_suite(project.path / "suites/demo.yaml")
    assert {workload.engine for workload in suite.workloads} == own


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="latency under load needs two CPUs")
def test_it_shows_the_commands_of_a_run(project):
    text, brief = plan(project, "-v"), plan(project)
    for workload in load_suite(project.path / "suites/demo.yaml").workloads:
        place = Place(project.path / "data", project.path, Path("results") / workload.name / "1")
        command = engines.load(workload.engine).command(workload, place)
        assert f"{workload.name}: {shlex.join(command.argv)}" in text
        assert all(content.rstrip() in text for content in command.files.values())
        assert not any(content.rstrip() in brief for content in command.files.values())


def test_the_points_of_a_large_matrix_are_told_together(project):
    numbers = list(range(1, 101))
    project.suite(
        "workloads:\n  few: {rw: read, size: 1M, matrix: {iodepth: [1, 2]}}\n"
        f"  many: {{size: 1M, matrix: {{rw: [randread, randwrite], iodepth: {numbers}}}}}\n"
    )
    brief, whole = plan(project), plan(project, "-v")
    assert "many[...] x 100" in brief and "few[iodepth=1]" in brief and "few[iodepth=2]" in brief
    assert len(brief.splitlines()) < 40
    assert all(f"[rw=randread,iodepth={number}]: " in whole for number in numbers)


def test_it_starts_no_process_and_writes_nothing(project):
    before = files(project)
    plan(project)
    assert not started(project)
    assert files(project) == before
    assert not list((project.path / "cache").iterdir())


def test_collecting_for_a_run_does_ask_fio(project):
    assert project.run("suites", "--collect-only").status == 99
    assert "subprocess.Popen" in started(project)


def test_a_program_that_is_missing_is_told(project):
    (project.path / "bin/cc").unlink()
    (project.path / "bin/iozone").unlink()
    text = plan(project)
    assert "scaling: there is no C compiler" in text
    assert "tables: iozone is not installed" in text


PAIRS = """\
defaults: {rw: randread, size: 1M, runtime: 10, time_based: true}
workloads:
  engines: {against: {ioengine: psync}}
  tails: {gate: {read.clat.p99: 10%}, against: {iodepth: 8}}
"""


def test_a_pair_is_shown_with_what_a_is_its_blocks_and_both_commands(project):
    project.suite(PAIRS)
    text = plan(project, "-v")
    assert re.search(
        r"^engines +12 to 60 +4\.0 s +1M +nothing +A, the same data with ioengine: psync; by whole runs: .*$",
        text,
        re.M,
    )
    whole = r"A, the same data with iodepth: 8; by whole runs: read\.clat\.p99 would contain the stops$"
    assert re.search(rf"^tails +12 to 60 .* {whole}", text, re.M)
    first, second = (text.partition(f"engines {arm}: ")[2].partition("engines B: ")[0] for arm in "AB")
    assert "ioengine=psync" in first and "runtime=2000ms" in first, first
    assert "ioengine=libaio" in second.partition("tails A")[0]
    assert not started(project)


def test_a_second_copy_takes_space_of_its_own(project):
    project.suite("workloads:\n  reads: {rw: randread, size: 1M, runtime: 5, time_based: true}\n")
    text = plan(project, "-v", "--io-against=same")
    assert "A, a second copy of the same data" in text
    assert "in 2 data files" in text
    assert "/data-1" in text.partition("reads A: ")[2].partition("reads B: ")[0]
    assert "/data-1" not in text.partition("reads B: ")[2]


def test_what_the_base_cannot_have_is_refused_once(project):
    project.suite("workloads:\n  reads: {rw: randread, size: 1M, against: {size: 900P}}\n")
    text = plan(project)
    assert text.count("refused: reads: ") == 1


def test_a_pair_has_two_data_files_where_its_arms_are_apart(project):
    project.suite("workloads:\n  reading: {rw: randread, size: 1M}\n")
    assert "space: 1.000 MiB in 1 data file\n" in plan(project)
    assert "space: 2.000 MiB in 2 data files\n" in plan(project, "--io-against=same")
    project.suite("workloads:\n  reading: {rw: randread, size: 1M, iodepth: 2, against: {iodepth: 1}}\n")
    assert "space: 1.000 MiB in 1 data file\n" in plan(project)
