"""`iogate device`: profiles are begun and never overwritten, listed, and held against the machine."""

import errno
import os
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iogate.audit.snapshot.link import Link
from iogate.cli import main
from iogate.declare.device import DeviceFile, load_device
from iogate.formats import yamlio
from iogate.formats.schema import check_document
from iogate.host.mounts import Mount
from iogate.judge.baseline import update
from iogate.model import Environment
from iogate.offline.devices.initial import profile_head, profile_text
from iogate.remote.survey import survey
from iogate.target.places import USUAL, directory
from iogate.units import printable

SUITE = "workloads:\n  a: {rw: randread, size: 1M, runtime: 1}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with a suite, in which the command is run."""
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites/demo.yaml").write_text(SUITE)
    (tmp_path / "baselines").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project, name, text):
    file = project / "baselines" / name / "device.yaml"
    file.parent.mkdir()
    file.write_text(text)
    return file


def said(capsys, *arguments, status=0):
    """What the command says, which ends with this status and without a traceback."""
    assert main(["device", *map(str, arguments)]) == status
    text = "".join(capsys.readouterr())
    assert "Traceback" not in text
    return text


def store(project, name="lab", day=1, workload="a", identity=None, mode="append"):
    update(
        project / "baselines" / name / "demo.yaml",
        name,
        "demo",
        f"2026-01-0{day}T00:00:00Z-aaaa",
        Environment(identity or {}),
        "",
        {workload: ({"engine": "fio", "rw": "read"}, {"read.iops": [1.0, 2.0]})},
        mode,
    )


# ------------------------------------------------------------ init


def test_a_profile_is_written_that_loads_and_fits_this_machine(project, capsys):
    text = said(capsys, "init", "lab")
    assert "baselines/lab/device.yaml is written: review it, then iogate device check lab" in text
    device = load_device("lab", project / "baselines")
    assert (device.target, device.missing, device.learn, device.target_id) == (".", "fail", False, {})
    checked = "".join(line for line in said_any(capsys, "check", "lab").splitlines() if "identity" in line)
    assert checked.startswith("ok")


def test_a_file_system_below_a_folder_that_this_user_may_not_enter_is_no_place(project, monkeypatch):
    closed = Mount(36, "8:17", "/", "/home/ada/disk", "ext4", "/dev/sdb1", "rw")
    monkeypatch.setattr("iogate.target.places.mounts", lambda: [closed])
    real = os.stat

    def stat(path, **rest):
        if str(path) == closed.point:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), closed.point)
        return real(path, **rest)

    monkeypatch.setattr("os.stat", stat)
    assert survey(".", project).directories == ()


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028"])
def test_what_a_machine_says_of_itself_begins_no_line_of_its_profile(project, end):
    found = survey(".", project)
    lie = end.join(["x", "suites: [none]", "host: popen//python=evil", "#"])
    found = replace(
        found, link=Link(1e9, lie, lie), target=replace(found.target, kind="directory", file_system=lie)
    )
    given = check_document(DeviceFile, yamlio.loads(profile_text("lab", ".", found), "device.yaml"))
    assert given.suites is None and given.host == ""


def test_why_a_place_is_refused_steers_no_terminal(tmp_path, monkeypatch):
    """A mounted file system names its place in the refusal, too."""
    monkeypatch.setattr("iogate.target.places.USUAL", replace(USUAL, size=2**60))
    (point := tmp_path / "usb\x1b[31m").mkdir()
    found = directory(point)
    assert found.why and printable(found.why) == found.why


def said_any(capsys, *arguments):
    main(["device", *arguments])
    return "".join(capsys.readouterr())


def test_a_profile_that_is_there_is_never_overwritten(project, capsys):
    file = write(project, "lab", "target: .\n")
    assert "is there already" in said(capsys, "init", "lab", status=2)
    assert file.read_text() == "target: .\n"
    for name, leads_to in (("gone", project / "nowhere"), ("other", file)):
        (project / "baselines" / name).mkdir()
        (project / "baselines" / name / "device.yaml").symlink_to(leads_to)
        assert "is there already" in said(capsys, "init", name, status=2)
    assert not (project / "nowhere").exists()


def test_a_profile_is_not_begun_where_a_link_leads_out_of_the_project(project, capsys, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (project / "baselines").rmdir()
    (project / "baselines").symlink_to(outside)
    assert "out of the project" in said(capsys, "init", "lab", status=2)
    assert not list(outside.iterdir())


def test_a_device_folder_that_leads_elsewhere_is_not_written_to(project, capsys):
    (project / "elsewhere").mkdir()
    (project / "baselines/lab").symlink_to(project / "elsewhere")
    assert "is a symbolic link" in said(capsys, "init", "lab", status=2)
    assert not list((project / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "x\ny"])
def test_a_name_that_leads_anywhere_is_refused(project, capsys, name):
    assert "cannot be the name of a device" in said(capsys, "init", name, status=2)
    assert not list((project / "baselines").iterdir())


def test_a_target_is_named_as_it_will_be_found(project, capsys):
    (project / "data").mkdir()
    said(capsys, "init", "lab", "--target", "data")
    assert load_device("lab", project / "baselines").target == str(project / "data")
    assert "does not exist" in said(capsys, "init", "other", "--target", "nowhere", status=2)
    assert not (project / "baselines/other").exists()


def test_the_device_local_learns(project, capsys):
    said(capsys, "init", "local")
    device = load_device("local", project / "baselines")
    assert (device.missing, device.learn) == ("record", True)


FACTS = st.text(max_size=30)


@given(machine=FACTS, disk=FACTS, serial=FACTS)
def test_whatever_the_machine_says_of_itself_the_profile_loads_and_matches_it(machine, disk, serial):
    facts = {"machine": machine, "disk": disk, "disk_serial": serial}
    environment = Environment({key: value for key, value in facts.items() if value})
    text = printable("\n".join([*profile_head("lab", environment), "target: ."]))
    profile = check_document(DeviceFile, yamlio.loads(text, "x"))
    assert profile.target == "."
    assert set(profile.identity) <= {"machine", "disk"}
    if machine.isprintable() and machine:
        assert profile.identity["machine"] == machine


# ------------------------------------------------------------ list


def test_devices_are_listed_with_targets_baselines_and_age(project, capsys):
    write(project, "lab", "target: /tmp\nsuites: [demo]\n")
    store(project)
    store(project, day=2)
    rows = [line.split("  ") for line in said(capsys, "list").splitlines()]
    lab = next([cell.strip() for cell in row if cell] for row in rows if row[0] == "lab")
    assert lab[:4] == ["lab", "/tmp", "demo", "1 workload, 2 sessions"]
    assert lab[4].endswith("days")
    assert any(row[0] == "local" for row in rows)


def test_what_cannot_be_read_is_named_and_the_others_are_listed(project, capsys):
    write(project, "broken", "target: [\n")
    write(project, "lab", "target: /tmp\n")
    (project / "baselines/lab/demo.yaml").write_text("nonsense")
    text = said(capsys, "list", status=1)
    assert "broken/device.yaml:2" in text and "lab/demo.yaml:1" in text
    assert any(line.split()[:3] == ["lab", "/tmp", "all"] for line in text.splitlines())


def test_the_command_of_a_folder_without_baselines(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert "local" in said(capsys, "list")


# ------------------------------------------------------------ check


def test_a_machine_that_is_another_one_is_told(project, capsys):
    write(project, "orin", 'identity: {machine: "*no such machine*"}\ntarget: .\n')
    text = said(capsys, "check", "orin", status=1)
    assert "NOT  identity    machine is" in text and "must match '*no such machine*'" in text
    assert "ok   profile     orin: baselines/orin/device.yaml" in text


def test_a_target_that_is_not_there_is_told(project, capsys):
    write(project, "lab", "target: /no/such/place\n")
    assert "NOT  target      the target /no/such/place does not exist" in said(
        capsys, "check", "lab", status=1
    )


def test_suites_that_do_not_exist_or_do_not_load_are_told(project, capsys):
    (project / "suites/bad.yaml").write_text("workloads:\n  a: {rw: nonsense}\n")
    write(project, "lab", "target: .\nsuites: [dema, bad]\n")
    text = said(capsys, "check", "lab", status=1)
    assert "NOT  suite       dema: there is no such suite" in text and "demo" in text
    assert "NOT  suite       bad: " in text and "bad.yaml:2" in text


def test_options_for_a_suite_that_does_not_exist_are_told(project, capsys):
    write(project, "lab", 'target: .\noverrides: {dema: {size: 8M}, demo: {size: 8M}, "*": {size: 8M}}\n')
    text = said(capsys, "check", "lab", status=1)
    told = "its options are overridden, and there is no such suite, did you mean 'demo'?"
    assert f"NOT  suite       dema: {told}" in text and text.count("overridden") == 1


def test_nothing_is_shown_of_what_a_link_out_of_the_project_leads_to(project, capsys, tmp_path_factory):
    private = tmp_path_factory.mktemp("elsewhere") / "private"
    private.write_text("my secret\n")
    (project / "suites/link.yaml").symlink_to(private)
    write(project, "lab", "target: .\nsuites: [link]\n")
    text = said(capsys, "check", "lab", status=1)
    assert "link.yaml: a link leads to" in text and "secret" not in text


def test_a_program_that_is_missing_is_told(project, capsys, monkeypatch):
    write(project, "lab", "target: .\n")
    monkeypatch.setenv("PATH", "/nowhere")
    text = said(capsys, "check", "lab", status=1)
    assert "NOT  engine      fio: fio is not installed" in text


def test_what_the_target_would_refuse_is_told_with_the_number_of_workloads(project, capsys):
    (project / "suites/demo.yaml").write_text("workloads:\n  a: {rw: randread, size: 1000T, runtime: 1}\n")
    write(project, "lab", "target: .\n")
    text = said(capsys, "check", "lab", status=1)
    assert "NOT  suite       demo: 1 workload" in text
    assert "1 workload would be refused: the target" in text and "short of space" in text


def test_a_baseline_that_cannot_be_read_is_told(project, capsys):
    """A run would be refused for it."""
    write(project, "lab", "target: .\n")
    store(project)
    assert "ok   baseline    of 1 workload, in 1 suite" in said(capsys, "check", "lab")
    (project / "baselines/lab/other.yaml").write_text("nonsense")
    assert "NOT  baseline    " in (text := said(capsys, "check", "lab", status=1))
    assert "lab/other.yaml:1" in text and "of 1 workload, in 1 suite" in text


def test_it_is_told_on_which_board_others_are_held_against(project, capsys):
    """Where one workload was recorded anew on another board, none could append, and nothing told why."""
    write(project, "lab", "target: .\naccepts: model\n")
    store(project, identity={"machine": "Board", "serial": "14"})
    good = "ok   baseline    of 1 workload, in 1 suite\n" + 17 * " " + "of the machine with serial '14'\n"
    assert good in said_any(capsys, "check", "lab")
    store(project, day=2, workload="b", identity={"machine": "Board", "serial": "15"}, mode="replace")
    text = said(capsys, "check", "lab", status=1)
    assert "NOT  baseline    of 2 workloads, in 1 suite" in text and "record all on one of them" in text
    assert "of the machine with serial '14'" in text and "of the machine with serial '15'" in text


def test_direct_io_is_asked_for_where_a_workload_does(project, capsys):
    """A target in memory was refused, whose suites say `direct: false`."""
    write(project, "lab", "target: /dev/shm\n")
    text = said(capsys, "check", "lab", status=1)
    assert "ok   target      /dev/shm" in text and "1 workload would be refused" in text
    (project / "suites/demo.yaml").write_text(SUITE.replace("runtime: 1", "runtime: 1, direct: false"))
    assert "NOT" not in said(capsys, "check", "lab")


def test_no_file_is_left_behind(project, capsys):
    write(project, "lab", "target: .\n")
    before = sorted(project.rglob("*"))
    said_any(capsys, "check", "lab")
    assert sorted(project.rglob("*")) == before


def test_an_unknown_device_is_wrong_use(project, capsys):
    assert "unknown device 'lap'" in said(capsys, "check", "lap", status=2)


def test_a_profile_of_others_steers_no_terminal(project, capsys):
    write(project, "lab", 'target: "/no/\\e[2J"\nidentity: {machine: "\\e[2J"}\n')
    assert "\x1b" not in said(capsys, "check", "lab", status=2)
    assert "\x1b" not in said(capsys, "list", status=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_told(project, capsys):
    (project / "baselines").chmod(0o500)
    assert "cannot write" in said(capsys, "init", "lab", status=2)


# ------------------------------------------------------------ at a host


def test_a_machine_at_a_host_is_held_against_its_profile(project, capsys):
    profile = f"target: {project}\nhost: popen\nlink: 1 GB/s\nidentity: {{cpu: '*Orin*'}}\n"
    file = write(project, "orin", profile)
    text = said(capsys, "check", "orin", status=1)
    assert "ok   host        popen" in text
    assert "NOT  identity" in text and "popen: this machine is not the device orin: cpu is" in text
    assert f"ok   target      {project}: " in text
    assert "  link        953.7 MiB/s; " in text
    assert "ok   suite       demo: 1 workload" in text and "ok   engine      fio" in text
    file.write_text(profile.replace("*Orin*", "*"))
    assert "ok   identity    cpu '" in said_any(capsys, "check", "orin")


def test_what_is_missing_at_a_host_is_told(project, capsys):
    write(project, "bare", f"target: {project}\nhost: popen//env:PATH=/nowhere\n")
    text = said(capsys, "check", "bare", status=1)
    assert "ok   identity    the profile names none: any machine fits" in text
    assert "NOT  engine      fio: popen//env:PATH=/nowhere: fio is not installed" in text
    write(project, "lost", "target: /no/drive\nhost: popen\n")
    text = said(capsys, "check", "lost", status=1)
    assert "popen: the target /no/drive does not exist" in text
    write(project, "small", f"target: {project}\nhost: popen\n")
    (project / "suites/demo.yaml").write_text("workloads:\n  a: {rw: randread, size: 1000T, runtime: 1}\n")
    text = said(capsys, "check", "small", status=1)
    assert "NOT  suite       demo: 1 workload" in text and "short of space" in text


def test_a_host_that_cannot_be_had_is_told(project, capsys):
    write(project, "orin", f"target: {project}\nhost: popen//python=/no/python3\n")
    assert "NOT  host        the host popen//python=/no/python3 cannot be had" in said(
        capsys, "check", "orin", status=1
    )


def test_a_profile_is_begun_from_what_the_machine_at_a_host_is(project, capsys):
    near = said(capsys, "init", "lab-1", "--target", project)
    far = said(capsys, "init", "lab-2", "--target", project, "--host", "popen")
    assert "is written" in near and "is written" in far
    assert load_device("lab-2", project / "baselines").host == "popen"
    near, far = (profile_of(project / "baselines" / name / "device.yaml") for name in ("lab-1", "lab-2"))
    host = 'host: "popen"   # docs/remote.md\n\n'
    assert host in far
    assert far.replace(host, "").replace("lab-2", "lab-1") == near
    assert "Directories that would be " in near


def profile_of(file):
    """A profile without sizes: others fill the disk meanwhile."""
    return re.sub(r"[\d.]+ [KMGT]?i?B", "some", file.read_text())


def test_a_host_that_cannot_be_had_gets_no_profile(project, capsys):
    text = said(capsys, "init", "orin", "--host", "popen//python=/no/python3", status=2)
    assert "the host popen//python=/no/python3 cannot be had: cannot start" in text
    assert not (project / "baselines/orin").exists()


def test_a_host_without_such_a_target_writes_no_profile(project, capsys):
    text = said(capsys, "init", "orin", "--target", "/no/drive", "--host", "popen", status=2)
    assert "popen: the target /no/drive does not exist" in text
    assert not (project / "baselines/orin/device.yaml").exists()
