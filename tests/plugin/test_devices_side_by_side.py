"""`--device=a,b`: each device is measured by a pytest of its own, and their results are apart."""

import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from places import PLUGINS
from projects import WITHOUT_OTHERS, refused, working_in
from waiting import eventually

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell in the background; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ENGINES = str(Path(__file__).parent / "engines")
PROFILE = "target: .\nmissing: record\n"
NOWHERE = "target: .\nhost: popen//python=/no/such/python\n"
SLEEPS = """\
defaults: {engine: fake}
workloads:
  alpha: {says: "'; echo > began; exec sleep 100; '"}
"""


@pytest.fixture
def devices(project):
    """Three devices: two here, and one at a host that is none."""
    for name, text in (("a", PROFILE), ("b", PROFILE), ("c", NOWHERE)):
        project.device(name, text)
    return project


def verdicts(file):
    return {item["workload"]: item["verdict"] for item in json.loads(file.read_text())["workloads"]}


def others_in(folder):
    """The processes that work in a folder, but for this one."""
    return [line for line in working_in(folder) if int(line.split()[0]) != os.getpid()]


def test_each_is_measured_and_has_its_own_session_and_files_and_one_that_cannot_be_had_stops_no_other(
    devices, tmp_path
):
    result = devices.run_apart("suites", "--device=a,b,c", "--io-json=r.json", "--junit-xml=j.xml")
    assert result.ret == 4
    result.stdout.fnmatch_lines(
        [
            "iogate: measures side by side: a, then b, then c (one host)",
            "a | *2 passed*",
            "b | *2 passed*",
            "c | ERROR: *",
            "3 devices, *",
            "a * passed * 0 * 2 recorded * .iogate/results/*",
            "b * passed * 0 * 2 recorded * .iogate/results/*",
            "c * refused * 4 *",
            "to go on with what is left: --device=c --io-resume",
        ]
    )
    sessions = [json.loads((devices.path / f"r-{name}.json").read_text()) for name in "ab"]
    assert [one["device"] for one in sessions] == ["a", "b"]
    assert len({one["session"] for one in sessions}) == 2
    assert verdicts(devices.path / "r-b.json") == {"alpha": "recorded", "beta": "recorded"}
    for name in "ab":
        assert (devices.path / "baselines" / name / "demo.yaml").is_file()
        tests = xml.etree.ElementTree.parse(devices.path / f"j-{name}.xml").getroot().iter("testcase")
        assert {test.get("classname") for test in tests} == {f"{name}.suites.demo.yaml"}
    assert not (devices.path / "r.json").exists()


def test_files_that_an_ini_file_names_are_apart_too_and_so_is_what_failed_last(devices):
    (devices.path / "pytest.ini").write_text(
        "[pytest]\nio_json = r.json\nlog_file = l.txt\ndevice = a, b\naddopts = --io-report=x.html\n"
    )
    result = devices.run_apart("suites")
    assert result.ret == 0
    assert "to go on" not in result.stdout.str()  # nothing is left
    found = {path.name for path in devices.path.iterdir()}
    assert {"r-a.json", "r-b.json", "x-a.html", "x-b.html", "l-a.txt", "l-b.txt"} <= found
    assert not {"r.json", "x.html", "l.txt"} & found
    assert {path.name for path in (devices.path / ".pytest_cache").iterdir()} >= {"a", "b"}


def test_the_worst_of_them_is_the_exit_status(devices):
    devices.run_apart("suites", "--device=a")
    devices.device("b", "target: .\nmissing: fail\n")
    old = (devices.path / "r-c.json", devices.path / ".iogate/results")
    old[0].write_text(next(old[1].glob("*/results.json")).read_text())  # of a run before
    result = devices.run_apart("suites", "--device=b,a,c", "--io-json=r.json", factor=0.5)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["c * refused * 4 *"])
    assert "2 recorded" not in str(result.stdout)
    result.stdout.fnmatch_lines(["b * no baseline * 11 *", "a * failed * 1 * 2 regressed (most: *"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--device=a,nowhere"],
            ["unknown device 'nowhere'", "nothing was measured on any of the devices"],
        ),
        (["--device=a", "--device=b"], ["given 2 times", "--device=a,b"]),
        (["--device", "b", "--device=a"], ["given 2 times"]),
        (["--device=a,b", "--device=c"], ["given 2 times", "--device=a,b,c"]),
        (["--device=a,a"], ["--device names a twice"]),
        (["--device=a,"], ["has an empty name"]),
        (["--device=a,../b"], ["cannot be the name of a device"]),
        (["--device=a,b", "--io-target=/tmp"], ["--io-target cannot be used with several devices"]),
        (["--device=a,b", "--io-host=popen"], ["--io-host cannot be used with several devices"]),
        (["--device=a,b", "--io-destroy=/dev/x"], ["--io-destroy cannot be used with several devices"]),
        (["--device=a,b", "--io-against=/tmp"], ["--io-against=PLACE cannot be used with several devices"]),
        (["--device=a,b", "--io-json=/dev/stdout"], ["several devices cannot write into /dev/stdout"]),
        (["--device=a,b", "--pdb"], ["--pdb cannot be used with several devices"]),
        (["--device=a,b", "-n2"], ["-n cannot be used with suites"]),
    ],
)
def test_what_cannot_be_meant_of_several_is_refused_before_anything_runs(devices, arguments, words):
    result = devices.run("suites", *arguments)
    refused(result, *words, status=4)
    assert "measures side by side" not in str(result.stdout)
    assert not (devices.path / ".iogate").exists()


def test_a_question_is_answered_once(devices):
    result = devices.run("--device=a,b", "--markers")
    assert result.ret == 0
    assert "measures side by side" not in str(result.stdout)


@pytest.fixture
def started(devices):
    """A run of two devices, the first of which measures; whatever is left of it is ended."""
    devices.suite(SLEEPS)
    environment = {**devices.environment, "PYTHONPATH": os.pathsep.join([ENGINES, str(PLUGINS)])}
    environment["PYTEST_ADDOPTS"] = WITHOUT_OTHERS
    argv = [sys.executable, "-m", "pytest", "-p", "iogate.plugin", "suites", "--device=a,b"]
    with subprocess.Popen(
        argv,
        cwd=devices.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            next(line for line in process.stdout if "collected 1 item" in line)
            eventually(lambda: list(devices.path.rglob("began")), patience=180)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_ends_it_ends_all_and_none_is_begun_anew(devices, started, number):
    started.send_signal(number)
    text, _ = started.communicate(timeout=180)
    assert started.returncode == 2
    assert "ending a: " in text
    assert "Traceback" not in text
    lines = [line.split() for line in text.splitlines()]
    assert ["a", "interrupted", "2"] in [line[:3] for line in lines]
    assert ["b", "not", "begun"] in [line[:3] for line in lines]
    eventually(lambda: not others_in(devices.path), patience=180)
    assert devices.leftovers == []


def test_a_run_that_is_killed_takes_its_devices_with_it(devices, started):
    started.kill()
    started.wait()
    eventually(lambda: not others_in(devices.path), patience=180)
    assert devices.leftovers == []


def test_nobody_reading_ends_them_too(devices, started):
    started.stdout.close()
    started.send_signal(signal.SIGINT)
    assert started.wait(180) != 0
    eventually(lambda: not others_in(devices.path), patience=180)


def test_results_that_nobody_asked_for_are_where_no_other_user_could_replace_them(
    devices, tmp_path, monkeypatch
):
    exposed = tmp_path / "exposed"
    exposed.mkdir()
    exposed.chmod(0o777)
    (devices.path / "conftest.py").write_text(
        "def pytest_configure(config):\n"
        "    place = config.getoption('io_json')\n"
        "    if place:\n"
        "        open('places', 'a').write(f'{place}\\n')\n"
    )
    monkeypatch.setenv("TMPDIR", str(exposed))
    result = devices.run_apart("suites", "--device=a,b")
    [one, other] = (devices.path / "places").read_text().splitlines()
    assert not one.startswith(str(exposed)) and not other.startswith(str(exposed)), result.text


def test_no_module_is_taken_from_the_folder_where_it_is_called(devices, tmp_path, monkeypatch):
    strangers = tmp_path / "strangers"
    strangers.mkdir()
    (strangers / "importlib.py").write_text("raise SystemExit('of a stranger')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([ENGINES, str(PLUGINS)]))
    begin = "import sys; del sys.path[0]; import pytest; sys.exit(pytest.main())"
    called = [sys.executable, "-c", begin, "-p", "iogate.plugin", *WITHOUT_OTHERS.split()]
    done = subprocess.run(
        [*called, str(devices.path / "suites"), "--device=a,b"],
        cwd=strangers,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "of a stranger" not in done.stdout, done.stdout
