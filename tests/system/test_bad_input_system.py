"""What bad input gets, with the real tool: a clear message, a failing status, nothing lost, nothing left.

Where fio is to misbehave, a program of that name comes before it on PATH.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import loops
import projects
from iogate.plugin.status import STATUSES
from loops import MIB, Loops, need
from places import PLUGINS
from projects import BRIEF, RATE_LIMITED, Project, everywhere, need_fio, plain
from waiting import eventually

pytestmark = pytest.mark.system

SUITE = f"""\
defaults: {{engine: fio, direct: false, size: 1M{BRIEF}}}
workloads:
  reader: {{rw: randread, bs: 4k}}
"""
TWO = f"""\
defaults: {{engine: fio, direct: false, size: 1M, time_based: true, repetitions: 1{RATE_LIMITED}}}
workloads:
  short: {{rw: randread, bs: 4k, runtime: 0.1}}
  long: {{rw: randread, bs: 4k, runtime: 50}}
"""
LONG = 50
"""Seconds of the long workload."""
GOOD_FIO = """\
#!/bin/sh
case "$1" in
--version) echo fio-3.33; exit 0 ;;
--parse-only|--enghelp*) exit 0 ;;
esac
"""


@pytest.fixture(autouse=True)
def fio():
    need_fio()


@pytest.fixture
def project(project):
    project.suite(SUITE)
    return project


def fake(project, text, start=GOOD_FIO):
    """Put a program named fio before the real one."""
    program = project.path / "bin" / "fio"
    program.parent.mkdir(exist_ok=True)
    program.write_text(start + text)
    program.chmod(0o755)
    project.environment["PATH"] = f"{program.parent}:{os.environ['PATH']}"


def refused(project, result, *words, status=STATUSES["invalid"]):
    """The run failed with this status, said these words in a plain message, and left nothing behind."""
    projects.refused(result, *words, status=status)
    clean(project, result)


def clean(project, result):
    plain(result.text)
    assert project.leftovers == []
    assert project.processes() == []


# ------------------------------------------------------------ the engine


def test_fio_missing(project):
    tools = project.path / "bin"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    project.environment["PATH"] = str(tools)
    words = ("fio is not installed", "apt-get install fio", "suites/demo.yaml:3: reader")
    refused(project, project.run(), *words)


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("fio-2.0.8", ["fio 2.0.8 is too old", "3.0 or newer"]),
        ("Flow Integration Organizer 7", ["does not say its version", "flexible I/O tester"]),
    ],
)
def test_fio_too_old_or_another_program(project, says, words):
    fake(project, "", start=f"#!/bin/sh\ncase $1 in --version) echo '{says}' ;; esac\n")
    refused(project, project.run(), *words)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("kill -SEGV $$", ["SIGSEGV"]),
        ("echo no luck >&2; exit 3", ["status 3", "no luck"]),
        ("exit 0", ["output.json"]),
        ("echo garbage > output.json", ["output.json"]),
        ("head -c 100000 /dev/urandom > output.json", ["output.json"]),
        ('printf \'{"fio version": "fio-3.33", "jobs": [\' > output.json', ["output.json"]),
        ('echo \'{"fio version": "fio-3.33", "jobs": []}\' > output.json', ["output.json"]),
        ("truncate -s 300M output.json", ["output.json is larger than 256 MiB"]),
    ],
)
def test_fio_that_fails(project, act, words):
    fake(project, act)
    result = project.run()
    refused(project, result, *words, "suites/demo.yaml:3: reader")
    assert "1 error" in result.text
    assert result.verdicts == {"reader": "invalid"}
    assert not (project.path / "baselines/local/demo.yaml").exists()


IDLE = """
import json
def idle(part):
    return {key: idle(value) if isinstance(value, dict) else 0 for key, value in part.items()}
with open("output.json") as file:
    said = json.load(file)
for job in said["jobs"]:
    job["read"] = idle(job["read"])
with open("output.json", "w") as file:
    json.dump(said, file)
"""


@everywhere
def test_fio_that_did_nothing_and_says_that_all_is_well(project):
    """As fio does when it refuses to write to a mounted device."""
    fake(project, f'{shutil.which("fio")} "$@"\nexec {sys.executable} {project.path}/bin/idle.py\n')
    (project.path / "bin/idle.py").write_text(IDLE)
    refused(project, project.run(), "no I/O")


def test_fio_that_hangs_is_ended(project):
    """With a patience of a second instead of a minute."""
    fake(project, "trap '' TERM\nsleep 100 & sleep 100\nsleep 100")
    project.lose_patience()
    result = project.run()
    refused(project, result, "hung", "suites/demo.yaml:3: reader")


# ------------------------------------------------------------ the target


def test_a_target_that_is_missing(project):
    result = project.run("suites", "--io-target=/no/such/place")
    refused(project, result, "/no/such/place does not exist", status=4)


def test_a_target_that_is_a_file(project):
    (project.path / "precious").write_text("mine")
    refused(project, project.run("suites", "--io-target=precious"), "precious is a file", status=4)
    assert (project.path / "precious").read_text() == "mine"


def test_a_target_in_memory_when_direct_io_is_asked_for(project):
    project.suite(SUITE.replace("direct: false", "direct: true"))
    shared = Path("/dev/shm")
    if not os.access(shared, os.W_OK):
        pytest.skip("needs /dev/shm")
    result = project.run("suites", "--io-target=/dev/shm")
    refused(project, result, "direct I/O was asked for", "tmpfs", "suites/demo.yaml:3: reader")
    assert not list(shared.glob(".iogate-scratch-*"))


def test_a_target_that_is_read_only(project, tmp_path):
    need("mkfs.ext4")
    with Loops(tmp_path) as made:
        device = made.device(16 * MIB)
        loops.format_device("ext4", device)
        point = made.mount(device, "-o", "ro")
        result = project.run("suites", f"--io-target={point}")
    refused(project, result, f"{point} is read-only", "--io-target=PATH")


@everywhere
def test_a_target_that_is_short_of_space_is_not_written_to(project, tmp_path):
    need("mkfs.ext4")
    with Loops(tmp_path) as made:
        _, point = made.formatted("ext4", 64 * MIB)
        before = os.statvfs(point).f_bavail
        result = project.run("suites", f"--io-target={point}", "--io-size=60M")
        refused(project, result, f"{point} is short of space", "60.00 MiB", "--io-size")
        assert os.statvfs(point).f_bavail == before
        assert [path.name for path in point.iterdir()] == ["lost+found"]


@everywhere
def test_a_block_device_that_nobody_agreed_to_overwrite(project, tmp_path):
    need("wipefs")
    with Loops(tmp_path) as made:
        device = made.device(16 * MIB)
        before = loops.digest(device)
        project.suite(SUITE.replace("randread", "randwrite").replace("read.iops", "write.iops"))
        result = project.run("suites", f"--io-target={device}")
        refused(project, result, f"refusing to write to {device}", "the profile does not name it")
        assert loops.digest(device) == before


# ------------------------------------------------------------ ended from outside


@pytest.fixture
def running(project):
    """A run in the middle of its second workload, the first being finished."""
    project.suite(TWO)
    process = project.start("suites", "-v")
    eventually(lambda: (project.path / "results.json").exists() and long_fio(project))
    yield project, process
    if process.poll() is None:
        process.kill()
        process.communicate()
    for line in project.processes():
        os.kill(int(line.split()[0]), signal.SIGKILL)


def long_fio(project):
    """The process ids of the fio that does the long workload."""
    found = [line.split(" ", 1) for line in project.processes() if "fio" in line and "--output=" in line]
    return [int(pid) for pid, _ in found if "long" in os.path.realpath(f"/proc/{pid}/cwd")]


@everywhere
def test_control_c_keeps_what_is_finished(running):
    project, process = running
    os.killpg(process.pid, signal.SIGINT)
    result = project.finish(process)
    refused(project, result, "Interrupted: by Ctrl-C; ", "decided, kept in .iogate/results/", status=2)
    assert "interrupts.py" not in result.text
    assert result.verdicts == {"short": "recorded"}
    baseline = (project.path / "baselines/local/demo.yaml").read_text()
    assert "\n  short:\n" in baseline and "long:" not in baseline
    assert result.seconds < LONG / 2


def test_control_c_twice(project):
    """The second comes while the engine, which does not want to, is being ended."""
    asked = project.path / "asked"
    fake(project, f"trap 'echo > {asked}' TERM\necho > {asked}.begun\nwhile :; do sleep 0.05; done")
    process = project.start("suites")
    eventually(Path(f"{asked}.begun").exists)
    os.killpg(process.pid, signal.SIGINT)
    # The engine is asked, and stays for 5 s more; it is killed at once if it was only about to be watched.
    eventually(lambda: asked.exists() or process.poll() is not None)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    result = project.finish(process)
    refused(project, result, "Interrupted: by Ctrl-C; 0 of 1 workload decided", status=2)
    assert "--io-resume" not in result.text  # there is nothing to go on with


def test_control_c_while_pytest_ends(project):
    """The second comes when all is done, but for what pytest itself does."""
    project.conftest(
        "import os\nimport signal\n\n"
        "def interrupt():\n    os.kill(os.getpid(), signal.SIGINT)\n\n"
        "def pytest_configure(config):\n    config.add_cleanup(interrupt)\n\n"
        "def pytest_runtest_teardown():\n    interrupt()\n\n"
        "def pytest_unconfigure():\n    interrupt()\n"
    )
    refused(project, project.run(), "Interrupted: by Ctrl-C; ", status=2)


def test_sigterm_is_as_control_c(running):
    """As continuous integration ends a job."""
    project, process = running
    os.kill(process.pid, signal.SIGTERM)
    result = project.finish(process)
    refused(project, result, "SIGTERM", status=2)
    assert result.verdicts == {"short": "recorded"}


def test_what_a_killed_run_left_the_next_one_removes(running):
    project, process = running
    assert len(project.leftovers) == 1
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    eventually(lambda: not project.processes())
    assert json.loads((project.path / "results.json").read_text())["workloads"][0]["workload"] == "short"
    assert len(project.leftovers) == 1
    project.suite(SUITE)
    again = project.run()
    assert (again.status, again.verdicts) == (0, {"reader": "recorded"}), again.text
    clean(project, again)


# ------------------------------------------------------------ at the same time


@everywhere
def test_two_runs_on_one_target(running):
    project, process = running
    other = project.run("suites", "-k", "short", "--io-json=other.json")
    assert other.status == 4, other.text
    assert "in use by another run" in other.text or "another run is on the same disk" in other.text
    assert f"pid {process.pid}" in other.text
    assert "Traceback" not in other.text
    assert long_fio(project) and process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    refused(project, project.finish(process), status=2)


def test_two_runs_on_one_disk(running, tmp_path):
    project, process = running
    other = Project(tmp_path / "other", locks=project.path / "tmp")
    other.suite(SUITE)
    result = other.run()
    os.killpg(process.pid, signal.SIGINT)
    project.finish(process)
    refused(other, result, "another run is on the same disk", f"pid {process.pid}", status=4)


def test_in_parallel(project):
    pytest.importorskip("xdist")
    refused(
        project, project.run("suites", "-p", "xdist", "-n", "4"), "-n cannot be used with suites", status=4
    )


# ------------------------------------------------------------ installed


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The Python of a virtual environment into which the wheel was installed; others come from this one."""
    folder = tmp_path_factory.mktemp("installed")
    root = PLUGINS.parent
    if not (root / "pyproject.toml").exists():
        pytest.skip("needs a checkout")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheel = [*pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(root)]
    done = subprocess.run(wheel, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"cannot build a wheel: {done.stderr.strip().splitlines()[-1]}")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv/bin/python"
    [site] = (folder / "venv").glob("lib/python3*/site-packages")
    [file] = folder.glob("iogate-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", str(site), str(file)], check=True)
    others = [path for path in sys.path if path.endswith("-packages")]
    (site / "zz_others.pth").write_text("\n".join(others) + "\n")
    return str(python)


def test_another_project_that_has_only_suites_and_baselines(installed, tmp_path):
    project = Project(tmp_path / "project", python=installed)
    project.plugin = ()
    for variable in ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        del project.environment[variable]
    (project.path / "pytest.ini").unlink()
    project.suite(SUITE)
    project.device("lab", "target: .\nmissing: record\n")
    where = [installed, "-c", "import iogate; print(iogate.__file__)"]
    said = subprocess.run(where, capture_output=True, text=True, check=True, env=project.environment)
    assert str(tmp_path.parent) in said.stdout
    first = project.run("suites", "--device=lab")
    assert (first.status, first.verdicts) == (0, {"reader": "recorded"}), first.text
    second = project.run("suites", "--device=lab", "--io-tolerance=90%")
    assert second.status in (0, STATUSES["inconclusive"]), second.text  # runs of 0.1 s on a busy machine
    assert second.workload("reader")["metrics"]["read.iops"]["values"]
    assert second.verdicts["reader"] in ("pass", "improved", "drift", "inconclusive")
    clean(project, second)
