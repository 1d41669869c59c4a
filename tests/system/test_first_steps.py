"""What newcomers do: `pip install` and `iogate init` are enough to begin, and CI files work as they are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from images import clone, format_image
from loops import Loops
from places import ROOT
from projects import need_fio, plain
from wheels import build, environment

pytestmark = pytest.mark.system

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
QUICKLY = "--io-size=2M --io-runtime=0.1 --io-max-repetitions=5"
UNDECIDED = "--io-tolerance=95% --io-inconclusive=skip"  # not what this machine can resolve is tested here
SUITE = """workloads:
  pages: {rw: randread, size: 2M, bs: 4k, runtime: 1, time_based: true, fio: {rate_iops: 1000}}
"""  # so few I/Os that a busy disk has them, too: what it can do is not tested here


def run(folder, *argv, **more):
    given = {"PATH": PATH, "HOME": str(folder), "LC_ALL": "C.UTF-8", **more}
    given["TMPDIR"] = str(folder.parent)  # locks of disks lie there: of its own, to run beside anything
    argv = [str(word) for word in argv]
    done = subprocess.run(argv, cwd=folder, env=given, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    plain(said)
    return said


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel, tmp_path_factory):
    return environment(tmp_path_factory.mktemp("environment") / "venv", wheel)


def test_a_wheel_is_enough_to_begin(programs, tmp_path):
    need_fio()
    assert "measure and judge: cd lab && pytest suites/" in run(tmp_path, programs / "iogate", "init", "lab")
    lab = tmp_path / "lab"
    where = run(lab, programs / "python", "-c", "import iogate; print(iogate.__file__)")
    assert Path(where.strip()).is_relative_to(programs.parent)
    measure = [programs / "pytest", "-k", "iops_4k_read", *QUICKLY.split()]
    first = run(lab, *measure, "suites/")
    assert "1 workload recorded in baselines/local/quick.yaml" in first and "1 passed" in first
    run(lab, *measure, "--update-baselines=force")  # other tests use this disk, too
    assert (lab / "baselines/local/quick.yaml").read_text().count("reason:") == 2
    assert "nothing to do" in run(tmp_path, programs / "iogate", "init", "lab")
    assert not [path for path in lab.rglob(".iogate-scratch-*") if path.is_dir()]


def commands(job):
    """What the files for CI run in a job of that name: of both files, each command once."""
    files = (ROOT / f"docs/ci/{name}.yml" for name in ("github", "gitlab"))
    github, gitlab = (yaml.safe_load(file.read_text()) for file in files)
    found = [step["run"] for step in github["jobs"][job]["steps"] if "run" in step]
    root = "sudo " if job == "paired" else ""
    found += [root + line for line in gitlab[job]["script"]]
    return list(dict.fromkeys([*gitlab[".storage"]["before_script"], *found]))


@pytest.fixture
def runner(wheel, programs, tmp_path):
    """Run the commands of a job in a project: with the wheel instead of a name, and without network."""
    need_fio()
    shims = tmp_path / "shims"
    shims.mkdir()
    scripts = {
        "sudo": '[ "$1" = apt-get ] || exec "$@"',  # what it would install is here
        "python3": f'exec "{sys._base_executable}" "$@"',
    }
    for name, line in scripts.items():
        (shims / name).write_text(f"#!/bin/sh\n{line}\n")
        (shims / name).chmod(0o755)
    project = tmp_path / "project"
    for folder in ("suites", "baselines/lab-7", "target"):
        (project / folder).mkdir(parents=True)
    (project / "suites/disk.yaml").write_text(SUITE)
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "baselines/lab-7/device.yaml").write_text(f"target: {project / 'target'}\n")
    shutil.copytree(programs.parent, project / ".venv", symlinks=True)

    def run_commands(lines):
        more = {"PATH": f"{shims}:{PATH}", "IOGATE": str(wheel), "PIP_NO_INDEX": "1"}
        options = f"{QUICKLY} {UNDECIDED} --io-max-blocks=2"
        return [run(project, "bash", "-ec", line, PYTEST_ADDOPTS=options, **more) for line in lines]

    return project, run_commands


def test_the_commands_for_a_device_in_ci_run_as_they_are(runner):
    project, run_commands = runner
    lines = commands("stored")
    assert len(lines) == 3
    run_commands([".venv/bin/pytest suites/ --device=lab-7 --update-baselines"])
    *_, said = run_commands(lines)
    assert "lab-7" in said and ("1 passed" in said or "1 skipped" in said)
    assert (project / "results.json").is_file() and (project / "junit.xml").is_file()


def test_the_commands_for_images_in_ci_run_as_they_are(runner, tmp_path):
    project, run_commands = runner
    with Loops(tmp_path):
        image = format_image("ext4", project / "released.img")
        clone(image).rename(project / "candidate.img")
        *_, said = run_commands(commands("paired")[-1:])
    assert "released.img" in said and ("1 passed" in said or "1 skipped" in said)
    assert (project / "results.json").is_file() and (project / "junit.xml").is_file()
